#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace carom::test {

/// A process that does f and ends: it never comes back into the tests, whatever f throws, and dies when they do.
/// \return  its number; -1: there is none
template <class F>
pid_t forked(F&& f) {
    const pid_t tests = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != tests) ::_exit(1);
    try {
        f();
    } catch (...) {
        ::_exit(1);
    }
    ::_exit(0);
}

}  // namespace carom::test
