#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/core/half_done.hpp"
#include "kernels/cuda/engine_bodies.hpp"
#include "kernels/cuda/held_system.hpp"
#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/sampler.hpp"
#include "kernels/cuda/small_system.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/engine_pack.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"

namespace carom::CAROM_PROCESSOR {

/// Threads that sum over the balls, at most: they fill a large GPU (two blocks of 256 on each of 132 multiprocessors
/// are 67,584), and their sums take 20 MB.
constexpr std::size_t kSumThreads = 65536;
/// Sums that the host adds up.
constexpr std::size_t kMergedSums = 512;
/// Sums that a thread makes one, one after the other.
constexpr std::uint64_t kMergedAtOnce = 8;

/// What an engine is made for: the same on all ranks of a run.
template <class Real, int Dim>
struct CudaRun {
    SpringParams<Real, Dim> params;
    BallSizes sizes;
    bool damped;
    bool listed;
    bool faces_apart;
    std::uint64_t step;
    std::size_t walls;  ///< numbers of them that are counted by
};

/// See make_cuda_engine. The state lives in cell order in two buffers: a step reads one and writes the other, and so
/// does a sort.
template <class Real, int Dim>
class CudaEngine : public SpringEngine {
public:
    CudaEngine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step, const Tallies& tallies,
               const CrewOptions& crew);
    ~CudaEngine() override { leave_pack(); }
    CudaEngine(const CudaEngine&) = delete;
    CudaEngine& operator=(const CudaEngine&) = delete;

    AdvanceResult advance(std::uint64_t steps) override;
    bool change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) override;
    std::uint64_t step() const override { return seen().step; }
    Totals totals() override;
    Tallies tallies() override;
    void request_frame(const BallArrays& arrays) override;
    void finish_frame() override;
    BallSampler* sample_balls(const BallKinds& kinds) override;
    std::unique_ptr<DeviceFrame> device_frame() override;
    void store(const BallArrays& balls) override;
    std::string device() const override;
    int threads() const override { return 1; }
    std::uint64_t memory_bytes() const override;
    double margin() const override { return params_.margin; }
    double largest_quantum() const override;

    bool pictures_on_host() const override { return false; }
    std::unique_ptr<SharedBuffer> share_buffer(unsigned buffer) override;
    void give_picture_values(std::span<const float> values) override;
    bool write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) override;

