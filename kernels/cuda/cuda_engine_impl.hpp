#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_engine.hpp"
#include "kernels/cuda/engine_bodies.hpp"
#include "kernels/cuda/shared_buffer.hpp"

namespace carom::CAROM_PROCESSOR {

template <class Real, int Dim>
std::unique_ptr<SharedBuffer> CudaEngine<Real, Dim>::share_buffer(unsigned buffer) {
    return register_buffer(buffer);
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::give_picture_values(std::span<const float> values) {
    if (picture_given_.size() != count_) picture_given_ = DeviceArray<float>(count_);
    queue_.upload(values.data(), picture_given_.data(), count_);
    queue_.wait();
}

template <class Real, int Dim>
bool CudaEngine<Real, Dim>::write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) {
    if (count_ == 0) return true;
    if (order.value == PictureOrder::Value::kGiven && picture_given_.size() != count_) return false;
    sort_if_due();
    queue_.launch(count_, HideGoneBody{gone_.data(), to});
    const auto cells = static_cast<std::size_t>(order.around() ? order.cells.cells() : 0);
    if (around_.size() < cells) {
        around_ = DeviceArray<AroundWords>(cells);
        around_value_ = DeviceArray<float>(cells);
    }
    with_kind([&](auto kind) {
        using Variant = decltype(kind);
        if (cells > 0) {
            queue_.launch(cells, ClearAroundBody{around_.data()});
            queue_.launch(seen().active,
                          SumAroundBody<Variant>{params_, state_view(motion_), record_.data(), order, around_.data()});
            queue_.launch(cells, AroundValueBody{order, params_.observe, around_.data(), around_value_.data()});
        }
        queue_.launch(seen().active, DrawBody<Variant>{params_, state_view(motion_), record_.data(), order,
                                                       cells > 0 ? around_value_.data() : picture_given_.data(), to});
    });
    if (!sample.empty()) {
        if (picture_sample_.size() < sample.size()) {
            picture_sample_ = DeviceArray<float>(sample.size());
            picture_sample_here_ = PinnedArray<float>(sample.size());
        }
        queue_.launch(sample.size(), SampleBody{to.values, count_, sample.size(), picture_sample_.data()});
        queue_.download(picture_sample_.data(), picture_sample_here_.data(), sample.size());
    }
    queue_.wait();
    std::copy_n(picture_sample_here_.data(), sample.size(), sample.begin());
    return true;
}

/// Steps of a recording. Even, so that the state is back in the buffer that it started from.
constexpr std::uint64_t kGraphSteps = 32;
/// Steps in the queue at a time, at most: what the host waits for at an interrupt.
constexpr std::uint64_t kMostQueued = 4096;
/// Steps queued beyond the estimate of when a sort is due: a step that does nothing costs less than another look.
constexpr std::uint64_t kSpareSteps = 2;
/// Threads that step the balls at faces, at most: more than a GPU holds.
constexpr std::uint32_t kFaceThreads = 1U << 18;

template <class Real, int Dim>
CudaRun<Real, Dim> CudaEngine<Real, Dim>::run_of(const SpringSetup& setup, const BallSizes& sizes, std::uint64_t step) {
    return {.params = make_params<Real, Dim>(setup, sizes),
            .sizes = sizes,
            .damped = setup.damped(),
            .listed = setup.near_lists,
            .faces_apart = sizes.count >= setup.faces_apart,
            .step = step,
            .walls = WallNumber::count(setup.walls.size())};
}

template <class Real, int Dim>
CudaEngine<Real, Dim>::CudaEngine(const CudaRun<Real, Dim>& run)
    : params_(run.params),
      sizes_(run.sizes),
      count_(run.sizes.count),
      damped_(run.damped),
      uniform_(run.sizes.uniform),
      faces_apart_(run.faces_apart),
      listed_(run.listed) {
    before_.wall_impulse.resize(run.walls);
    before_.wall_heat.resize(run.walls);
    record_ = DeviceArray<Record>(1);
    seen_ = PinnedArray<Record>(1);
    Record& record = *seen_.data();
    record = {};
    record.step = run.step;
    prepare_step(params_, record, run.step);
    record.last_motion = motion_bound(params_, sizes_.fastest);
    record.fault_key = FaultKey::kNone;
}

template <class Real, int Dim>
CudaEngine<Real, Dim>::CudaEngine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                  const Tallies& tallies, const CrewOptions& crew)
    : CudaEngine(run_of(setup, measure_sizes(balls, Dim), step)) {
    const std::size_t walls = before_.wall_impulse.size();
    before_ = tallies;
    before_.wall_impulse.resize(walls);
    before_.wall_heat.resize(walls);
    allocate();
    if (crew.crews && count_ <= (crew.pack == nullptr ? kClusterBalls : kCrewBalls) && crews_work()) {
        crews_ = true;
        system_ = DeviceArray<SmallSystem<Real, Dim>>(1);
        block_sums_ = DeviceArray<std::uint32_t>(kMostCrewBlocks);
        pack_ = crew.pack;
    }
    seen_.data()->active = static_cast<std::uint32_t>(count_);
    queue_.upload(seen_.data(), record_.data(), 1);
    load(balls);
}

