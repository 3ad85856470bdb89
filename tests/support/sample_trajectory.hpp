#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/observables/observable.hpp"
#include "host/state/balls.hpp"

namespace carom::test {

/// A folder of its own, removed at the end.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "carom-test-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// What a made-up trajectory is like. tests/support/open_h5md.py has the same formulas, for other readers.
struct Sample {
    int dimension = 2;
    std::size_t balls = 10;
    std::string precision = "single";
    bool periodic = true;
    bool some_leave = false;
};

inline void PrintTo(const Sample& sample, std::ostream* out) {  // NOLINT: GoogleTest's name
    *out << sample.balls << " balls, " << sample.dimension << "D, " << sample.precision
         << (sample.periodic ? ", periodic" : "") << (sample.some_leave ? ", some leave" : "");
}

inline TrajectoryHeader sample_header(const Sample& sample) {
    TrajectoryHeader header;
    header.title = "a sample";
    header.scene_path = "sample.toml";
    header.scene_source = "[scene]\ntitle = \"a sample\"  # ünïcödé\n";
    header.box.dimension = sample.dimension;
    header.box.min = {-2.0, 1.0, 0.0};
    header.box.size = {8.0, 4.0, sample.dimension == 3 ? 16.0 : 0.0};
    if (sample.dimension == 3) header.box.min[2] = 5.0;
    for (int axis = 0; axis < sample.dimension; ++axis) {
        const Face face = sample.periodic                  ? Face::kPeriodic
                          : axis == 0 && sample.some_leave ? Face::kOpen
                                                           : Face::kWall;
        header.box.faces[axis] = {face, face};
    }
    const double size = sample.balls > 100000 ? 0.01 : 1.0;  // so that all have room
    header.species_table = {{"pin \"one\"", 0.25 * size, 1.5, 0.1, "#E91E63"},
                            {"", 0.125 * size, std::numeric_limits<double>::infinity(), 0.05, ""},
                            {"gas", 0.1 * size, 0.1, 0.07, ""}};
    for (std::size_t id = 0; id < sample.balls; ++id) header.species.append(static_cast<std::uint32_t>(id % 3));
    header.description = {.solver = "spring",
                          .backend = "cpu",
                          .device = "a processor",
                          .threads = 2,
                          .precision = sample.precision,
                          .dt = 0.001,
                          .memory_bytes = 12345,
                          .parameters = {{"stiffness", 1.0e5}, {"damping", 0.0}}};
    header.observables = {{.name = "kinetic_energy", .unit = "J", .label = "kinetic energy", .components = {}},
                          {.name = "momentum", .unit = "kg m s-1", .label = "momentum", .components = {"x", "y"}},
                          {.name = "contacts", .unit = "", .label = "contacts", .components = {}}};
    header.expected_frames = 8;
    header.expected_rows = 80;
    return header;
}

inline Frame sample_frame(const Sample& sample, std::size_t k) {
    const TrajectoryHeader header =
        sample_header({.dimension = sample.dimension, .balls = 0, .precision = sample.precision});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Frame frame;
    frame.resize(sample.dimension, sample.balls);
    frame.time = 0.5 * static_cast<double>(k);
    frame.step = 500 * k;
    for (std::size_t i = 0; i < sample.balls; ++i) {
        frame.gone[i] = sample.some_leave && k >= 2 && i % 7 == 3 ? 1 : 0;
        for (int axis = 0; axis < sample.dimension; ++axis) {
            const std::size_t phase = (37 * i * (axis + 1) + 11 * k) % 1024;
            frame.position[axis][i] =
                header.box.min[axis] + header.box.size[axis] * static_cast<double>(phase) / 1024.0;
            const double v = 0.1 * (static_cast<double>((i + 3 * k + axis) % 17) - 8.0);
            frame.velocity[axis][i] = sample.precision == "single" ? static_cast<double>(static_cast<float>(v)) : v;
            frame.image[axis][i] = sample.periodic ? static_cast<std::int32_t>((i + k) % 3) - 1 : 0;
            if (frame.gone[i]) frame.position[axis][i] = frame.velocity[axis][i] = nan;
        }
        for (int axis = sample.dimension == 2 ? 2 : 0; axis < 3; ++axis) {
            frame.spin[axis][i] = frame.gone[i] ? nan : 0.25 * static_cast<double>((i + axis) % 5);
        }
        if (frame.gone[i]) {
            for (int axis = 0; axis < sample.dimension; ++axis) frame.image[axis][i] = 0;
        }
    }
    return frame;
}

/// Ten rows to a frame.
inline ObservableRow sample_row(std::size_t row) {
    const auto r = static_cast<double>(row);
    return {0.05 * r, 50 * row, {100.0 + r, 0.1 * r, -0.2 * r, static_cast<double>(row % 4)}};
}

/// Bit for bit; NaN equals NaN.
inline bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i])) && !(std::isnan(a[i]) && std::isnan(b[i])))
            return false;
    }
    return true;
}

/// Names the first thing that differs; empty if nothing does.
inline std::string difference(const Frame& a, const Frame& b) {
    if (a.dimension != b.dimension) return "dimension";
    if (a.time != b.time) return "time";
    if (a.step != b.step) return "step";
    if (a.gone != b.gone) return "gone";
    for (int axis = 0; axis < 3; ++axis) {
        const std::string name(1, static_cast<char>('x' + axis));
        if (!same_values(a.position[axis], b.position[axis])) return "position " + name;
        if (!same_values(a.velocity[axis], b.velocity[axis])) return "velocity " + name;
        if (!same_values(a.spin[axis], b.spin[axis])) return "spin " + name;
        if (a.image[axis] != b.image[axis]) return "image " + name;
    }
    return "";
}

/// While it lives, no file can grow beyond `bytes`: a full disk, as far as a writer can tell.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        rlimit limit = old_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit old_{};
    void (*old_handler_)(int);
};

/// What a script of tests/support said, and how it ended.
struct ScriptResult {
    int status = -1;
    std::string output;  ///< standard output and error
};

/// Runs a script of tests/support with the distribution's Python (environment: CAROM_PYTHON), which sees the
/// distribution's h5py, MDAnalysis and VTK.
inline ScriptResult run_script(const std::string& name, const std::vector<std::string>& arguments) {
    const char* python = std::getenv("CAROM_PYTHON");
    std::string command = std::string(python != nullptr ? python : "/usr/bin/python3") +
                          " -B '" CAROM_SOURCE_DIR "/tests/support/" + name + "'";
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    ScriptResult result;
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> buffer;
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
        result.output.append(buffer.data(), size);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    return result;
}

}  // namespace carom::test