protected:
    using Stored = typename Phase<Real>::Stored;
    using Record = ControlRecord<Real, Dim>;
    struct Motion {
        DeviceArray<Stored> x[Dim];
        DeviceArray<Real> v[Dim];
    };
    struct Labels {
        DeviceArray<Real> radius, inverse_mass;  // empty where uniform
        DeviceArray<std::uint32_t> id, cell;
    };
    struct StepGraph {
        Recording recording;
        std::uint32_t balls = 0;  // launched; 0: not recorded yet
        std::uint32_t face_threads = 0;
    };

    /// Without balls, and without memory for any.
    explicit CudaEngine(const CudaRun<Real, Dim>& run);
    static CudaRun<Real, Dim> run_of(const SpringSetup& setup, const BallSizes& sizes, std::uint64_t step);

    void allocate_slots(std::size_t slots);
    void allocate_cells(const Grid<Dim>& grid);
    void allocate();
    void load(const RawBalls& balls);
    void upload_as_real(const double* values, Real* to);
    void change_velocities(const VelocityChange& velocities);
    [[nodiscard]] CudaRun<Real, Dim> run_under(SpringSetup setup) const;
    void begin_anew(const CudaRun<Real, Dim>* run, double fastest);

    [[nodiscard]] const Record& seen() const { return *seen_.data(); }
    void look();

    [[nodiscard]] BallsView<Real, Dim> balls_view(int motion) const { return read_only(ordered_view(motion, labels_)); }
    [[nodiscard]] StateView<Real, Dim> state_view(int motion) const {
        return {balls_view(motion), search_, gone_.data()};
    }
    [[nodiscard]] OrderedView<Real, Dim> ordered_view(int motion, int labels) const;
    [[nodiscard]] FrameView<Real, Dim> frame_view() const { return {frame_.data(), count_}; }

    void sort();
    void sort_if_due() {
        if (sort_due(params_, seen().motion)) half_done_.change([this] { sort(); });
    }
    void reorder();
    void list_anew();
    virtual void build_lists();
    void forget_graphs() {
        for (auto& graphs : graphs_) {
            for (StepGraph& graph : graphs) graph.balls = 0;
        }
        system_told_ = false;
    }

    [[nodiscard]] CellOrder cell_order() const { return {order_cell_.data(), order_place_.data(), cell_start_.data()}; }
    [[nodiscard]] std::uint32_t groups() const { return (seen().active + kGroup - 1) / kGroup; }
    [[nodiscard]] NearLists lists_view() const {
        return {rows_.data(), at_faces_.data(), face_slot_.data(), entry_.data(),
                static_cast<std::uint32_t>(entry_.size() / kGroup)};
    }
    [[nodiscard]] std::uint32_t cells() const { return static_cast<std::uint32_t>(cell_start_.size() - 1); }
    bool fit_lists();

    [[nodiscard]] std::uint64_t steps_to_queue(std::uint64_t wanted) const;
    void queue_steps(std::uint64_t steps);
    void queue_refresh(int motion, std::uint32_t balls);
    /// All of a step; balls that reach no face and nothing of another rank; the others, and the end of the step.
    enum class StepPart : std::uint8_t { kAll, kInner, kOuter };
    void queue_step(int motion, std::uint32_t balls, StepPart part = StepPart::kAll);
    /// Whether balls at faces have a launch of their own.
    [[nodiscard]] bool faces_apart() const {
        return listed_ && !params_.has_shapes && (shared_ || !has_faces(params_) || faces_apart_);
    }
    [[nodiscard]] std::uint32_t face_threads() const;
    const StepGraph& step_graph();

    /// What a crew is to do for an engine, and where those that lead keep what they need for it.
    struct CrewWork {
        CudaEngine* engine;
        std::uint64_t until;
    };
    struct CrewDesk {
        DeviceArray<StepErrand<Real, Dim>> errands;
        DeviceArray<Record> seen;
        std::vector<Record> seen_here;
    };
    /// A crew does the steps and sorts of this system.
    [[nodiscard]] bool has_crew() const { return crews_ && listed_; }
    void tell_system();
    void send_crew(std::uint64_t until);
    void send_crews_for(std::span<void* const> works, std::shared_ptr<void>& desk);
    void join_pack();
    void leave_pack();
    [[nodiscard]] int crew_kind() const {
        return static_cast<int>(sizeof(Real)) << 4 | Dim << 2 | (damped_ ? 2 : 0) | (uniform_ ? 1 : 0);
    }

    [[nodiscard]] SpringSums sum_all();
    void gather_frame(const FrameView<Real, Dim>& to, bool raw);
    unsigned char* frame_here();
    void unpack(unsigned char* copy, const BallArrays& arrays, bool raw) const;
    void finish_frame_locked();

    /// Calls f with a StepKind value that fits this run.
    template <class F>
    void with_kind(F&& f) const {
        if (damped_) {
            uniform_ ? f(StepKind<Real, Dim, true, true>{}) : f(StepKind<Real, Dim, true, false>{});
        } else {
            uniform_ ? f(StepKind<Real, Dim, false, true>{}) : f(StepKind<Real, Dim, false, false>{});
        }
    }

    /// As with_kind(), for what asks no more than who is near.
    template <class F>
    void with_near_kind(F&& f) const {
        uniform_ ? f(StepKind<Real, Dim, false, true>{}) : f(StepKind<Real, Dim, false, false>{});
    }

    /// Calls f(kind, shared) with with_near_kind()'s value and whether there are other ranks, as a std::bool_constant.
    template <class F>
    void with_search(F&& f) const {
        with_near_kind([&](auto kind) { shared_ ? f(kind, std::true_type{}) : f(kind, std::false_type{}); });
    }

    SpringParams<Real, Dim> params_;
    BallSizes sizes_;  // as the balls were at the start
    std::size_t count_;
    bool damped_;
    bool uniform_;
    Tallies before_;  // counted before this engine
    std::uint64_t sorts_ = 0;
    HalfDone half_done_;

    int motion_ = 0;  // the buffers that hold the state now
    int labels_ = 0;
    Motion motions_[2];
    Labels label_sets_[2];
    DeviceArray<std::uint32_t> order_cell_, order_place_, cell_start_;
    SearchView<Dim> search_{};
    bool shared_ = false;  // with other ranks
    bool faces_apart_;     // see SpringSetup
    bool listed_;          // who is near is listed at sorts; see NearLists
    DeviceArray<RowRange> rows_;
    DeviceArray<std::uint32_t> at_faces_, face_slot_, entry_;
    DeviceArray<std::int32_t> image_[Dim];  // by id, at the last sort
    DeviceArray<std::uint8_t> gone_;        // by id
    DeviceArray<unsigned char> frame_;
    DeviceArray<SpringSums> sums_;
    PinnedArray<SpringSums> sums_here_;
    DeviceArray<Record> record_;
    PinnedArray<Record> seen_;                           // the record as the host last saw it
    DeviceArray<float> picture_given_, picture_sample_;  // empty until a picture wants them
    PinnedArray<float> picture_sample_here_;
    DeviceArray<AroundWords> around_;  // by cell of a picture's; empty until one wants them
    DeviceArray<float> around_value_;  // the same
    Scratch scratch_;
    StepGraph graphs_[2][2];  // by motion_ and labels_
    bool launched_ = false;   // a kernel's first launch loads it, which must not happen while a graph is recorded
    bool crews_ = false;      // it is small enough for them; see has_crew()
    bool system_told_ = false;
    DeviceArray<SmallSystem<Real, Dim>> system_;
    DeviceArray<std::uint32_t> block_sums_;
    std::shared_ptr<EnginePack> pack_;
    std::optional<int> kind_in_pack_;
    std::shared_ptr<void> desk_;  // where it leads for itself

    std::mutex frame_mutex_;  // over what follows, and frame_
    PinnedArray<unsigned char> frame_pinned_;
    std::unique_ptr<unsigned char[]> frame_unpinned_;
    BallArrays wanted_;
    bool frame_pending_ = false;
    std::exception_ptr frame_failure_;  // why the last one did not come

    Queue queue_;  // behind the arrays, so that what it still does is waited for before they go
    DeviceSampler<Real> sampler_{queue_, scratch_};  // waits for all that it asks for
};