/// What is kept by slot; nothing of what there was.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::allocate_slots(std::size_t slots) {
    for (Motion& motion : motions_) {
        for (int axis = 0; axis < Dim; ++axis) {
            motion.x[axis] = DeviceArray<Stored>(slots);
            motion.v[axis] = DeviceArray<Real>(slots);
        }
    }
    for (Labels& labels : label_sets_) {
        if (!uniform_) {
            labels.radius = DeviceArray<Real>(slots);
            labels.inverse_mass = DeviceArray<Real>(slots);
        }
        labels.id = DeviceArray<std::uint32_t>(slots);
        labels.cell = DeviceArray<std::uint32_t>(slots);
    }
    order_cell_ = DeviceArray<std::uint32_t>(slots);
    order_place_ = DeviceArray<std::uint32_t>(slots);
    if (listed_) {
        const std::size_t groups = (slots + kGroup - 1) / kGroup;
        rows_ = DeviceArray<RowRange>(groups);
        at_faces_ = DeviceArray<std::uint32_t>(groups);
        face_slot_ = DeviceArray<std::uint32_t>(slots);
        entry_ = DeviceArray<std::uint32_t>(kListed<Dim> * kGroup * groups);
    }
    sums_ = DeviceArray<SpringSums>(std::min(slots, kSumThreads));
    sums_here_ = PinnedArray<SpringSums>(std::min(slots, kMergedSums));
}

/// In which balls are found.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::allocate_cells(const Grid<Dim>& grid) {
    cell_start_ = DeviceArray<std::uint32_t>(static_cast<std::size_t>(grid.count()) + 1);
    search_ = {.cells = grid.cells,
               .periodic = grid.periodic,
               .offset = Vec<std::int32_t, Dim>::filled(0),
               .first_copy = 0,
               .start = cell_start_.data(),
               .copies_start = nullptr};
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::allocate() {
    allocate_slots(count_);
    allocate_cells(params_.grid);
    for (auto& image : image_) image = DeviceArray<std::int32_t>(count_);
    gone_ = DeviceArray<std::uint8_t>(count_);
    frame_ = DeviceArray<unsigned char>(count_ * FrameView<Real, Dim>::kBytesPerBall);
}

/// The state comes in the way a frame goes out.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::load(const RawBalls& balls) {
    const FrameView<Real, Dim> frame = frame_view();
    for (int axis = 0; axis < Dim; ++axis) {
        queue_.upload(balls.position[axis], frame.position[axis], count_);
        upload_as_real(balls.velocity[axis], frame.velocity[axis]);
        queue_.upload(balls.image[axis], frame.image[axis], count_);
    }
    queue_.upload(balls.gone, frame.gone, count_);
    if (!uniform_) {
        upload_as_real(balls.radius, label_sets_[labels_].radius.data());
        upload_as_real(balls.inverse_mass, label_sets_[labels_].inverse_mass.data());
    }
    Vec<std::int32_t*, Dim> image;
    for (int axis = 0; axis < Dim; ++axis) image[axis] = image_[axis].data();
    queue_.launch(count_, LoadBody<Real, Dim>{params_, frame_view(), ordered_view(motion_, labels_), image,
                                              gone_.data(), cell_order()});
    reorder();
    look();
    if (fit_lists()) look();
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::upload_as_real(const double* values, Real* to) {
    std::vector<Real> rounded(count_);
    std::transform(values, values + count_, rounded.begin(), [](double value) { return static_cast<Real>(value); });
    queue_.upload(rounded.data(), to, count_);
    queue_.wait();
}

