#include "host/io/trajectory_header.hpp"

#include <cmath>

#include "host/io/trajectory_layout.hpp"

namespace carom {

namespace {

std::uint64_t expected_count(double until, double every) {
    constexpr double kMost = 1.0e9;  // more are not laid out ahead
    if (!(every > 0.0)) return 2;
    return static_cast<std::uint64_t>(std::min(kMost, std::round(until / every))) + 2;
}

}  // namespace

TrajectoryHeader make_trajectory_header(const Scene& scene, const Balls& balls, const SolverDescription& description,
                                        const std::vector<ObservableInfo>& observables) {
    TrajectoryHeader header;
    header.title = scene.title;
    header.scene_path = scene.path;
    header.scene_source = scene.source;
    header.box = scene.box;
    header.species_table = balls.species_table;
    header.species = balls.species;
    header.description = description;
    header.fields = scene.output.fields;
    header.observables = observables;
    header.expected_frames = expected_count(scene.run.until, scene.output.every);
    header.expected_rows = expected_count(scene.run.until, scene.output.observables_every);
    return header;
}

std::uint64_t estimate_trajectory_bytes(const TrajectoryHeader& header, std::uint64_t frames, std::uint64_t rows) {
    constexpr std::uint64_t kFixed = 150'000;  // structure: groups, B-trees, texts
    const std::uint64_t real = header.single_precision() ? 4 : 8;
    bool periodic = false;
    for (int axis = 0; axis < header.dimension(); ++axis) periodic = periodic || header.box.periodic(axis);
    std::uint64_t ball = 0;
    if (has_field(header, "position")) ball += 3 * 8 + (periodic ? 3 * 4 : 0);
    if (has_field(header, "velocity")) ball += 3 * real;
    std::uint64_t width = 2;
    for (const ObservableInfo& info : header.observables) width += info.width();
    return kFixed + header.scene_source.size() + frames * header.ball_count() * ball + rows * width * 8;
}

}  // namespace carom
