#include "host/run/trajectory_sink.hpp"

#include <utility>

namespace carom {

TrajectorySink::TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, const TrajectoryHeader& header,
                               const SolverPlan& plan)
    : writer_(writer), checkpoint_path_(std::move(checkpoint_path)), plan_(plan) {
    checkpoint_.scene_path = header.scene_path;
    checkpoint_.scene_source = header.scene_source;
    checkpoint_.description = header.description;
}

void TrajectorySink::write_checkpoint(SolverState& state) {
    plan_.store(state);
    std::swap(checkpoint_.state, state);  // a state may be gigabytes
    try {
        save_checkpoint(checkpoint_path_, checkpoint_);
    } catch (...) {
        std::swap(checkpoint_.state, state);
        throw;
    }
    std::swap(checkpoint_.state, state);
}

}  // namespace carom
