#include "host/viewer/movie_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// The last line of a file, shortened.
std::string last_line(int file) {
    const off_t size = lseek(file, 0, SEEK_END);
    std::array<char, 600> end{};
    const off_t from = std::max<off_t>(0, size - static_cast<off_t>(end.size()));
    const ssize_t count = pread(file, end.data(), end.size(), from);
    std::string text(end.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    const auto start = text.find_last_of("\r\n");
    return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

MovieWriter::MovieWriter(const std::string& path, int width, int height, double frames_per_second,
                         const std::string& preset)
    : path_(path), replacement_(path) {
    const std::string size = fmt::format("{}x{}", width, height);
    const std::string rate = fmt::format("{}", frames_per_second);
    const std::string output = "file:" + replacement_.temporary();  // else a colon in it ends a protocol's name
    // H.264 in the form that all players know: 4:2:0, which wants even sizes.
    std::vector<std::string> words{"ffmpeg",     "-hide_banner", "-loglevel",
                                   "error",      "-nostdin",     "-y",
                                   "-f",         "rawvideo",     "-pixel_format",
                                   "rgb24",      "-video_size",  size,
                                   "-framerate", rate,           "-i",
                                   "pipe:0",     "-vf",          "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p",
                                   "-c:v",       "libx264",      "-crf",
                                   "18",         "-preset",      preset,
                                   "-movflags",  "+faststart",   "-f",
                                   "mp4",        output};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    std::array<int, 2> ends{-1, -1};
    log_ = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (log_ < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw SystemError(fmt::format("cannot start ffmpeg: {}", std::strerror(errno)));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, log_, STDERR_FILENO);
    // A Ctrl-C is meant for carom, which then ends ffmpeg.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int error = posix_spawnp(&child_, "ffmpeg", &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    to_child_ = ends[1];
    if (error != 0) {
        child_ = -1;
        close(to_child_);
        close(log_);
        throw SystemError(error == ENOENT
                              ? std::string("movies are made by ffmpeg, which is not installed; apt-get install ffmpeg")
                              : fmt::format("cannot start ffmpeg: {}", std::strerror(error)));
    }
}

MovieWriter::~MovieWriter() {
    if (child_ > 0) {
        kill(child_, SIGTERM);
        wait();
    }
    if (to_child_ >= 0) close(to_child_);
    if (log_ >= 0) close(log_);
}

int MovieWriter::wait() {
    if (to_child_ >= 0) close(to_child_);
    to_child_ = -1;
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

void MovieWriter::fail(int status) {
    const std::string said = last_line(log_);
    throw SystemError(fmt::format("ffmpeg could not write {} (status {}){}{}", path_,
                                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                                  said.empty() ? "" : ": ", said));
}

void MovieWriter::add(const Pixels& pixels) {
    std::size_t done = 0;
    while (done < pixels.rgb.size()) {
        const ssize_t count = ::write(to_child_, pixels.rgb.data() + done, pixels.rgb.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail(wait());
        done += static_cast<std::size_t>(count);
    }
}

void MovieWriter::finish() {
    const int status = wait();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail(status);
    replacement_.commit(false);
}

}  // namespace carom