/// Waits for all that is queued, and sees what has become of it.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::look() {
    queue_.download(record_.data(), seen_.data(), 1);
    queue_.wait();
}

template <class Real, int Dim>
OrderedView<Real, Dim> CudaEngine<Real, Dim>::ordered_view(int motion, int labels) const {
    OrderedView<Real, Dim> view;
    for (int axis = 0; axis < Dim; ++axis) {
        view.x[axis] = motions_[motion].x[axis].data();
        view.v[axis] = motions_[motion].v[axis].data();
    }
    const Labels& set = label_sets_[labels];
    view.radius = set.radius.data();
    view.inverse_mass = set.inverse_mass.data();
    view.id = set.id.data();
    view.cell = set.cell.data();
    return view;
}

/// New cells for all balls that were in, images counted, then reorder().
template <class Real, int Dim>
void CudaEngine<Real, Dim>::sort() {
    Vec<std::int32_t*, Dim> image;
    for (int axis = 0; axis < Dim; ++axis) image[axis] = image_[axis].data();
    queue_.launch(seen().active, NewCellBody<Real, Dim>{params_, state_view(motion_), image, cell_order()});
    reorder();
    seen_.data()->motion = 0.0;  // as SortedBody sets it on the device
    ++sorts_;
}

/// Brings what is kept by slot into the order of the cells. The balls that are gone come last and are out.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::reorder() {
    const std::uint32_t active = seen().active;
    order_by_cell(queue_, scratch_, cell_order(), active, cells());
    queue_.launch(active,
                  ReorderBody<Real, Dim>{cell_order(), balls_view(motion_), ordered_view(1 - motion_, 1 - labels_)});
    motion_ = 1 - motion_;
    labels_ = 1 - labels_;
    list_anew();
}

/// Behind a sort: what goes on from it, lists included.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::list_anew() {
    queue_.launch(1, SortedBody<Real, Dim>{record_.data(), cell_start_.data() + cells()});
    if (listed_) build_lists();
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::build_lists() {
    with_search([&](auto kind, auto shared) {
        queue_.launch_groups(groups(), ListGroupBody<decltype(kind), decltype(shared)::value>{
                                           params_, state_view(motion_), record_.data(), lists_view()});
    });
}

/// Makes room for lists that had none, as far as the host has seen, or goes on without lists.
/// Returns whether there was something to do.
template <class Real, int Dim>
bool CudaEngine<Real, Dim>::fit_lists() {
    if (!listed_ || seen().rows <= lists_view().room) return false;
    const std::uint64_t wanted = seen().rows * kGroup;
    const std::uint64_t most = kMoreListed * kListed<Dim> * kGroup * at_faces_.size();
    listed_ = wanted <= most;
    try {
        entry_ = DeviceArray<std::uint32_t>(0);
        // Somewhat more, so that it is not done again and again.
        if (listed_) entry_ = DeviceArray<std::uint32_t>(std::min(wanted + wanted / 8 / kGroup * kGroup, most));
    } catch (const std::exception&) {  // no memory for it
        listed_ = false;
    }
    forget_graphs();    // they knew the old ones
    launched_ = false;  // without lists another kernel steps
    seen_.data()->rows = 0;
    list_anew();
    return true;
}

