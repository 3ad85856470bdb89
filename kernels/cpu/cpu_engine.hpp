#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/core/wide_count.hpp"
#include "kernels/cpu/candidate_lists.hpp"
#include "kernels/cpu/cell_sort.hpp"
#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/spring_control.hpp"
#include "kernels/spring_plan.hpp"
#include "kernels/spring_step.hpp"

namespace carom {

/// Where a block's moves are noted, in a form that the compiler can keep in lanes.
template <class Real>
struct BlockTally {
    Real speed_squared[kLanes];
    std::uint32_t sane[kLanes];

    void moved(std::uint32_t lane, Real speed_squared_, bool sane_) {
        speed_squared[lane] = speed_squared_;
        sane[lane] = sane_;
    }
};

/// What one thread counts during one step.
struct ThreadTally {
    const std::uint32_t* id = nullptr;
    std::uint64_t fault_key = FaultKey::kNone;
    double max_overlap = 0.0;
    double max_speed_squared = 0.0;
    std::uint64_t balls_left = 0;
    std::array<std::int64_t, kWallNumbers> impulse{};

    void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
        fault_key = std::min(fault_key, FaultKey::pack(kind, id[slot], other));
    }
    template <class Real>
    void overlap(Real fraction) {
        max_overlap = larger(static_cast<double>(fraction), max_overlap);
    }
    void wall_impulse(std::int32_t wall, std::int64_t steps) { impulse[static_cast<std::size_t>(wall)] += steps; }
    /// \param first    slot of lane 0
    /// \param counted  bit l: lane l counts
    template <class Real>
    void moved_block(const BlockTally<Real>& lanes, std::uint32_t first, unsigned counted) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            if ((counted >> lane & 1U) == 0) continue;
            max_speed_squared = larger(static_cast<double>(lanes.speed_squared[lane]), max_speed_squared);
            if (lanes.sane[lane]) continue;
            const bool number = lanes.speed_squared[lane] == lanes.speed_squared[lane];
            fault(number ? SpringFault::Kind::kTooFast : SpringFault::Kind::kNotANumber, first + lane, 0);
        }
    }
    void left() { ++balls_left; }
};

/// See make_cpu_engine. The state lives in cell order in two buffers: a step reads one and writes the other.
template <class Real, int Dim>
class CpuEngine final : public SpringEngine {
public:
    CpuEngine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step, const SpringTallies& tallies);

    AdvanceResult advance(std::uint64_t steps) override;
    std::uint64_t step() const override { return step_; }
    SpringTotals totals() override;
    SpringTallies tallies() override;
    void request_frame(const FrameArrays& arrays) override;
    void finish_frame() override {}
    void store(const RawBalls& balls) override;
    std::string device() const override;
    int threads() const override { return threads_; }
    std::uint64_t memory_bytes() const override;
    double margin() const override { return params_.margin; }
    double largest_quantum() const override;

private:
    using Stored = typename Phase<Real>::Stored;
    using View = BallsView<Real, Dim>;
    struct Buffer {
        std::array<AlignedVector<Stored>, Dim> x;
        std::array<AlignedVector<Real>, Dim> v;
    };

    [[nodiscard]] View view() const;
    [[nodiscard]] MovedView<Real, Dim> moved_view();
    [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(id_.size()); }

    void load(const RawBalls& balls);
    void sort();
    void sort_if_due() {
        if (sort_due(params_, motion_)) sort();
    }
    void reorder();
    void copy_out(const FrameArrays& arrays, bool raw);

    template <class Kind>
    void step_blocks(const StepNow<Real, Dim>& now, int thread, ThreadTally& tally);
    template <class Kind>
    void step_block(const StepNow<Real, Dim>& now, std::uint32_t b, int thread, ThreadTally& tally);
    std::uint64_t one_step();

    /// Calls f with a StepKind value that fits this run.
    template <class F>
    void with_kind(F&& f) const {
        if (damped_) {
            uniform_ ? f(StepKind<Real, Dim, true, true>{}) : f(StepKind<Real, Dim, true, false>{});
        } else {
            uniform_ ? f(StepKind<Real, Dim, false, true>{}) : f(StepKind<Real, Dim, false, false>{});
        }
    }
    /// Calls f(j) with the candidates of a slot.
    template <class F>
    void for_each_candidate(std::uint32_t slot, F&& f) const {
        const std::uint32_t b = slot / kLanes;
        const auto& block = lists_.block(b);
        const int thread = owner(b);
        for (std::uint32_t row = 0; row < block.rows; ++row) {
            const std::uint32_t j = lists_.row(thread, block.first_row + row)[slot % kLanes];
            if (j != slot) f(j);
        }
    }
    [[nodiscard]] int owner(std::uint32_t b) const {
        int thread =
            static_cast<int>(static_cast<std::uint64_t>(b) * static_cast<unsigned>(lists_.threads()) / lists_.blocks());
        while (b >= CandidateLists::range_begin(lists_.blocks(), thread + 1, lists_.threads())) ++thread;
        return thread;
    }

    SpringParams<Real, Dim> params_;
    bool damped_;
    bool uniform_;
    int threads_;
    std::uint64_t step_;
    SpringTallies tallies_;
    std::array<WideCount, kWallNumbers> impulse_{};  // since the start of this engine, in steps of impulse_grid

    std::uint32_t active_ = 0;  // balls still in; their slots come first
    int current_ = 0;
    Buffer buffers_[2];
    AlignedVector<Real> radius_, inverse_mass_;          // cell order; empty where uniform
    std::vector<std::uint32_t> id_, cell_, slot_of_id_;  // cell order, cell order, by id
    std::array<std::vector<std::int32_t>, Dim> image_;   // by id, at the last sort
    std::vector<std::uint8_t> gone_;                     // by id
    std::vector<std::uint32_t> order_, scratch_;
    AlignedVector<Real> real_scratch_;
    CellSort cell_sort_;
    CandidateLists lists_;
    double motion_ = 0.0;  // bound on how far any ball has moved since the sort [length]
};

template <class Real, int Dim>
std::unique_ptr<SpringEngine> make_cpu_engine_of(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                 const SpringTallies& tallies);

}  // namespace carom
