#include "host/io/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr std::size_t kMostWatched = 64;  // beyond these none is ended by a handler of signals
std::array<std::atomic<pid_t>, kMostWatched> watched{};
std::atomic<int> beginning = 0;                          // how many are being started, which nobody can name yet
static_assert(std::atomic<pid_t>::is_always_lock_free);  // else no handler could touch it
constexpr int kMostWaits = 500;                          // of a handler, a millisecond each, for what may never end

/// Puts one process in another's place; 0 is none.
void exchange_watched(pid_t from, pid_t to) {
    for (std::atomic<pid_t>& one : watched) {
        pid_t expected = from;
        if (one.compare_exchange_strong(expected, to)) return;
    }
}

}  // namespace

void end_child_processes() noexcept {
    for (int waits = 0; waits < kMostWaits && beginning > 0; ++waits) poll(nullptr, 0, 1);
    for (std::atomic<pid_t>& one : watched) {
        const pid_t child = one.exchange(0);
        // In a process that has been forked off since, it is nobody's child.
        if (child == 0 || waitpid(child, nullptr, WNOHANG) != 0) continue;
        kill(child, SIGKILL);
        for (int waits = 0; waits < kMostWaits && waitpid(child, nullptr, WNOHANG) == 0; ++waits) poll(nullptr, 0, 1);
    }
}

ChildProcess::ChildProcess(std::vector<std::string> words, const std::string& advice) {
    const std::string& program = words.front();
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    std::array<int, 2> ends{-1, -1};
    output_ = memfd_create(program.c_str(), MFD_CLOEXEC);
    log_ = memfd_create(program.c_str(), MFD_CLOEXEC);
    if (output_ < 0 || log_ < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close_files();
        throw SystemError(fmt::format("cannot start {}: {}", program, std::strerror(error)));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log_, STDERR_FILENO);
    // A signal that comes meanwhile is handled when it can be ended: on this thread afterwards, on others they wait.
    sigset_t all;
    sigset_t usual;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &usual);
    ++beginning;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &usual);
    const int error = posix_spawnp(&child_, program.c_str(), &actions, &attributes, arguments.data(), environ);
    if (error == 0) exchange_watched(0, child_);
    --beginning;
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    to_child_ = ends[1];
    if (error != 0) {
        child_ = -1;
        close(to_child_);
        close_files();
        throw SystemError(error == ENOENT ? advice : fmt::format("cannot start {}: {}", program, std::strerror(error)));
    }
}

ChildProcess::~ChildProcess() {
    if (child_ > 0) {
        kill(child_, SIGTERM);
        wait();
    }
    close_files();
}

void ChildProcess::close_files() {
    for (const int file : {output_, log_}) {
        if (file >= 0) close(file);
    }
}

bool ChildProcess::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(to_child_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

int ChildProcess::wait() {
    if (to_child_ >= 0) close(to_child_);
    to_child_ = -1;
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    exchange_watched(child_, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ChildProcess::output() const {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, lseek(output_, 0, SEEK_END))), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = pread(output_, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw SystemError(fmt::format("cannot read what a program gave: {}", std::strerror(errno)));
        done += static_cast<std::size_t>(count);
    }
    return text;
}

std::string ChildProcess::last_line() const {
    const off_t size = lseek(log_, 0, SEEK_END);
    std::array<char, 600> end{};
    const off_t from = std::max<off_t>(0, size - static_cast<off_t>(end.size()));
    const ssize_t count = pread(log_, end.data(), end.size(), from);
    std::string text(end.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    const auto start = text.find_last_of("\r\n");
    return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace carom