/// Steps until a sort is probably due, and no more than wanted.
template <class Real, int Dim>
std::uint64_t CudaEngine<Real, Dim>::steps_to_queue(std::uint64_t wanted) const {
    const double left = (0.5 * params_.margin - seen().motion) / seen().last_motion;
    const double most = static_cast<double>(std::min(wanted, kMostQueued));
    return static_cast<std::uint64_t>(std::clamp(std::floor(left) + 1.0 + static_cast<double>(kSpareSteps), 1.0, most));
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::queue_steps(std::uint64_t steps) {
    if (launched_) {
        for (; steps >= kGraphSteps; steps -= kGraphSteps) step_graph().recording.play(queue_);
    }
    int motion = motion_;
    for (; steps > 0; --steps) {
        queue_refresh(motion, seen().active);
        queue_step(motion, seen().active);
        motion = 1 - motion;
    }
    launched_ = true;
}

/// Velocities that are drawn anew before a step. \param balls  at least as many as are in
template <class Real, int Dim>
void CudaEngine<Real, Dim>::queue_refresh(int motion, std::uint32_t balls) {
    if (!params_.refreshes()) return;
    with_near_kind([&](auto kind) {
        const Vec<Real*, Dim> velocity = ordered_view(motion, labels_).v;
        queue_.launch(balls, RefreshBody<decltype(kind)>{params_, state_view(motion), velocity, record_.data()});
    });
}

/// \param balls  at least as many as are in
/// \param part   both have to be queued, if one is, and only where faces_apart()
template <class Real, int Dim>
void CudaEngine<Real, Dim>::queue_step(int motion, std::uint32_t balls, StepPart part) {
    const OrderedView<Real, Dim> to = ordered_view(1 - motion, labels_);
    const MovedView<Real, Dim> moved{to.x, to.v, gone_.data()};
    const int wall_numbers = static_cast<int>(before_.wall_impulse.size());
    with_kind([&](auto kind) {
        using Variant = decltype(kind);
        const bool ends = part == StepPart::kAll;
        const auto step = [&](auto listed, auto faces) {
            return StepBody<Variant, decltype(listed)::value, decltype(faces)::value>{
                params_, state_view(motion), lists_view(), moved, record_.data(), wall_numbers, ends};
        };
        constexpr auto kYes = std::true_type{};
        constexpr auto kNo = std::false_type{};
        if (!listed_) {
            queue_.launch_step(balls, step(kNo, kYes));
        } else if (!faces_apart()) {
            queue_.launch_step(balls, step(kYes, kYes));
        } else {
            const std::uint32_t threads = face_threads();
            const FaceStepBody<Variant> at_faces{params_,        state_view(motion), lists_view(), moved,
                                                 record_.data(), wall_numbers,       ends,         threads};
            const bool any_faces = shared_ || has_faces(params_);
            if (ends && any_faces) {
                queue_.launch_step(balls, step(kYes, kNo), threads, at_faces);
            } else {
                if (part != StepPart::kInner && any_faces) queue_.launch_step(threads, at_faces);
                if (part != StepPart::kOuter) queue_.launch_step(balls, step(kYes, kNo));
            }
        }
    });
    if (part == StepPart::kOuter) queue_.launch(1, EndStepBody<Real, Dim>{params_, record_.data(), wall_numbers});
}

/// Threads for the balls at faces: for more of these than there were at the last look, but a thread takes several if
/// need be.
template <class Real, int Dim>
std::uint32_t CudaEngine<Real, Dim>::face_threads() const {
    constexpr auto kLeast = static_cast<std::uint32_t>(kBlockThreads);
    return std::clamp((seen().face_balls / kLeast + 1) * kLeast, kLeast, kFaceThreads);
}

/// The recording that fits the buffers in use. Balls only ever leave, so one for more balls still fits; a new one is
/// made when a fifth have left, or twice as many are at faces.
template <class Real, int Dim>
const typename CudaEngine<Real, Dim>::StepGraph& CudaEngine<Real, Dim>::step_graph() {
    StepGraph& graph = graphs_[motion_][labels_];
    const std::uint32_t active = std::max(seen().active, 1U);
    if (graph.balls == 0 || active < graph.balls - graph.balls / 5 || face_threads() > 2 * graph.face_threads) {
        graph.recording = Recording(queue_, [this, motion = motion_, active] {
            for (std::uint64_t step = 0; step < kGraphSteps; ++step) {
                const int from = step % 2 == 0 ? motion : 1 - motion;
                queue_refresh(from, active);
                queue_step(from, active);
            }
        });
        graph.balls = active;
        graph.face_threads = face_threads();
    }
    return graph;
}

/// Writes down for crews where everything is, and what they are to know.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::tell_system() {
    if (system_told_) return;
    const auto system = std::make_unique<SmallSystem<Real, Dim>>();
    system->params = params_;
    for (int motion = 0; motion < 2; ++motion) {
        for (int labels = 0; labels < 2; ++labels) {
            const OrderedView<Real, Dim> view = ordered_view(motion, labels);
            system->state[motion][labels] = {read_only(view), search_, gone_.data()};
            system->ordered[motion][labels] = view;
            system->moved[motion] = {view.x, view.v, gone_.data()};
        }
    }
    for (int axis = 0; axis < Dim; ++axis) system->image[axis] = image_[axis].data();
    system->order = cell_order();
    system->lists = lists_view();
    system->record = record_.data();
    system->block_sums = block_sums_.data();
    system->wall_numbers = before_.wall_impulse.size();
    queue_.upload(system.get(), system_.data(), 1);
    queue_.wait();
    system_told_ = true;
}

