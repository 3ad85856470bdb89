#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"
#include "kernels/ladder/ladder.hpp"
#include "kernels/physics/contact_laws.hpp"

// The stages of the textbook algorithm, one ball (or cell) each. After S. Green, "Particle simulation using CUDA"
// (NVIDIA, 2010), the description of the `particles` sample: positions are plain floats, balls stay in id order, and
// every step makes a sorted copy of them. What differs from the sample: the force is carom's linear spring between
// balls and at walls (kernels/physics), cells outside the box are clamped and not wrapped, and the first kick is half a
// step, so that its trajectory is that of carom's leapfrog but for rounding.

namespace carom::textbook {

/// A point or velocity as one aligned load: two numbers in 2D, four in 3D (the fourth is never used), as in the sample.
template <class Real, int Dim>
struct alignas(Dim == 2 ? 2 * sizeof(Real) : 16) Packed {
    Real components[Dim == 2 ? 2 : 4];

    CAROM_HD Real& operator[](int axis) { return components[axis]; }
    CAROM_HD const Real& operator[](int axis) const { return components[axis]; }
};

constexpr std::uint32_t kEmptyCell = 0xffffffffU;

template <class Real, int Dim>
struct Params {
    Vec<Real, Dim> box_size;          ///< [length]; positions count from the box's lower corner
    Vec<std::int32_t, Dim> cells;     ///< along each axis, at least a diameter wide
    Vec<Real, Dim> cells_per_length;  ///< [1/length]
    Real radius;                      ///< [length]
    Real inverse_mass;                ///< [1/mass]
    Real dt;                          ///< [time]
    ContactLaw<Real> pair_law;
    ContactLaw<Real> wall_law;

    CAROM_HD std::uint32_t cell_count() const {
        std::uint32_t product = 1;
        for (int axis = 0; axis < Dim; ++axis) product *= static_cast<std::uint32_t>(cells[axis]);
        return product;
    }
    CAROM_HD Vec<std::int32_t, Dim> cell_of(const Packed<Real, Dim>& x) const {
        Vec<std::int32_t, Dim> cell;
        for (int axis = 0; axis < Dim; ++axis) {
            const Real at = x[axis] * cells_per_length[axis];
            const Real last = static_cast<Real>(cells[axis] - 1);
            cell[axis] = static_cast<std::int32_t>(at < Real(0) ? Real(0) : (at > last ? last : at));
        }
        return cell;
    }
    CAROM_HD std::uint32_t number(const Vec<std::int32_t, Dim>& cell) const {
        auto result = static_cast<std::uint32_t>(cell[Dim - 1]);
        for (int axis = Dim - 2; axis >= 0; --axis) {
            result = result * static_cast<std::uint32_t>(cells[axis]) + static_cast<std::uint32_t>(cell[axis]);
        }
        return result;
    }
};

/// All arrays of a system.
template <class Real, int Dim>
struct View {
    Packed<Real, Dim>* x;         // [length], id order
    Packed<Real, Dim>* v;         // [length/time], id order
    Packed<Real, Dim>* sorted_x;  // the same in the order of cells
    Packed<Real, Dim>* sorted_v;
    std::uint32_t* key;         // cell of each ball; sorted after stage 2
    std::uint32_t* id;          // that belongs to the key
    std::uint32_t* cell_start;  // first slot of a cell, or kEmptyCell
    std::uint32_t* cell_end;    // slot behind its last; not set where it is empty
    std::uint32_t count;
};

/// Stage 1: which cell a ball is in.
template <class Real, int Dim>
struct CellIndexBody {
    Params<Real, Dim> params;
    View<Real, Dim> view;

    CAROM_HD void operator()(std::uint64_t i) const {
        view.key[i] = params.number(params.cell_of(view.x[i]));
        view.id[i] = static_cast<std::uint32_t>(i);
    }
};

/// Stage 3, beside the sort of stage 2: forgets the cells of the step before.
struct ClearCellsBody {
    std::uint32_t* cell_start;

    CAROM_HD void operator()(std::uint64_t cell) const { cell_start[cell] = kEmptyCell; }
};

/// Stage 4: where cells begin and end, and the balls in that order.
template <class Real, int Dim>
struct ReorderBody {
    View<Real, Dim> view;

    CAROM_HD void operator()(std::uint64_t slot) const {
        const std::uint32_t cell = view.key[slot];
        const auto here = static_cast<std::uint32_t>(slot);
        if (here == 0) {
            view.cell_start[cell] = 0;
        } else if (const std::uint32_t before = view.key[slot - 1]; before != cell) {
            view.cell_start[cell] = here;
            view.cell_end[before] = here;
        }
        if (here + 1 == view.count) view.cell_end[cell] = here + 1;
        const std::uint32_t id = view.id[slot];
        view.sorted_x[slot] = view.x[id];
        view.sorted_v[slot] = view.v[id];
    }
};

/// Stage 5: the forces of all balls in the 9 or 27 cells around, and the kick.
template <class Real, int Dim>
struct CollideBody {
    Params<Real, Dim> params;
    View<Real, Dim> view;
    Real kick;  // [time]

