#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/core/fixed_sum.hpp"
#include "kernels/core/half_done.hpp"
#include "kernels/cpu/cell_sort.hpp"
#include "kernels/cpu/pairs.hpp"
#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/cpu/tiles.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_params.hpp"
#include "kernels/spring_refresh.hpp"
#include "kernels/spring_step.hpp"

namespace carom {

/// What an engine is made for: the same on all ranks of a run.
template <class Real, int Dim>
struct CpuRun {
    SpringParams<Real, Dim> params;
    BallSizes sizes;
    bool damped;
    int threads;
    std::uint64_t step;
    std::size_t walls;  ///< numbers of them that are counted by
};

/// See make_cpu_engine. The state lives in cell order in two buffers: a step reads one and writes the other.
template <class Real, int Dim>
class CpuEngine : public SpringEngine {
public:
    CpuEngine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step, const Tallies& tallies);

    AdvanceResult advance(std::uint64_t steps) override;
    bool change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) override;
    std::uint64_t step() const override { return step_; }
    Totals totals() override;
    Tallies tallies() override;
    void request_frame(const BallArrays& arrays) override;
    void finish_frame() override {}
    void store(const BallArrays& balls) override;
    std::string device() const override;
    int threads() const override { return threads_; }
    std::uint64_t memory_bytes() const override;
    double margin() const override { return params_.margin; }
    double largest_quantum() const override;

    bool pictures_on_host() const override { return true; }
    std::unique_ptr<SharedBuffer> share_buffer(unsigned) override { return nullptr; }
    void give_picture_values(std::span<const float> values) override {
        picture_given_.assign(values.begin(), values.end());
    }
    bool write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) override;

protected:
    using Stored = typename Phase<Real>::Stored;
    using View = BallsView<Real, Dim>;
    struct Buffer {
        std::array<PageVector<Stored>, Dim> x;
        std::array<PageVector<Real>, Dim> v;
    };

    /// Without balls.
    explicit CpuEngine(const CpuRun<Real, Dim>& run);
    static CpuRun<Real, Dim> run_of(const SpringSetup& setup, const BallSizes& sizes, std::uint64_t step);

    [[nodiscard]] View view() const;
    [[nodiscard]] MovedView<Real, Dim> moved_view();
    [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(id_.size()); }

    void load(const RawBalls& balls);
    template <class F>
    void find_cells(F&& found);
    void sort();
    void sort_if_due() {
        if (sort_due(params_, motion_)) half_done_.change([this] { sort(); });
    }
    void reorder(const std::vector<std::uint32_t>& key, std::uint32_t keys);
    void build_lists();
    void copy_out(const BallArrays& arrays, bool raw);
    template <class F>
    void for_each_place(bool raw, F&& f);

    std::uint64_t one_step();
    void refresh_now();
    void try_move();
    void settle();
    void commit();
    template <class F>
    void step_threads(F&& f);
    bool near_pairs_due();
    [[nodiscard]] std::array<std::int64_t, kHeatSources> refresh(ThreadTally& step_tally);
    template <class F>
    void look(F&& f);
    [[nodiscard]] SpringSums sum_all();
    void change_velocities(const VelocityChange& velocities);
    [[nodiscard]] CpuRun<Real, Dim> run_under(SpringSetup setup) const;

    /// Calls f with a StepKind value that fits this run.
    template <class F>
    void with_kind(F&& f) const {
        if (damped_) {
            uniform_ ? f(StepKind<Real, Dim, true, true>{}) : f(StepKind<Real, Dim, true, false>{});
        } else {
            uniform_ ? f(StepKind<Real, Dim, false, true>{}) : f(StepKind<Real, Dim, false, false>{});
        }
    }
    SpringParams<Real, Dim> params_;
    BallSizes sizes_;  // as the balls were at the start
    bool damped_;
    bool uniform_;
    int threads_;
    HalfDone half_done_;
    std::uint64_t step_;
    Tallies tallies_;
    std::array<WideCount, kWallNumbers> impulse_{};  // since the start of this engine, in steps of impulse_grid
    std::array<WideCount, kHeatSources> heat_{};     // the same, in steps of heat_grid

    std::uint32_t active_ = 0;  // balls still in; their slots come first
    int current_ = 0;
    Buffer buffers_[2];
    PageVector<Real> radius_, inverse_mass_;                       // cell order; empty where uniform
    std::vector<std::uint32_t> id_, cell_;                         // cell order
    std::array<std::vector<std::int32_t>, Dim> image_;             // cell order, at the last sort
    std::vector<std::uint8_t, ZeroAllocator<std::uint8_t>> gone_;  // by id
    std::vector<std::uint32_t> order_, scratch_;
    std::vector<std::int32_t> image_scratch_;
    PageVector<Real> real_scratch_;
    CellSort cell_sort_;
    SearchCells<Dim> search_;
    PairLists lists_;
    std::vector<NearPairs> near_pairs_;               // one per thread
    std::vector<TileForces<Real, Dim>> tile_forces_;  // one per thread
    std::vector<std::uint32_t> near_walls_;           // slots of balls that may reach a thermal wall; at the last sort
    std::vector<float> picture_given_;                // by id
    std::vector<AroundWords> around_;                 // by cell of a picture's
    std::vector<float> around_value_;                 // the same
    ThreadTally trial_;                               // of the step that was tried last
    std::array<std::int64_t, kHeatSources> trial_heat_{};
    double motion_ = 0.0;                // bound on how far any ball has moved since the sort [length]
    double last_motion_ = 0.0;           // in the last step [length]
    double pace_ = 0.0;                  // see BrickEngine::keep_pace; 0: there are no other ranks
    double near_margin_ = 0.0;           // of the near pairs [length]; 0: there are none yet
    double near_until_ = 0.0;            // value of motion_ up to which the near pairs are complete
    std::uint64_t near_until_step_ = 0;  // from which on a wall may have come too far for them
};

template <class Real, int Dim>
std::unique_ptr<SpringEngine> make_cpu_engine_of(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                 const Tallies& tallies);

template <class Real, int Dim>
std::unique_ptr<BrickEngine> make_cpu_brick_of(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                               std::uint64_t step, const std::array<int, 3>& layers);

}  // namespace carom