/// Entries of lists for each ball that there is room for at first. Dense crystals, wide margins and balls of very
/// different sizes want more, and get up to four times as many where the device has the memory; else there are no
/// lists.
template <int Dim>
constexpr std::uint64_t kListed = Dim == 2 ? 5 : 8;
constexpr std::uint64_t kMoreListed = 4;

/// Device memory of an engine for `count` balls, without Thrust's working memory [bytes].
template <class Real, int Dim>
std::uint64_t array_bytes(std::size_t count, std::uint64_t cells, bool uniform) {
    const std::uint64_t motion = 2 * Dim * (sizeof(typename Phase<Real>::Stored) + sizeof(Real));
    const std::uint64_t labels = 2 * (2 * sizeof(std::uint32_t) + (uniform ? 0 : 2 * sizeof(Real)));
    const std::uint64_t by_id = Dim * sizeof(std::int32_t) + 1;
    const std::uint64_t order = 2 * sizeof(std::uint32_t);
    const std::uint64_t per_ball = motion + labels + by_id + order + FrameView<Real, Dim>::kBytesPerBall;
    const std::uint64_t groups = (count + kGroup - 1) / kGroup;
    const std::uint64_t lists =
        groups * sizeof(RowRange) + (count + groups + kListed<Dim> * kGroup * groups) * sizeof(std::uint32_t);
    const std::uint64_t crew = count <= kCrewBalls
                                   ? sizeof(SmallSystem<Real, Dim>) + sizeof(ControlRecord<Real, Dim>) +
                                         sizeof(StepErrand<Real, Dim>) + kMostCrewBlocks * sizeof(std::uint32_t)
                                   : 0;
    return per_ball * count + lists + (cells + 1) * sizeof(std::uint32_t) + sizeof(ControlRecord<Real, Dim>) +
           std::min(count, kSumThreads) * sizeof(SpringSums) + crew;
}

/// With Thrust's working memory: some counters.
template <class Real, int Dim>
std::uint64_t predict_memory_of(const SpringSetup& setup, const BallSizes& sizes) {
    const auto params = make_params<Real, Dim>(setup, sizes);
    return array_bytes<Real, Dim>(sizes.count, params.grid.count(), sizes.uniform) + params.grid.count() / 64 +
           (1U << 16);
}

template <class Real, int Dim>
std::unique_ptr<SpringEngine> make_engine_of(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                             const Tallies& tallies, const CrewOptions& crew);

template <class Real, int Dim>
std::unique_ptr<BrickEngine> make_brick_of(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                           std::uint64_t step, const std::array<int, 3>& layers);

}  // namespace carom::CAROM_PROCESSOR