    CAROM_HD void add_cell(std::uint32_t cell, std::uint64_t slot, const Packed<Real, Dim>& x,
                           Vec<Real, Dim>& force) const {
        const std::uint32_t start = view.cell_start[cell];
        if (start == kEmptyCell) return;
        const std::uint32_t end = view.cell_end[cell];
        for (std::uint32_t j = start; j < end; ++j) {
            if (j == slot) continue;
            const Packed<Real, Dim> other = view.sorted_x[j];
            Vec<Real, Dim> apart;
            for (int axis = 0; axis < Dim; ++axis) apart[axis] = other[axis] - x[axis];
            const Real squared = dot(apart, apart);
            const Real reach = Real(2) * params.radius;
            if (!(squared < reach * reach) || !(squared > Real(0))) continue;
            const Real distance = square_root(squared);
            const Real factor = -params.pair_law.force(reach - distance) / distance;
            for (int axis = 0; axis < Dim; ++axis) force[axis] += factor * apart[axis];
        }
    }

    CAROM_HD void operator()(std::uint64_t slot) const {
        const Packed<Real, Dim> x = view.sorted_x[slot];
        const Vec<std::int32_t, Dim> cell = params.cell_of(x);
        auto force = Vec<Real, Dim>::filled(Real(0));
        Vec<std::int32_t, Dim> at;
        for (std::int32_t dz = Dim == 3 ? -1 : 0; dz <= (Dim == 3 ? 1 : 0); ++dz) {
            for (std::int32_t dy = -1; dy <= 1; ++dy) {
                for (std::int32_t dx = -1; dx <= 1; ++dx) {
                    at[0] = cell[0] + dx;
                    at[1] = cell[1] + dy;
                    if constexpr (Dim == 3) at[2] = cell[2] + dz;
                    bool inside = true;
                    for (int axis = 0; axis < Dim; ++axis) {
                        inside = inside && at[axis] >= 0 && at[axis] < params.cells[axis];
                    }
                    if (inside) add_cell(params.number(at), slot, x, force);
                }
            }
        }
        Packed<Real, Dim> v = view.sorted_v[slot];
        const Real weight = params.inverse_mass * kick;
        for (int axis = 0; axis < Dim; ++axis) v[axis] += weight * force[axis];
        view.v[view.id[slot]] = v;
    }
};

/// Stage 6: walls and drift.
template <class Real, int Dim>
struct IntegrateBody {
    Params<Real, Dim> params;
    View<Real, Dim> view;
    Real kick;  // of the walls [time]

    CAROM_HD void operator()(std::uint64_t i) const {
        Packed<Real, Dim> x = view.x[i];
        Packed<Real, Dim> v = view.v[i];
        const Real weight = params.inverse_mass * kick;
        for (int axis = 0; axis < Dim; ++axis) {
            const Real below = params.radius - x[axis];
            const Real above = params.radius - (params.box_size[axis] - x[axis]);
            if (below > Real(0)) v[axis] += weight * params.wall_law.force(below);
            if (above > Real(0)) v[axis] -= weight * params.wall_law.force(above);
            x[axis] += params.dt * v[axis];
        }
        view.x[i] = x;
        view.v[i] = v;
    }
};

}  // namespace carom::textbook

// The textbook algorithm over an executor: what launches bodies, sorts and holds arrays on a processor.
//
// An executor offers: Array<T> (data(), bytes(), made from a size), launch(n, body), sort_pairs(key, value, count,
// bits), sort_bytes(count, bits), upload, download, wait.

namespace carom {

template <class Real, int Dim, class Executor>
class TextbookRung final : public LadderEngine {
public:
    TextbookRung(Executor executor, const SpringSetup& setup, const RawBalls& balls)
        : executor_(std::move(executor)), params_(make(setup, balls)), count_(balls.count) {
        for (auto* array : {&x_, &v_, &sorted_x_, &sorted_v_}) *array = Array<Point>(count_);
        key_ = Array<std::uint32_t>(count_);
        id_ = Array<std::uint32_t>(count_);
        cell_start_ = Array<std::uint32_t>(params_.cell_count());
        cell_end_ = Array<std::uint32_t>(params_.cell_count());
        for (int axis = 0; axis < Dim; ++axis) origin_[axis] = setup.box_min[axis];
        load(balls.position, origin_, x_);
        load(balls.velocity, Vec<double, Dim>::filled(0.0), v_);
    }