/// Steps, and sorts in between, without the host; with those of others, where there is a pack.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::send_crew(std::uint64_t until) {
    tell_system();
    const std::uint64_t before = step();
    const std::uint32_t sorts_before = seen().sorts;
    CrewWork work{this, until};
    const auto lead = [this](std::span<void* const> works, std::shared_ptr<void>& desk) {
        send_crews_for(works, desk);
    };
    if (pack_ != nullptr) {
        join_pack();
        queue_.wait();  // whoever leads has another queue
        pack_->together(crew_kind(), &work, lead);
    } else {
        void* const alone = &work;
        lead({&alone, 1}, desk_);
    }
    const std::uint32_t sorts = seen().sorts - sorts_before;
    sorts_ += sorts;
    labels_ = static_cast<int>((static_cast<std::uint32_t>(labels_) + sorts) % 2);
    motion_ = static_cast<int>((static_cast<std::uint64_t>(motion_) + (step() - before) + sorts) % 2);
}

/// \param works  CrewWork of engines of one kind, this one's among them
/// \param desk   a CrewDesk
template <class Real, int Dim>
void CudaEngine<Real, Dim>::send_crews_for(std::span<void* const> works, std::shared_ptr<void>& desk) {
    if (desk == nullptr) desk = std::make_shared<CrewDesk>();
    CrewDesk& kept = *static_cast<CrewDesk*>(desk.get());
    if (kept.seen.size() < works.size()) {
        kept.seen = DeviceArray<Record>(works.size());
        kept.seen_here.resize(works.size());
    }
    std::vector<StepErrand<Real, Dim>> errands;
    std::uint64_t largest = 0;
    for (std::size_t k = 0; k < works.size(); ++k) {
        const CrewWork& work = *static_cast<const CrewWork*>(works[k]);
        errands.push_back({.task = {.where = work.engine->system_.data(),
                                    .seen = kept.seen.data() + k,
                                    .until = work.until,
                                    .motion = static_cast<std::uint32_t>(work.engine->motion_),
                                    .labels = static_cast<std::uint32_t>(work.engine->labels_)},
                           .gate = {}});
        largest = std::max<std::uint64_t>(largest, work.engine->seen().active);
    }
    with_kind([&](auto kind) {
        using Variant = decltype(kind);
        // Velocities that are drawn anew change balls in the middle of a step, which a crew that holds them does not.
        const bool alone = works.size() == 1 && !params_.refreshes();
        if (alone && send_holder<HoldOnBody<Variant>>(queue_, errands[0].task, params_, largest)) return;
        send_crews<CarryOnBody<Variant>>(queue_, kept.errands, errands, largest);
    });
    queue_.download(kept.seen.data(), kept.seen_here.data(), works.size());
    queue_.wait();
    for (std::size_t k = 0; k < works.size(); ++k) {
        *static_cast<const CrewWork*>(works[k])->engine->seen_.data() = kept.seen_here[k];
    }
}

