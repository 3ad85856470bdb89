#include "host/run/signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "host/io/child_process.hpp"
#include "host/io/replacement.hpp"
#include "host/ranks/launched.hpp"

namespace carom {

namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t caught_signal = 0;

/// What ends at once leaves nothing. Only what may be called at any moment.
void leave_nothing() {
    end_child_processes();  // they might begin a file anew that has been removed
    remove_partial_files();
}

extern "C" void note_signal(int number) {
    if (caught_signal != 0) {
        if (number == SIGHUP) return;
        // At once, wherever the program is: what this interrupts may never return.
        std::signal(number, SIG_DFL);
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, number);
        leave_nothing();
        pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
        std::raise(number);
        ::_exit(128 + number);
    }
    caught_signal = number;
}

extern "C" void end_by_signal(int number) {
    leave_nothing();
    static constexpr char kMessage[] = "carom: interrupted\n";
    // Unsaid where nobody takes it: a full pipe, a terminal at rest.
    pollfd error{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&error, 1, 0) == 1 && (error.revents & POLLOUT) != 0) {
        const ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
        static_cast<void>(written);
    }
    ::_exit(128 + number);
}

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

bool is_handled_by(int number, void (*handler)(int)) {
    struct sigaction action {};
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == handler;
}

}  // namespace

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = end_by_signal;
    sigemptyset(&action.sa_mask);
    for (const int number : kSignals) {
        if (!is_handled_by(number, SIG_IGN)) sigaction(number, &action, nullptr);
    }
}

SignalGuard::SignalGuard() {
    // What has come to a guard around this one is not over.
    if (std::ranges::none_of(kSignals, [](int number) { return is_handled_by(number, note_signal); }))
        caught_signal = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;  // a write in progress goes on
    const auto listen = [&action](int number, struct sigaction& old) {
        sigaction(number, nullptr, &old);
        if (old.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // what the caller ignores stays so
    };
    listen(SIGINT, old_interrupt_);
    listen(SIGTERM, old_terminate_);
    listen(SIGHUP, old_hangup_);
}

SignalGuard::~SignalGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
    sigaction(SIGHUP, &old_hangup_, nullptr);
}

int SignalGuard::caught() const { return caught_signal != 0 ? caught_signal : told_signal(); }

}  // namespace carom
