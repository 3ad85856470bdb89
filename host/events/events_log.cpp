#include "host/events/events_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "host/state/errors.hpp"

namespace carom {

EventsLog::EventsLog(const std::string& path, int dimension)
    : path_(path), dimension_(dimension), file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw SystemError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    std::string header = "time,kind,i,j";
    for (const char* who : {"_i", "_j"}) {
        for (const char* name : {"vx", "vy", "vz"}) {
            if (dimension == 3 || name[1] != 'z') header += fmt::format(",{}{}", name, who);
        }
        for (const char* name : {"wx", "wy", "wz"}) {
            if (dimension == 3) header += fmt::format(",{}{}", name, who);
        }
        if (dimension == 2) header += fmt::format(",w{}", who);
    }
    put(header + "\n");
}

EventsLog::~EventsLog() { std::fclose(file_); }

void EventsLog::write(const LoggedImpact& impact) {
    if (impact.thermostat) return;
    fmt::memory_buffer row;
    const auto out = std::back_inserter(row);
    fmt::format_to(out, "{},{},{},{}", impact.time, impact.wall ? "wall" : "ball", impact.i, impact.j);
    const auto motion = [&](const Vector3& velocity, const Vector3& spin, bool empty) {
        for (int axis = 0; axis < dimension_; ++axis) {
            empty ? fmt::format_to(out, ",") : fmt::format_to(out, ",{}", velocity[axis]);
        }
        for (int axis = dimension_ == 2 ? 2 : 0; axis < 3; ++axis) {
            empty ? fmt::format_to(out, ",") : fmt::format_to(out, ",{}", spin[axis]);
        }
    };
    motion(impact.velocity_i, impact.spin_i, false);
    motion(impact.velocity_j, impact.spin_j, impact.wall);
    put(fmt::to_string(row) + "\n");
}

void EventsLog::flush() {
    if (std::fflush(file_) != 0) throw SystemError(fmt::format("{}: {}", path_, std::strerror(errno)));
}

void EventsLog::put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
        throw SystemError(fmt::format("{}: {}", path_, std::strerror(errno)));
    }
}

}  // namespace carom