/// Others wait for this engine's steps from now on.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::join_pack() {
    if (kind_in_pack_ == crew_kind()) return;
    leave_pack();
    pack_->join(crew_kind());
    kind_in_pack_ = crew_kind();
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::leave_pack() {
    if (kind_in_pack_) pack_->leave(*kind_in_pack_);
    kind_in_pack_.reset();
}

template <class Real, int Dim>
AdvanceResult CudaEngine<Real, Dim>::advance(std::uint64_t steps) {
    half_done_.require_none("what " + device() + " holds");
    const std::uint64_t begin = step();
    AdvanceResult result;
    if (seen().fault_key != FaultKey::kNone) queue_.launch(1, ClearFaultBody<Real, Dim>{record_.data()});
    while (step() - begin < steps) {
        if (!has_crew()) sort_if_due();
        const std::uint64_t before = step();
        half_done_.change([&] {
            fit_lists();
            if (has_crew()) {
                send_crew(std::min(begin + steps, before + kMostQueued));
                return;
            }
            leave_pack();
            queue_steps(steps_to_queue(steps - (before - begin)));
            look();
            if ((step() - before) % 2 == 1) motion_ = 1 - motion_;
        });
        if (seen().fault_key != FaultKey::kNone) {
            result.fault = FaultKey::unpack(seen().fault_key);
            break;
        }
        const bool lists_are_full = listed_ && seen().rows > lists_view().room;
        if (step() == before && !lists_are_full)
            throw std::logic_error("the steps queued on " + device() + " were not done");
    }
    result.steps = step() - begin;
    return result;
}

template <class Real, int Dim>
bool CudaEngine<Real, Dim>::change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) {
    const double fastest = velocities.bound(seen().last_motion / params_.dt);
    if (!margin_still_fits(setup, static_cast<double>(params_.largest_diameter), fastest, params_.margin)) return false;
    half_done_.change([&] {
        change_velocities(velocities);
        before_ = tallies();  // in units of the old setup
        sorts_ = 0;
        const CudaRun<Real, Dim> run = run_under(setup);
        begin_anew(same_setup ? nullptr : &run, fastest);
        if (!same_setup) sort();  // who is near what walls is other than it was
    });
    return true;
}

/// Goes on from here under another setup, with the same cells.
template <class Real, int Dim>
CudaRun<Real, Dim> CudaEngine<Real, Dim>::run_under(SpringSetup setup) const {
    setup.margin = params_.margin;
    return run_of(setup, sizes_, step());
}

/// Counts from now on.
/// \param run      under what it goes on; null: as it did
/// \param fastest  speed of the fastest ball
template <class Real, int Dim>
void CudaEngine<Real, Dim>::begin_anew(const CudaRun<Real, Dim>* run, double fastest) {
    Record& record = *seen_.data();
    record.balls_left = 0;
    record.max_overlap = 0;
    std::fill(std::begin(record.impulse), std::end(record.impulse), WideCount{});
    std::fill(std::begin(record.heat), std::end(record.heat), WideCount{});
    if (run != nullptr) {
        params_ = run->params;
        damped_ = run->damped;
        forget_graphs();
        launched_ = false;  // there may be kernels in a step that were not in those before
        prepare_step(params_, record, record.step);
    }
    record.last_motion = fastest * params_.dt;
    queue_.upload(seen_.data(), record_.data(), 1);
    queue_.wait();
}

/// The host has seen the state then.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::change_velocities(const VelocityChange& velocities) {
    if (!velocities.none()) {
        with_near_kind([&](auto kind) {
            queue_.launch(seen().active,
                          ChangeVelocityBody<decltype(kind)>{params_, state_view(motion_),
                                                             ordered_view(motion_, labels_).v, velocities});
        });
    }
    look();
}
template <class Real, int Dim>
Totals CudaEngine<Real, Dim>::totals() {
    sort_if_due();
    return sum_all().totals(params_.observe);
}

