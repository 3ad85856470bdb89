#pragma once

#include <string>

#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/run/output_queue.hpp"
#include "host/run/solver_plan.hpp"

namespace carom {

/// The trajectory and the checkpoint of a run.
class TrajectorySink final : public RunSink {
public:
    TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, const TrajectoryHeader& header,
                   const SolverPlan& plan);

    void write_frame(const Frame& frame) override { writer_.append(frame); }
    void write_row(const ObservableRow& row) override { writer_.append_row(row); }
    void write_averages(const std::vector<AverageTable>& tables) override { writer_.append_averages(tables); }
    void write_checkpoint(SolverState& state) override;

private:
    TrajectoryWriter& writer_;
    std::string checkpoint_path_;
    Checkpoint checkpoint_;  // all but the state
    const SolverPlan& plan_;
};

}  // namespace carom
