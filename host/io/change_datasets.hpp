#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/io/growing_dataset.hpp"

namespace carom {

/// What was changed of a run while it went on.
struct RunChange {
    double time = 0.0;  ///< simulated [time]
    std::uint64_t step = 0;
    std::string what;  ///< "physics.gravity=[0, -2]"; at most 250 bytes are stored
};

/// /parameters/changes of a trajectory: time, step and what, one entry a change. Only files of runs that can be changed
/// have it.
class ChangeDatasets {
public:
    explicit ChangeDatasets(hid_t file);
    void append(const RunChange& change);

private:
    GrowingDataset time_;
    GrowingDataset step_;
    GrowingDataset what_;
    std::size_t count_ = 0;
};

/// None where the file has no place for them.
std::vector<RunChange> read_changes(hid_t file);

}  // namespace carom