template <class Real, int Dim>
SpringSums CudaEngine<Real, Dim>::sum_all() {
    const std::uint64_t parts = sums_.size();
    const std::uint64_t kept = sums_here_.size();
    // The buffers that the next step writes to are free between steps.
    const Vec<Real*, Dim> velocity_now = ordered_view(1 - motion_, labels_).v;
    with_kind([&](auto kind) {
        using Variant = decltype(kind);
        queue_.launch(parts, ObserveContactsBody<Variant>{params_, state_view(motion_), record_.data(), parts,
                                                          sums_.data(), velocity_now});
    });
    with_near_kind([&](auto kind) {
        using Variant = decltype(kind);
        queue_.launch(parts, ObserveMotionBody<Variant>{params_, state_view(motion_), record_.data(), parts,
                                                        sums_.data(), velocity_now});
    });
    for (std::uint64_t left = parts; left > kept;) {  // few at a time: each thread's come one after the other
        const std::uint64_t merged = std::max(kept, left / kMergedAtOnce);
        queue_.launch(2 * merged, MergeSumsBody{sums_.data(), left, merged});
        left = merged;
    }
    queue_.download(sums_.data(), sums_here_.data(), kept);
    queue_.wait();
    SpringSums sums = SpringSums::zero();
    for (std::uint64_t part = 0; part < kept; ++part) sums.merge(sums_here_.data()[part]);
    return sums;
}

