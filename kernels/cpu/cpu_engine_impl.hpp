#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "kernels/core/hardware.hpp"
#include "kernels/core/team.hpp"
#include "kernels/cpu/cpu_engine.hpp"

// The pass before a step in which velocities are drawn anew (kernels/spring_refresh.hpp), by the threads of the CPU.

namespace carom {

/// Fewer balls than this per thread cost more in waking threads than they gain.
constexpr std::uint32_t kBallsPerThread = 1024;

/// Draws velocities anew where that is due before this step; returns the heat by source, in steps of heat_grid.
template <class Real, int Dim>
std::array<std::int64_t, kHeatSources> CpuEngine<Real, Dim>::refresh(ThreadTally& step_tally) {
    const bool all = thermostat_acts(params_, step_);
    const std::size_t count = all ? active_ : near_walls_.size();
    const int used = std::clamp(static_cast<int>(count / kBallsPerThread), 1, threads_);
    const View balls = view();
    Vec<Real*, Dim> velocity;
    for (int axis = 0; axis < Dim; ++axis) velocity[axis] = buffers_[current_].v[axis].data();
    RefreshTally whole;
    with_kind([&](auto kind) {
        using Variant = StepKind<Real, Dim, false, decltype(kind)::kUniform>;
#pragma omp parallel num_threads(used) if (used > 1)
        {
            RefreshTally tally;
            tally.id = id_.data();
#pragma omp for schedule(static)
            for (std::int64_t index = 0; index < static_cast<std::int64_t>(count); ++index) {
                const std::uint32_t slot =
                    all ? static_cast<std::uint32_t>(index) : near_walls_[static_cast<std::size_t>(index)];
                const auto cell = params_.grid.cell(cell_[slot]);
                const auto neighbours = [&](auto&& f) {
                    const auto each = [&](std::uint32_t from, std::uint32_t to) {
                        for (std::uint32_t j = from; j < to; ++j) {
                            if (j != slot) f(j);
                        }
                    };
                    search_.for_each_range(cell, each);
                    search_.for_each_copy_range(cell, each);
                };
                const bool near_walls = params_.has_shapes || !params_.grid.interior(cell);
                refresh_ball<Variant>(params_, balls, gone_.data(), velocity, step_, slot, near_walls, neighbours,
                                      tally);
            }
#pragma omp critical(carom_merge_tally)
            {
                whole.merge(tally);
                for (std::size_t source = 0; source < kHeatSources; ++source)
                    whole.heat_of[source] += tally.heat_of[source];
            }
        }
    });
    step_tally.merge(whole);
    return whole.heat_of;
}

template <class Real, int Dim>
CpuRun<Real, Dim> CpuEngine<Real, Dim>::run_of(const SpringSetup& setup, const BallSizes& sizes, std::uint64_t step) {
    const int threads =
        setup.threads > 0 ? setup.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return {make_params<Real, Dim>(setup, sizes), sizes, setup.damped(), threads, step,
            WallNumber::count(setup.walls.size())};
}

template <class Real, int Dim>
CpuEngine<Real, Dim>::CpuEngine(const CpuRun<Real, Dim>& run)
    : params_(run.params),
      sizes_(run.sizes),
      damped_(run.damped),
      uniform_(run.sizes.uniform),
      threads_(run.threads),
      step_(run.step) {
    tallies_.wall_impulse.resize(run.walls);
    tallies_.wall_heat.resize(run.walls);
}

template <class Real, int Dim>
CpuEngine<Real, Dim>::CpuEngine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                const Tallies& tallies)
    : CpuEngine(run_of(setup, measure_sizes(balls, Dim), step)) {
    const std::size_t walls = tallies_.wall_impulse.size();
    tallies_ = tallies;
    tallies_.wall_impulse.resize(walls);
    tallies_.wall_heat.resize(walls);
    require_team(std::clamp(static_cast<int>(balls.count / kBallsPerThread) + 1, 1, threads_));
    load(balls);
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::load(const RawBalls& balls) {
    const std::size_t count = balls.count;
    for (auto& buffer : buffers_) {
        for (int axis = 0; axis < Dim; ++axis) {
            buffer.x[axis].resize(padded(count));
            buffer.v[axis].resize(padded(count));
        }
    }
    if (!uniform_) {
        radius_.resize(padded(count));
        inverse_mass_.resize(padded(count));
    }
    id_.resize(count);
    cell_.resize(count);
    gone_.assign(balls.gone, balls.gone + count);
    for (int axis = 0; axis < Dim; ++axis) image_[axis].assign(balls.image[axis], balls.image[axis] + count);
    for (std::size_t id = 0; id < count; ++id) {
        Vec<std::int64_t, Dim> wide;
        for (int axis = 0; axis < Dim; ++axis) {
            wide[axis] =
                params_.coordinates.from_position(axis, gone_[id] ? params_.box_min[axis] : balls.position[axis][id]);
            image_[axis][id] += params_.coordinates.wrap(axis, wide[axis]);
            buffers_[0].x[axis][id] = Coordinates<Real, Dim>::narrow(wide[axis]);
            buffers_[0].v[axis][id] = static_cast<Real>(balls.velocity[axis][id]);
        }
        if (!uniform_) {
            radius_[id] = static_cast<Real>(balls.radius[id]);
            inverse_mass_[id] = static_cast<Real>(balls.inverse_mass[id]);
        }
        id_[id] = static_cast<std::uint32_t>(id);
        cell_[id] = gone_[id] ? params_.grid.count() : params_.grid.number(params_.grid.cell_of(wide));
    }
    reorder(cell_, params_.grid.count());
    build_lists();
}

template <class Real, int Dim>
typename CpuEngine<Real, Dim>::View CpuEngine<Real, Dim>::view() const {
    View view;
    for (int axis = 0; axis < Dim; ++axis) {
        view.x[axis] = buffers_[current_].x[axis].data();
        view.v[axis] = buffers_[current_].v[axis].data();
    }
    view.radius = uniform_ ? nullptr : radius_.data();
    view.inverse_mass = uniform_ ? nullptr : inverse_mass_.data();
    view.id = id_.data();
    view.cell = cell_.data();
    return view;
}

template <class Real, int Dim>
MovedView<Real, Dim> CpuEngine<Real, Dim>::moved_view() {
    MovedView<Real, Dim> moved;
    for (int axis = 0; axis < Dim; ++axis) {
        moved.x[axis] = buffers_[1 - current_].x[axis].data();
        moved.v[axis] = buffers_[1 - current_].v[axis].data();
    }
    moved.gone = gone_.data();
    return moved;
}

/// New cells for all balls, images counted. Calls found(slot, cell) for those that are in, from several threads.
template <class Real, int Dim>
template <class F>
void CpuEngine<Real, Dim>::find_cells(F&& found) {
    const View balls = view();
    const auto& grid = params_.grid;
#pragma omp parallel for num_threads(threads_) schedule(static) if (active_ > kBallsPerThread)
    for (std::int64_t index = 0; index < static_cast<std::int64_t>(active_); ++index) {
        const auto slot = static_cast<std::uint32_t>(index);
        if (gone_[id_[slot]]) {
            cell_[slot] = grid.count();
            continue;
        }
        Vec<Stored, Dim> x;
        for (int axis = 0; axis < Dim; ++axis) x[axis] = balls.x[axis][slot];
        auto wide = wide_position(params_, x, grid.cell(cell_[slot]));
        for (int axis = 0; axis < Dim; ++axis) {
            const std::int32_t crossings = params_.coordinates.wrap(axis, wide[axis]);
            if (crossings != 0) image_[axis][slot] += crossings;
        }
        const Vec<std::int32_t, Dim> cell = grid.cell_of(wide);
        cell_[slot] = grid.number(cell);
        found(slot, cell);
    }
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::sort() {
    find_cells([](std::uint32_t, const Vec<std::int32_t, Dim>&) {});
    reorder(cell_, params_.grid.count());
    build_lists();
    ++tallies_.sorts;
}

/// Brings everything into the order of keys, one a slot, below `keys`; that key itself is for what is to come last,
/// being in no more.
template <class Real, int Dim>
void CpuEngine<Real, Dim>::reorder(const std::vector<std::uint32_t>& key, std::uint32_t keys) {
    cell_sort_.sort(key, keys, threads_, order_);
    active_ = cell_sort_.start()[keys];
    search_ = {params_.grid, Vec<std::int32_t, Dim>::filled(0), cell_sort_.start().data()};
    const auto count = static_cast<std::int64_t>(slots());
    const int threads = count > kBallsPerThread ? threads_ : 1;
    const auto gather = [&](const auto& from, auto& to) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (std::int64_t slot = 0; slot < count; ++slot)
            to[static_cast<std::size_t>(slot)] = from[order_[static_cast<std::size_t>(slot)]];
    };
    for (int axis = 0; axis < Dim; ++axis) {
        gather(buffers_[current_].x[axis], buffers_[1 - current_].x[axis]);
        gather(buffers_[current_].v[axis], buffers_[1 - current_].v[axis]);
    }
    current_ = 1 - current_;
    if (!uniform_) {
        real_scratch_.resize(radius_.size());
        for (auto* values : {&radius_, &inverse_mass_}) {
            gather(*values, real_scratch_);
            values->swap(real_scratch_);
        }
    }
    scratch_.resize(id_.size());
    for (auto* values : {&id_, &cell_}) {
        gather(*values, scratch_);
        values->swap(scratch_);
    }
    image_scratch_.resize(id_.size());
    for (auto& values : image_) {
        gather(values, image_scratch_);
        values.swap(image_scratch_);
    }
}

/// Candidate lists of the balls as they lie now.
template <class Real, int Dim>
void CpuEngine<Real, Dim>::build_lists() {
    const int used = std::clamp(static_cast<int>(active_ / kBallsPerThread), 1, threads_);
    lists_.resize(active_, used);
    const View balls = view();
#pragma omp parallel for num_threads(used) schedule(static, 1) if (used > 1)
    for (int thread = 0; thread < used; ++thread) lists_.build(params_, balls, search_, thread);
    near_pairs_.resize(static_cast<std::size_t>(used));
    tile_forces_.resize(static_cast<std::size_t>(used));
    near_walls_.clear();
    const WallRange thermal = thermal_walls(params_);
    const bool thermal_move = fastest_wall(params_, thermal) > 0.0;
    for (std::uint32_t slot = 0; params_.thermal_count > 0 && slot < active_; ++slot) {
        if (thermal_move || !params_.grid.interior(params_.grid.cell(cell_[slot])) ||
            near_wall(params_, balls, slot, params_.margin, thermal, 0.0)) {
            near_walls_.push_back(slot);
        }
    }
    motion_ = 0.0;
    near_margin_ = 0.0;
}

/// Whether the near pairs must be found anew in this step; if so, chooses their margin. A small share of the lists'
/// margin is near the least work in gases: fewer near pairs are found more often. But never so small that it lasts few
/// steps. Ranks find theirs at the same steps, as threads do: each would wait for all others' else.
template <class Real, int Dim>
bool CpuEngine<Real, Dim>::near_pairs_due() {
    if (near_margin_ > 0.0 && motion_ <= near_until_ && step_ < near_until_step_) return false;
    constexpr double kShare = 0.15;
    constexpr double kSteps = 8.0;
    const double pace = pace_ > 0.0 ? pace_ : last_motion_;
    near_margin_ = std::min(std::max(kShare * params_.margin, 2.0 * kSteps * pace), params_.margin);
    near_until_ = motion_ + 0.5 * near_margin_;
    near_until_step_ = ~std::uint64_t{0};
    const double walls_way = fastest_wall(params_, reflecting_walls(params_)) * params_.dt;
    for (const double way : {walls_way, pace_}) {
        if (!(way > 0.0)) continue;
        constexpr double kMost = 1e6;
        const double steps = std::clamp(std::floor(0.5 * near_margin_ / way), 1.0, kMost);
        near_until_step_ = std::min(near_until_step_, step_ + static_cast<std::uint64_t>(steps));
    }
    return true;
}

/// Begins a trial of the next step.
template <class Real, int Dim>
void CpuEngine<Real, Dim>::refresh_now() {
    trial_ = {};
    if (params_.refreshes()) trial_heat_ = refresh(trial_);
}

/// Calls f(step, thread) with each thread's TileStep, and counts into trial_.
template <class Real, int Dim>
template <class F>
void CpuEngine<Real, Dim>::step_threads(F&& f) {
    const StepNow<Real, Dim> now = step_now(params_, step_);
    const View balls = view();
    const bool past_caches = goes_past_caches(id_.size() * Dim * (sizeof(Stored) + sizeof(Real)));
    const int used = lists_.threads();
    with_kind([&](auto kind) {
        const auto one = [&](int thread, ThreadTally& tally) {
            tally.id = id_.data();
            TileStep<decltype(kind)> step(params_, now, balls, moved_view(), past_caches,
                                          tile_forces_[static_cast<std::size_t>(thread)], lists_.range(thread),
                                          lists_.with_copies(thread), tally);
            f(step, thread);
        };
        if (used == 1) {
            one(0, trial_);
            return;
        }
#pragma omp parallel for num_threads(used) schedule(static, 1)
        for (int thread = 0; thread < used; ++thread) {
            ThreadTally tally;
            one(thread, tally);
#pragma omp critical(carom_merge_tally)
            trial_.merge(tally);
        }
    });
}

/// Goes on with it: moves into the other buffer, and counts into trial_.
template <class Real, int Dim>
void CpuEngine<Real, Dim>::try_move() {
    const double walls_time = params_.walls_time(step_);
    const View balls = view();
    const bool due = near_pairs_due();
    step_threads([&](auto& step, int thread) {
        NearPairs& near = near_pairs_[static_cast<std::size_t>(thread)];
        if (!due) {
            step.run(near, [](std::uint32_t, std::uint32_t) {});
            return;
        }
        const SlotRange mine = lists_.range(thread);
        near.restart((mine.end - mine.begin + kTile - 1) / kTile);
        const NearFilter<Real, Dim> filter(params_, balls, near_margin_);
        step.run(near, [&](std::uint32_t first, std::uint32_t end) {
            near.find(params_, balls, lists_, thread, filter, near_margin_, walls_time, first, end);
        });
    });
}

/// What a step has done even if it shows a fault.
template <class Real, int Dim>
void CpuEngine<Real, Dim>::settle() {
    for (const std::uint32_t id : trial_.left_by_id) gone_[id] = 1;
    tallies_.max_overlap = larger(trial_.max_overlap, tallies_.max_overlap);
    tallies_.balls_left += trial_.left_by_id.size();
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::commit() {
    settle();
    for (std::size_t wall = 0; wall < kWallNumbers; ++wall) impulse_[wall].add(trial_.impulse[wall]);
    for (std::size_t source = 0; params_.refreshes() && source < kHeatSources; ++source)
        heat_[source].add(trial_heat_[source]);
    last_motion_ = motion_bound(params_, square_root(trial_.max_speed_squared));
    current_ = 1 - current_;
    ++step_;
}

/// Does one step unless it shows a fault; returns the fault's key.
template <class Real, int Dim>
std::uint64_t CpuEngine<Real, Dim>::one_step() {
    sort_if_due();
    refresh_now();
    try_move();
    if (trial_.fault_key != FaultKey::kNone) {
        settle();
        return trial_.fault_key;
    }
    commit();
    motion_ += last_motion_;
    return FaultKey::kNone;
}

template <class Real, int Dim>
AdvanceResult CpuEngine<Real, Dim>::advance(std::uint64_t steps) {
    AdvanceResult result;
    while (result.steps < steps) {
        std::uint64_t fault = FaultKey::kNone;
        half_done_.change([&] { fault = one_step(); });
        if (fault != FaultKey::kNone) {
            result.fault = FaultKey::unpack(fault);
            break;
        }
        ++result.steps;
    }
    return result;
}

template <class Real, int Dim>
bool CpuEngine<Real, Dim>::change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) {
    const double fastest = velocities.bound(last_motion_ / params_.dt);
    if (!margin_still_fits(setup, static_cast<double>(params_.largest_diameter), fastest, params_.margin)) return false;
    half_done_.change([&] {
        // What was counted is in units of the old setup.
        tallies_ = tallies();
        impulse_ = {};
        heat_ = {};
        change_velocities(velocities);
        if (same_setup) return;
        const CpuRun<Real, Dim> run = run_under(setup);
        params_ = run.params;
        damped_ = run.damped;
        sort();  // who is near what walls is other than it was
    });
    return true;
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::change_velocities(const VelocityChange& velocities) {
    for (std::uint32_t slot = 0; slot < active_ && !velocities.none(); ++slot) {
        if (gone_[id_[slot]] || (!uniform_ && !(inverse_mass_[slot] > Real(0)))) continue;
        for (int axis = 0; axis < Dim; ++axis) {
            Real& v = buffers_[current_].v[axis][slot];
            v = static_cast<Real>(velocities.of(axis, static_cast<double>(v)));
        }
    }
}

/// Goes on from here under another setup, with the same cells.
template <class Real, int Dim>
CpuRun<Real, Dim> CpuEngine<Real, Dim>::run_under(SpringSetup setup) const {
    setup.margin = params_.margin;
    return run_of(setup, sizes_, step_);
}

/// Looks at the state between steps: calls look(thread, tile_look, near pairs, find) for every thread, as TileLook
/// wants them.
template <class Real, int Dim>
template <class F>
void CpuEngine<Real, Dim>::look(F&& f) {
    const bool find = near_pairs_due();
    const View balls = view();
    const int used = lists_.threads();
    with_kind([&](auto kind) {
#pragma omp parallel for num_threads(used) schedule(static, 1) if (used > 1)
        for (int thread = 0; thread < used; ++thread) {
            const auto index = static_cast<std::size_t>(thread);
            NearPairs& near = near_pairs_[index];
            const SlotRange mine = lists_.range(thread);
            TileLook<decltype(kind)> tiles(params_, balls, gone_.data(), step_, tile_forces_[index], mine,
                                           lists_.with_copies(thread));
            const NearFilter<Real, Dim> filter(params_, balls, near_margin_);
            if (find) near.restart((mine.end - mine.begin + kTile - 1) / kTile);
            f(tiles, near, [&](std::uint32_t first, std::uint32_t end) {
                if (find) {
                    near.find(params_, balls, lists_, thread, filter, near_margin_, params_.walls_time(step_), first,
                              end);
                }
            });
        }
    });
}

template <class Real, int Dim>
SpringSums CpuEngine<Real, Dim>::sum_all() {
    SpringSums sums = SpringSums::zero();
    look([&](auto& tiles, const NearPairs& near, auto&& find) {
        SpringSums part = SpringSums::zero();
        tiles.sum(near, find, part);
#pragma omp critical(carom_merge_sums)
        sums.merge(part);
    });
    return sums;
}

template <class Real, int Dim>
Totals CpuEngine<Real, Dim>::totals() {
    sort_if_due();
    return sum_all().totals(params_.observe);
}

template <class Real, int Dim>
Tallies CpuEngine<Real, Dim>::tallies() {
    Tallies result = tallies_;
    add_counts(params_.count_units(), impulse_.data(), heat_.data(), result);
    return result;
}

/// Calls f(slot, place, v) for all balls that are in, from several threads.
/// \param raw  v as the integrator holds it, else at the time of the place
template <class Real, int Dim>
template <class F>
void CpuEngine<Real, Dim>::for_each_place(bool raw, F&& f) {
    sort_if_due();
    if (!raw && step_ > 0 && params_.lag > Real(0)) {
        look([&](auto& tiles, const NearPairs& near, auto&& find) {
            ContactSums unused = ContactSums::zero();
            tiles.run(near, find, unused, f);
        });
        return;
    }
    const View balls = view();
#pragma omp parallel for num_threads(lists_.threads()) schedule(static) if (lists_.threads() > 1)
    for (std::int64_t index = 0; index < static_cast<std::int64_t>(active_); ++index) {
        const auto slot = static_cast<std::uint32_t>(index);
        Vec<Stored, Dim> x;
        Vec<Real, Dim> v;
        for (int axis = 0; axis < Dim; ++axis) {
            x[axis] = balls.x[axis][slot];
            v[axis] = balls.v[axis][slot];
        }
        if (!gone_[id_[slot]]) f(slot, place_of(params_, x, cell_[slot]), v);
    }
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::copy_out(const BallArrays& arrays, bool raw) {
    for_each_place(raw, [&](std::uint32_t slot, const Place<Real, Dim>& place, const Vec<Real, Dim>& v) {
        const std::uint32_t id = id_[slot];
        arrays.gone[id] = 0;
        for (int axis = 0; axis < Dim; ++axis) {
            arrays.position[axis][id] = place.position[axis];
            arrays.velocity[axis][id] = static_cast<double>(v[axis]);
            arrays.image[axis][id] = image_[axis][slot] + place.crossings[axis];
        }
    });
    for (std::size_t id = 0; id < gone_.size(); ++id) {
        if (!gone_[id]) continue;
        arrays.gone[id] = 1;
        for (int axis = 0; axis < Dim; ++axis) {
            arrays.position[axis][id] = raw ? params_.box_min[axis] : std::nan("");
            arrays.velocity[axis][id] = raw ? 0.0 : std::nan("");
            arrays.image[axis][id] = 0;  // those known are of the last sort: when that was must not show
        }
    }
}

/// The deepest overlap of a ball is not known here without a search of its own.
template <class Real, int Dim>
bool CpuEngine<Real, Dim>::write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) {
    using Value = PictureOrder::Value;
    const std::size_t count = gone_.size();
    if (order.value == Value::kOverlap || (order.value == Value::kGiven && picture_given_.size() != count))
        return false;
    const auto each = [&](bool raw, auto&& f) {
        for_each_place(raw, [&](std::uint32_t slot, const Place<Real, Dim>& place, const Vec<Real, Dim>& v) {
            const Real radius = uniform_ ? params_.uniform_radius : radius_[slot];
            const Real inverse_mass = uniform_ ? params_.uniform_inverse_mass : inverse_mass_[slot];
            f(id_[slot], place.position, v, radius, inverse_mass);
        });
    };
    using Position = Vec<double, Dim>;
    const float* given = picture_given_.data();
    if (order.around()) {
        const std::int64_t cells = order.cells.cells();
        around_.assign(static_cast<std::size_t>(cells), {});
        around_value_.resize(static_cast<std::size_t>(cells));
        each(!order.moving(),
             [&](std::uint32_t, const Position& position, const Vec<Real, Dim>& v, Real radius, Real inverse_mass) {
                 add_around(order, params_.observe, position, v, radius, inverse_mass, around_.data(),
                            [](std::int64_t* to_word, std::int64_t value) {
                                std::atomic_ref(*to_word).fetch_add(value, std::memory_order_relaxed);
                            });
             });
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            around_value_[static_cast<std::size_t>(cell)] = around_value(order, params_.observe, around_.data(), cell);
        }
        given = around_value_.data();
    }
    each(order.around() || !order.moving(),
         [&](std::uint32_t id, const Position& position, const Vec<Real, Dim>& v, Real radius, Real inverse_mass) {
             to.places[id] = picture_place(order, position, static_cast<float>(radius));
             to.values[id] = picture_value(order, given, id, position, v, inverse_mass, Real(0));
         });
    for (std::size_t id = 0; id < count; ++id) {
        if (gone_[id]) hide_ball(to, id);
    }
    for (std::size_t k = 0; k < sample.size(); ++k) sample[k] = to.values[sampled_ball(k, sample.size(), count)];
    return true;
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::request_frame(const BallArrays& arrays) {
    copy_out(arrays, false);
}

template <class Real, int Dim>
void CpuEngine<Real, Dim>::store(const BallArrays& balls) {
    half_done_.require_none("what the processor holds");
    copy_out(balls, true);
}

template <class Real, int Dim>
std::string CpuEngine<Real, Dim>::device() const {
    return processor_name();
}

template <class Real, int Dim>
std::uint64_t CpuEngine<Real, Dim>::memory_bytes() const {
    const auto bytes = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
    std::uint64_t near_bytes = 0;
    for (const NearPairs& near : near_pairs_) near_bytes += near.memory_bytes();
    for (const auto& forces : tile_forces_) near_bytes += forces.memory_bytes();
    std::uint64_t total = bytes(radius_) + bytes(inverse_mass_) + bytes(real_scratch_) + bytes(id_) + bytes(cell_) +
                          bytes(order_) + bytes(scratch_) + bytes(image_scratch_) + bytes(gone_);
    for (int axis = 0; axis < Dim; ++axis) {
        total += bytes(image_[axis]);
        for (const auto& buffer : buffers_) total += bytes(buffer.x[axis]) + bytes(buffer.v[axis]);
    }
    return total + cell_sort_.memory_bytes() + lists_.memory_bytes() + near_bytes;
}

template <class Real, int Dim>
double CpuEngine<Real, Dim>::largest_quantum() const {
    double largest = 0.0;
    for (int axis = 0; axis < Dim; ++axis) largest = std::max(largest, params_.coordinates.resolution[axis]);
    return largest;
}

template <class Real, int Dim>
std::unique_ptr<SpringEngine> make_cpu_engine_of(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                 const Tallies& tallies) {
    return std::make_unique<CpuEngine<Real, Dim>>(setup, balls, step, tallies);
}

}  // namespace carom
