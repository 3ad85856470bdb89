#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "host/run/output_queue.hpp"
#include "host/state/errors.hpp"
#include "host/state/solver.hpp"

namespace carom::test {

/// A solver whose answer is known: balls in free flight from x = id with velocity 1 + id, a step of 0.25 (a power of
/// two, so that times are exact). For tests of what drives a solver.
class FakeSolver final : public Solver {
public:
    explicit FakeSolver(std::size_t count = 3, double dt = 0.25) : count_(count), dt_(dt) {}

    std::optional<std::uint64_t> fault_at;         ///< step at which the simulation cannot go on
    std::uint64_t steps_per_slice = 1000000;       ///< after how many steps advance_to comes back early
    bool device_lost = false;                      ///< save and totals fail
    std::optional<std::uint64_t> device_fails_at;  ///< step at which the processor reports an error of its own
    std::vector<double> targets;                   ///< what advance_to was asked for

    double time() const override { return static_cast<double>(step_) * dt_; }
    std::uint64_t step() const override { return step_; }
    double reachable_time(double time) const override { return std::round(time / dt_) * dt_; }

    bool advance_to(double time, double) override {
        if (targets.empty() || targets.back() != time) targets.push_back(time);
        const auto goal = static_cast<std::uint64_t>(std::llround(time / dt_));
        for (std::uint64_t k = 0; k < steps_per_slice && step_ < goal; ++k) {
            if (fault_at && step_ == *fault_at) throw SimulationError("ball 1 is not a number");
            if (device_fails_at && step_ == *device_fails_at) throw std::runtime_error("cudaMemcpy failed on GPU");
            ++step_;
        }
        return step_ >= goal;
    }

    Totals totals() override {
        if (device_lost) throw SystemError("the device is lost");
        Totals totals;
        totals.balls = totals.mobile = count_;
        for (std::size_t id = 0; id < count_; ++id) {
            totals.kinetic += 0.5 * velocity(id) * velocity(id);
            totals.momentum[0] += velocity(id);
        }
        return totals;
    }
    Tallies tallies() override {
        Tallies tallies;
        tallies.wall_impulse.assign(6, 0.0);
        tallies.wall_impulse[1] = 2.0 * time();
        tallies.sorts = step_;
        return tallies;
    }
    void request_frame(Frame& frame) override {
        frame.resize(2, count_);
        frame.time = time();
        frame.step = step_;
        for (std::size_t id = 0; id < count_; ++id) {
            frame.position[0][id] = static_cast<double>(id) + velocity(id) * time();
            frame.position[1][id] = 0.5;
            frame.velocity[0][id] = velocity(id);
            frame.velocity[1][id] = 0.0;
            frame.spin[2][id] = 0.0;
            frame.image[0][id] = frame.image[1][id] = 0;
            frame.gone[id] = 0;
        }
    }
    void finish_frame(Frame&) override {}
    void save(SolverState& state) override {
        if (device_lost) throw SystemError("the device is lost");
        state.step = step_;
        state.time = time();
    }
    SolverDescription describe() const override {
        SolverDescription description;
        description.solver = "fake";
        description.dt = dt_;
        return description;
    }

private:
    static double velocity(std::size_t id) { return 1.0 + static_cast<double>(id); }

    std::size_t count_;
    double dt_;
    std::uint64_t step_ = 0;
};

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
    bool write_checkpoint(SolverState& state) override {
        if (checkpoints_fail) throw SystemError("disk full");
        checkpoints.push_back(state);
        return true;
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