template <class Real, int Dim>
Tallies CudaEngine<Real, Dim>::tallies() {
    Tallies result = before_;
    add_counts(params_.count_units(), seen().impulse, seen().heat, result);
    result.max_overlap = larger(static_cast<double>(from_bits(seen().max_overlap)), before_.max_overlap);
    result.balls_left += seen().balls_left;
    result.sorts += sorts_;
    return result;
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::gather_frame(const FrameView<Real, Dim>& to, bool raw) {
    sort_if_due();
    Vec<const std::int32_t*, Dim> image;
    for (int axis = 0; axis < Dim; ++axis) image[axis] = image_[axis].data();
    queue_.launch(count_, FrameByIdBody<Real, Dim>{gone_.data(), image, to});
    with_kind([&](auto kind) {
        using Variant = decltype(kind);
        queue_.launch(seen().active, FrameBySlotBody<Variant>{params_, state_view(motion_), to, record_.data(), raw});
    });
}

/// Where frames arrive. Only pinned memory lets a copy run beside the steps, so there is some from the first frame that
/// is asked for; where the system gives none, other memory serves as well, and the copy is waited for.
template <class Real, int Dim>
unsigned char* CudaEngine<Real, Dim>::frame_here() {
    if (frame_pinned_.data() == nullptr && frame_unpinned_ == nullptr) {
        try {
            frame_pinned_ = PinnedArray<unsigned char>(frame_.size());
        } catch (const std::exception&) {
            frame_unpinned_ = std::make_unique_for_overwrite<unsigned char[]>(frame_.size());
        }
    }
    return frame_unpinned_ != nullptr ? frame_unpinned_.get() : frame_pinned_.data();
}

/// From a copy on the host to where it is wanted.
template <class Real, int Dim>
void CudaEngine<Real, Dim>::unpack(unsigned char* copy, const BallArrays& arrays, bool raw) const {
    const FrameView<Real, Dim> here(copy, count_);
    std::copy_n(here.gone, count_, arrays.gone);
    for (int axis = 0; axis < Dim; ++axis) {
        const double nowhere = raw ? params_.box_min[axis] : std::nan("");
        const double still = raw ? 0.0 : std::nan("");
        for (std::size_t id = 0; id < count_; ++id) {
            arrays.position[axis][id] = here.gone[id] != 0 ? nowhere : here.position[axis][id];
            arrays.velocity[axis][id] = here.gone[id] != 0 ? still : static_cast<double>(here.velocity[axis][id]);
        }
        std::copy_n(here.image[axis], count_, arrays.image[axis]);
    }
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::request_frame(const BallArrays& arrays) {
    const std::lock_guard lock(frame_mutex_);
    finish_frame_locked();
    unsigned char* const here = frame_here();
    gather_frame(frame_view(), false);
    queue_.download_aside(frame_.data(), here, frame_.size());
    wanted_ = arrays;
    frame_pending_ = true;
}

template <class Real, int Dim>
BallSampler* CudaEngine<Real, Dim>::sample_balls(const BallKinds& kinds) {
    const std::lock_guard lock(frame_mutex_);
    finish_frame_locked();
    gather_frame(frame_view(), false);
    const FrameView<Real, Dim> frame = frame_view();
    SampledBalls<Real> balls{};
    for (int axis = 0; axis < Dim; ++axis) {
        balls.position[axis] = frame.position[axis];
        balls.velocity[axis] = frame.velocity[axis];
        balls.image[axis] = frame.image[axis];
    }
    balls.gone = frame.gone;
    balls.count = count_;
    sampler_.look_at(balls, Dim, kinds);
    return &sampler_;
}

template <class Real, int Dim>
std::unique_ptr<DeviceFrame> CudaEngine<Real, Dim>::device_frame() {
    const auto memory = std::make_shared<DeviceArray<unsigned char>>(count_ * FrameView<Real, Dim>::kBytesPerBall);
    poison_device(memory->data(), memory->bytes());  // NaN, where nobody is in any more
    const FrameView<Real, Dim> view(memory->data(), count_);
    gather_frame(view, false);
    queue_.wait();
    return std::make_unique<DeviceFrame>(DeviceFrame{.device = device_number(),
                                                     .dimension = Dim,
                                                     .count = count_,
                                                     .single = sizeof(Real) == sizeof(float),
                                                     .position = view.position[0],
                                                     .velocity = view.velocity[0],
                                                     .image = view.image[0],
                                                     .gone = view.gone,
                                                     .memory = memory});
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::finish_frame() {
    const std::lock_guard lock(frame_mutex_);
    finish_frame_locked();
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::finish_frame_locked() {
    if (frame_failure_) std::rethrow_exception(frame_failure_);
    if (!std::exchange(frame_pending_, false)) return;
    try {
        queue_.wait_aside();
    } catch (...) {  // nobody else may think that it has come, and nobody may unpack it where its place may have gone
        frame_failure_ = std::current_exception();
        throw;
    }
    unpack(frame_here(), wanted_, false);
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::store(const BallArrays& balls) {
    half_done_.require_none("what " + device() + " holds");
    const std::lock_guard lock(frame_mutex_);
    if (frame_pending_) queue_.wait_aside();  // behind that copy; whoever asked for it may have failed, and be gone
    const auto here = std::make_unique_for_overwrite<unsigned char[]>(frame_.size());
    gather_frame(frame_view(), true);
    queue_.download(frame_.data(), here.get(), frame_.size());
    queue_.wait();
    unpack(here.get(), balls, true);
}

template <class Real, int Dim>
std::uint64_t CudaEngine<Real, Dim>::memory_bytes() const {
    std::uint64_t total = order_cell_.bytes() + order_place_.bytes() + rows_.bytes() + at_faces_.bytes() +
                          face_slot_.bytes() + entry_.bytes() + cell_start_.bytes() + gone_.bytes() + frame_.bytes() +
                          sums_.bytes() + record_.bytes() + scratch_.bytes() + system_.bytes() + block_sums_.bytes() +
                          picture_given_.bytes() + picture_sample_.bytes() + sampler_.memory_bytes();
    for (int axis = 0; axis < Dim; ++axis) {
        total += image_[axis].bytes();
        for (const Motion& motion : motions_) total += motion.x[axis].bytes() + motion.v[axis].bytes();
    }
    for (const Labels& labels : label_sets_) {
        total += labels.radius.bytes() + labels.inverse_mass.bytes() + labels.id.bytes() + labels.cell.bytes();
    }
    total += around_.bytes() + around_value_.bytes();
    return total;
}

template <class Real, int Dim>
double CudaEngine<Real, Dim>::largest_quantum() const {
    double largest = 0.0;
    for (int axis = 0; axis < Dim; ++axis) largest = std::max(largest, params_.coordinates.resolution[axis]);
    return largest;
}

template <class Real, int Dim>
std::string CudaEngine<Real, Dim>::device() const {
    return device_name();
}

template <class Real, int Dim>
std::unique_ptr<SpringEngine> make_engine_of(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                             const Tallies& tallies, const CrewOptions& crew) {
    return std::make_unique<CudaEngine<Real, Dim>>(setup, balls, step, tallies, crew);
}

}  // namespace carom::CAROM_PROCESSOR
