#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "kernels/ladder/textbook_bodies.hpp"

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

    void store(const RawBalls& balls) override {
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
        params.pair_law = make_contact_law<Real>(setup.law, setup.stiffness, 0.0, 0.0);
        params.wall_law = make_contact_law<Real>(setup.law, setup.wall_stiffness, 0.0, 0.0);
        return params;
    }

    [[nodiscard]] int key_bits() const { return std::bit_width(params_.cell_count()); }

    void load(const std::array<double*, 3>& from, const Vec<double, Dim>& origin, const Array<Point>& to) {
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
