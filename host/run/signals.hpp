#pragma once

#include <csignal>

namespace carom {

/// Where no SignalGuard lives, SIGINT, SIGTERM and SIGHUP from now on end the program with one line on standard error
/// and the status 128 + signal. What the caller ignores stays ignored.
void end_on_signals();

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted, so that a run can end in order; a second one ends
/// the program at once, but for SIGHUP: when a terminal is closed, it often comes twice. A SIGHUP that the caller
/// ignores (nohup) stays ignored. One that lives within another knows what that one has caught.
class SignalGuard {
public:
    SignalGuard();
    ~SignalGuard();
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

    /// The signal that has come since the outermost one was made, to this process or another rank that it leads; or 0.
    [[nodiscard]] int caught() const;

private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
    struct sigaction old_hangup_ {};
};

}  // namespace carom