    void advance(std::uint64_t steps) override {
        const textbook::View<Real, Dim> view{x_.data(),          v_.data(),        sorted_x_.data(),
                                             sorted_v_.data(),   key_.data(),      id_.data(),
                                             cell_start_.data(), cell_end_.data(), static_cast<std::uint32_t>(count_)};
        const std::uint32_t cells = params_.cell_count();
        for (std::uint64_t k = 0; k < steps; ++k, ++step_) {
            const Real kick = step_ == 0 ? Real(0.5) * params_.dt : params_.dt;
            executor_.launch(count_, textbook::CellIndexBody<Real, Dim>{params_, view});
            executor_.sort_pairs(key_.data(), id_.data(), count_, key_bits());
            executor_.launch(cells, textbook::ClearCellsBody{cell_start_.data()});
            executor_.launch(count_, textbook::ReorderBody<Real, Dim>{view});
            executor_.launch(count_, textbook::CollideBody<Real, Dim>{params_, view, kick});
            executor_.launch(count_, textbook::IntegrateBody<Real, Dim>{params_, view, kick});
        }
        executor_.wait();
    }

    double streamed_bytes() const override {
        const auto n = static_cast<double>(count_);
        const double point = sizeof(Point);
        const double word = sizeof(std::uint32_t);
        const double index = n * (point + 2 * word);
        const double sort = executor_.sort_bytes(count_, key_bits());
        const double filled = std::min(n, static_cast<double>(params_.cell_count()));  // cells, at most
        const double clear = word * static_cast<double>(params_.cell_count());
        const double reorder = n * (2 * word + 4 * point) + 2 * word * filled;
        const double collide = n * (2 * point + word + point) + word * (clear / word + filled);
        const double integrate = n * 4 * point;
        return index + sort + clear + reorder + collide + integrate;
    }

    std::uint64_t memory_bytes() const override {
        return 4 * x_.bytes() + 2 * key_.bytes() + 2 * cell_start_.bytes() + executor_.scratch_bytes();
    }

    void store(const BallArrays& balls) override {
        unload(x_, origin_, balls.position);
        unload(v_, Vec<double, Dim>::filled(0.0), balls.velocity);
    }

private:
    using Point = textbook::Packed<Real, Dim>;
    template <class T>
    using Array = typename Executor::template Array<T>;

    static textbook::Params<Real, Dim> make(const SpringSetup& setup, const RawBalls& balls) {
        textbook::Params<Real, Dim> params{};
        const double diameter = 2.0 * balls.radius[0];
        for (int axis = 0; axis < Dim; ++axis) {
            const double cells = std::max(1.0, std::floor(setup.box_size[axis] / diameter));
            params.box_size[axis] = static_cast<Real>(setup.box_size[axis]);
            params.cells[axis] = static_cast<std::int32_t>(cells);
            params.cells_per_length[axis] = static_cast<Real>(cells / setup.box_size[axis]);
        }
        params.radius = static_cast<Real>(balls.radius[0]);
        params.inverse_mass = static_cast<Real>(balls.inverse_mass[0]);
        params.dt = static_cast<Real>(setup.dt);
        params.pair_law = SoftContact{setup.law, setup.stiffness}.law<Real>();
        params.wall_law = SoftContact{setup.law, setup.wall_stiffness}.law<Real>();
        return params;
    }

    [[nodiscard]] int key_bits() const { return std::bit_width(params_.cell_count()); }

    void load(const std::array<const double*, 3>& from, const Vec<double, Dim>& origin, const Array<Point>& to) {
        std::vector<Point> points(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            points[i] = Point{};
            for (int axis = 0; axis < Dim; ++axis) points[i][axis] = static_cast<Real>(from[axis][i] - origin[axis]);
        }
        executor_.upload(points.data(), to.data(), count_);
        executor_.wait();
    }

    void unload(const Array<Point>& from, const Vec<double, Dim>& origin, const std::array<double*, 3>& to) {
        std::vector<Point> points(count_);
        executor_.download(from.data(), points.data(), count_);
        executor_.wait();
        for (std::size_t i = 0; i < count_; ++i) {
            for (int axis = 0; axis < Dim; ++axis) {
                to[axis][i] = origin[axis] + static_cast<double>(points[i][axis]);
            }
        }
    }

    Executor executor_;
    textbook::Params<Real, Dim> params_;
    std::size_t count_;
    std::uint64_t step_ = 0;
    Vec<double, Dim> origin_;
    Array<Point> x_, v_, sorted_x_, sorted_v_;
    Array<std::uint32_t> key_, id_, cell_start_, cell_end_;
};

}  // namespace carom
