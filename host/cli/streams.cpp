#include "host/cli/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "host/state/errors.hpp"

namespace carom {

namespace {

bool pipes_end_the_program = false;

extern "C" void ignore_signal(int /*number*/) {}

}  // namespace

void open_closed_streams() {
    constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free descriptor is this one, since those below are open.
        if (open("/dev/null", kModes[descriptor]) < 0) return;
    }
}

void keep_broken_pipes() {
    struct sigaction action {};
    // A function and not SIG_IGN, which the programs that are started would inherit.
    action.sa_handler = ignore_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    struct sigaction old {};
    sigaction(SIGPIPE, nullptr, &old);
    if (old.sa_handler == SIG_IGN) return;
    pipes_end_the_program = sigaction(SIGPIPE, &action, nullptr) == 0;
}

void end_if_pipe_broke(int error) {
    if (error != EPIPE || !pipes_end_the_program) return;
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
}

void finish_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    end_if_pipe_broke(errno);
    throw SystemError("cannot write to standard output");
}

}  // namespace carom
