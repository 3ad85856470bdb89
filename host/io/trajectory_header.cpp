#include "host/io/trajectory_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/io/trajectory_layout.hpp"

namespace carom {

namespace {

constexpr double kStructure = 133'560;  // groups, attributes, B-trees [bytes]: measured

std::uint64_t expected_count(double until, double every) {
    constexpr double kMost = 1.0e9;  // more are not laid out ahead
    if (!(every > 0.0)) return 2;
    return static_cast<std::uint64_t>(std::min(kMost, std::round(until / every))) + 2;
}

/// Of walls, impulse and heat; of loaded files, their names, of which JSON makes six bytes of one at most, and numbers.
std::size_t summary_bytes(const Scene& scene) {
    constexpr std::size_t kOfWall = 128;
    constexpr std::size_t kOfLoad = 256;
    std::size_t bytes = kOfWall * scene.walls.size();
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) bytes += kOfLoad + 6 * load.loaded->path.size();
    }
    return bytes;
}

}  // namespace

std::string difference(const TrajectoryHeader& a, const TrajectoryHeader& b) {
    if (a.box.dimension != b.box.dimension || a.box.min != b.box.min || a.box.size != b.box.size ||
        a.box.faces != b.box.faces) {
        return "its box is another";
    }
    if (a.species_table != b.species_table || a.species != b.species) return "its balls are others";
    const SolverDescription& one = a.description;
    const SolverDescription& other = b.description;
    if (one.solver != other.solver) return fmt::format("its solver is {}, not {}", other.solver, one.solver);
    if (one.precision != other.precision) return fmt::format("its precision is {}", other.precision);
    if (one.dt != other.dt) return fmt::format("its time step is {}, not {}", other.dt, one.dt);
    if (a.fields != b.fields) return "its frames hold other fields";
    if (a.observables != b.observables) return "its rows hold other observables";
    const auto same = [](const AverageInfo& x, AverageInfo y) {
        y.x.points = x.x.points;  // a longer run has longer lags
        y.label = x.label;        // words, which may be another version's
        y.normalisation = x.normalisation;
        return x == y;
    };
    if (!std::ranges::equal(a.averages, b.averages, same)) return "its averages are others";
    return "";
}

TrajectoryHeader make_trajectory_header(const Scene& scene, const std::vector<Species>& species_table,
                                        const SpeciesById& species, const SolverDescription& description,
                                        const std::vector<ObservableInfo>& observables) {
    TrajectoryHeader header;
    header.title = scene.title;
    header.scene_path = scene.path;
    header.scene_source = scene.source;
    header.box = scene.box;
    header.species_table = species_table;
    header.species = species;
    header.description = description;
    header.fields = scene.output.fields;
    header.observables = observables;
    header.expected_frames = expected_count(scene.run.until, scene.output.every);
    header.expected_rows = expected_count(scene.run.until, scene.output.observables_every);
    header.summary_bytes = summary_bytes(scene);
    return header;
}

std::uint64_t estimate_trajectory_bytes(const TrajectoryHeader& header, std::uint64_t frames, std::uint64_t rows) {
    // Doubles, because more frames can be asked for than there are bytes in 64 bits.
    const auto in_chunks = [](std::uint64_t entries, std::uint64_t chunk) {
        const auto whole_chunks = (entries + chunk - 1) / chunk;
        return static_cast<double>(whole_chunks * chunk);
    };
    const auto balls = static_cast<double>(header.ball_count());
    const double real = header.single_precision() ? 4.0 : 8.0;
    const std::uint64_t chunk = frames_per_chunk(header.ball_count(), header.expected_frames);
    const bool shared = chunk > 1;
    bool periodic = false;
    for (int axis = 0; axis < header.dimension(); ++axis) periodic = periodic || header.box.periodic(axis);
    double ball = 0.0;
    // Zeros, and what is the same in each frame, take space only where frames share chunks.
    if (has_field(header, "position")) ball += 3 * 8 + (periodic || shared ? 3 * 4 : 0);
    if (has_field(header, "velocity")) ball += 3 * real;
    if (has_field(header, "spin") && shared) ball += 3 * real;
    if (has_field(header, "species") && shared) ball += 4;
    if (shared) ball += 4;  // id
    constexpr double kClock = 2 * 8;
    constexpr double kEdges = 9 * 8;
    double bytes = kStructure + static_cast<double>(summary_capacity(header)) +
                   static_cast<double>(header.title.size() + header.scene_source.size());
    bytes += 4.0 * balls;  // species_of_ball
    bytes += in_chunks(frames, chunk) * balls * ball;
    bytes += in_chunks(frames, kClockChunk) * kClock + in_chunks(frames, shared ? chunk : kEdgesChunk) * kEdges;
    const std::uint64_t all_rows = std::max(rows, frames);  // each frame has a row, if only of NaN
    if (!header.observables.empty()) bytes += in_chunks(all_rows, rows_per_chunk(header.expected_rows, 1)) * kClock;
    for (const ObservableInfo& info : header.observables) {
        bytes += in_chunks(all_rows, rows_per_chunk(header.expected_rows, info.width())) *
                 static_cast<double>(info.width() * sizeof(double));
    }
    for (const AverageInfo& info : header.averages) bytes += average_bytes(info, frames, header.expected_frames);
    constexpr double kMost = 1.8e19;
    return static_cast<std::uint64_t>(std::min(bytes, kMost));
}

}  // namespace carom
