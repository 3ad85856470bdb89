#include "host/ranks/rank_signal.hpp"

#include <csignal>
#include <initializer_list>

namespace carom {

namespace {

volatile std::sig_atomic_t got = 0;

extern "C" void note_signal_of_rank(int number) { got = number; }

}  // namespace

int rank_signal() { return got; }

void leave_signals_to_rank_0() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction old {};
        sigaction(number, nullptr, &old);
        if (old.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = note_signal_of_rank;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        sigaction(number, &action, nullptr);
    }
}

}  // namespace carom
