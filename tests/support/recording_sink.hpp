#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "host/run/output_queue.hpp"
#include "host/state/errors.hpp"

namespace carom::test {

/// Keeps what a run writes; may be slow, and may fail.
class RecordingSink final : public RunSink {
public:
    std::vector<Frame> frames;
    std::vector<ObservableRow> rows;
    std::vector<SolverState> checkpoints;
    std::optional<std::size_t> fail_at_frame;
    bool checkpoints_fail = false;
    std::chrono::milliseconds delay{0};  ///< per frame

    void write_frame(const Frame& frame) override {
        std::this_thread::sleep_for(delay);
        if (fail_at_frame && frames.size() == *fail_at_frame) throw SystemError("disk full");
        frames.push_back(frame);
    }
    void write_row(const ObservableRow& row) override { rows.push_back(row); }
    void write_checkpoint(SolverState& state) override {
        if (checkpoints_fail) throw SystemError("disk full");
        checkpoints.push_back(state);
    }

    [[nodiscard]] std::vector<double> frame_times() const {
        std::vector<double> times;
        for (const auto& frame : frames) times.push_back(frame.time);
        return times;
    }
    [[nodiscard]] std::vector<double> row_times() const {
        std::vector<double> times;
        for (const auto& row : rows) times.push_back(row.time);
        return times;
    }
};

}  // namespace carom::test
