#pragma once

#include <csignal>

namespace carom {

/// While it lives, the first SIGINT or SIGTERM is only noted, so that a run can end in order; a second one ends the
/// program at once. One at a time.
class SignalGuard {
public:
    SignalGuard();
    ~SignalGuard();
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

    /// The signal that has come since, or 0.
    [[nodiscard]] int caught() const;

private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
};

}  // namespace carom
