#include "host/run/trajectory_sink.hpp"

#include <utility>

#include "host/run/prepare.hpp"

namespace carom {

TrajectorySink::TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, const TrajectoryHeader& header,
                               const SpringDesign& design)
    : writer_(writer), checkpoint_path_(std::move(checkpoint_path)), design_(design) {
    checkpoint_.scene_path = header.scene_path;
    checkpoint_.scene_source = header.scene_source;
    checkpoint_.description = header.description;
}

void TrajectorySink::write_checkpoint(SolverState& state) {
    store_design(design_, state);
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
