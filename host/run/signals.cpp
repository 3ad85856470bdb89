#include "host/run/signals.hpp"

namespace carom {

namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t caught_signal = 0;

extern "C" void note_signal(int number) {
    if (caught_signal != 0) {
        std::signal(number, SIG_DFL);
        std::raise(number);  // takes effect when this handler returns and the signal is no longer blocked
        return;
    }
    caught_signal = number;
}

}  // namespace

SignalGuard::SignalGuard() {
    caught_signal = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;  // a write in progress goes on
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
}

SignalGuard::~SignalGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

int SignalGuard::caught() const { return caught_signal; }

}  // namespace carom
