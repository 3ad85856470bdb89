#include "host/events/events_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "host/state/errors.hpp"
#include "host/state/writer_lock.hpp"

namespace carom {

namespace {

/// Of a regular file; what is none, a pipe or a terminal, has nothing to lose.
std::optional<struct stat> status_of(std::FILE* file) {
    struct stat status {};
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return status;
}

bool holds_anything(std::FILE* file) {
    const auto status = status_of(file);
    return status && status->st_size > 0;
}

}  // namespace

EventsLog::EventsLog(const std::string& path, int dimension)
    : path_(path), dimension_(dimension), made_(access(path.c_str(), F_OK) != 0) {
    const int file = open_as_only_writer(path, O_WRONLY | O_CREAT | O_CLOEXEC, "run");
    if (file >= 0) file_ = fdopen(file, "w");
    if (file_ == nullptr) throw SystemError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

void EventsLog::require_new() {
    replaces_ = false;
    if (holds_anything(file_)) throw InputError(path_ + ": exists already; --force overwrites it");
}

void EventsLog::begin() {
    if (begun_) return;
    if (!replaces_) require_new();
    begun_ = true;
    if (holds_anything(file_) && ftruncate(fileno(file_), 0) != 0) {
        throw SystemError(fmt::format("{}: {}", path_, std::strerror(errno)));
    }
    std::string header = "time,kind,i,j";
    for (const char* who : {"_i", "_j"}) {
        for (const char* name : {"vx", "vy", "vz"}) {
            if (dimension_ == 3 || name[1] != 'z') header += fmt::format(",{}{}", name, who);
        }
        for (const char* name : {"wx", "wy", "wz"}) {
            if (dimension_ == 3) header += fmt::format(",{}{}", name, who);
        }
        if (dimension_ == 2) header += fmt::format(",w{}", who);
    }
    put(header + "\n");
}

EventsLog::~EventsLog() {
    // What is in it without a beginning is of others.
    if (made_ && !begun_ && !holds_anything(file_)) unlink(path_.c_str());
    std::fflush(file_);
    unlock_as_only_writer(fileno(file_));
    std::fclose(file_);
}

void EventsLog::write(const LoggedImpact& impact) {
    if (!impact.is_contact()) return;
    const bool wall = impact.what == LoggedImpact::What::kWall;
    begin();
    fmt::memory_buffer row;
    const auto out = std::back_inserter(row);
    fmt::format_to(out, "{},{},{},{}", impact.time, wall ? "wall" : "ball", impact.i, impact.j);
    const auto motion = [&](const Vector3& velocity, const Vector3& spin, bool empty) {
        for (int axis = 0; axis < dimension_; ++axis) {
            empty ? fmt::format_to(out, ",") : fmt::format_to(out, ",{}", velocity[axis]);
        }
        for (int axis = dimension_ == 2 ? 2 : 0; axis < 3; ++axis) {
            empty ? fmt::format_to(out, ",") : fmt::format_to(out, ",{}", spin[axis]);
        }
    };
    motion(impact.velocity_i, impact.spin_i, false);
    motion(impact.velocity_j, impact.spin_j, wall);
    put(fmt::to_string(row) + "\n");
}

void EventsLog::flush() {
    begin();
    if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
    if (error_ != 0) throw SystemError(fmt::format("{}: {}", path_, std::strerror(error_)));
    const auto status = status_of(file_);
    if (status && status->st_nlink == 0) throw SystemError(path_ + ": the file has been removed");
}

void EventsLog::put(const std::string& text) {
    if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
}

}  // namespace carom
