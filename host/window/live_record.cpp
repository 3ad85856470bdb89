#include "host/window/live_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace carom {

namespace {

TrajectoryHeader header_of(const Scene& scene, const Balls& balls, const SolverDescription& description) {
    TrajectoryHeader header = make_trajectory_header(scene, balls, description, {});
    header.changeable = true;
    return header;
}

}  // namespace

LiveRecord::LiveRecord(const std::string& path, bool force, const Scene& scene, const Balls& balls,
                       const SolverDescription& description)
    : every_(scene.output.every > 0.0 ? scene.output.every : std::max(scene.run.until, 1.0)),
      writer_(std::make_unique<TrajectoryWriter>(path, header_of(scene, balls, description), force)) {}

void LiveRecord::add(const Frame& frame) { writer_->append(frame); }

void LiveRecord::note(double time, std::uint64_t step, const std::string& what) {
    writer_->append_change({time, step, what});
    ++notes_;
}

void LiveRecord::finish() {
    writer_->close(fmt::format(R"({{"command": "view", "frames": {}, "changes": {}}})", writer_->frames(), notes_));
}

}  // namespace carom
