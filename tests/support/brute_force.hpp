#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/spring_control.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_plan.hpp"
#include "kernels/spring_step.hpp"
#include "tests/support/spring_engines.hpp"

namespace carom::test {

/// The spring run without a broadphase: each ball meets each other whose nearest image, by plain doubles, is within
/// three largest diameters. No cells, no sorts, no lists; only the step of one ball is shared with the engines.
template <class Real, int Dim>
class BruteForce {
public:
    using Kind = StepKind<Real, Dim, true, false>;  // holds for undamped and equal balls too
    using Stored = typename Phase<Real>::Stored;

    explicit BruteForce(Gas gas) : gas_(std::move(gas)) {
        params_ = make_params<Real, Dim>(gas_.setup, measure_sizes(gas_.raw(), Dim));
        const std::size_t count = gas_.size();
        for (int axis = 0; axis < Dim; ++axis) {
            wide_[axis].resize(count);
            for (auto& buffer : buffers_) {
                buffer.x[axis].resize(count);
                buffer.v[axis].resize(count);
            }
            for (std::size_t id = 0; id < count; ++id) {
                buffers_[0].v[axis][id] = static_cast<Real>(gas_.velocity[axis][id]);
                wide_[axis][id] = params_.coordinates.from_position(axis, gas_.position[axis][id]);
            }
        }
        for (std::size_t id = 0; id < count; ++id) {
            id_.push_back(static_cast<std::uint32_t>(id));
            radius_.push_back(static_cast<Real>(gas_.radius[id]));
            inverse_mass_.push_back(static_cast<Real>(gas_.inverse_mass[id]));
        }
        cell_.resize(count);
        settle(buffers_[0]);
    }

    void step() {
        was_gone_ = gas_.gone;
        const auto now = step_now(params_, gas_.step);
        MovedView<Real, Dim> moved;
        for (int axis = 0; axis < Dim; ++axis) {
            moved.x[axis] = buffers_[1].x[axis].data();
            moved.v[axis] = buffers_[1].v[axis].data();
        }
        moved.gone = gas_.gone.data();
        Tally tally;
        for (std::uint32_t i = 0; i < id_.size(); ++i) {
            spring_step<Kind>(
                params_, now, view(), moved, i, true, [&](auto&& f) { others(i, f); }, tally);
        }
        std::swap(buffers_[0], buffers_[1]);
        for (int axis = 0; axis < Dim; ++axis) {
            for (std::size_t id = 0; id < id_.size(); ++id) {
                wide_[axis][id] = Coordinates<Real, Dim>::widen(buffers_[0].x[axis][id], wide_[axis][id]);
            }
        }
        settle(buffers_[0]);
        ++gas_.step;
    }

    /// The raw state, to be compared with an engine's.
    [[nodiscard]] Gas raw() const {
        Gas result = gas_;
        for (int axis = 0; axis < Dim; ++axis) {
            for (std::size_t id = 0; id < id_.size(); ++id) {
                const bool gone = gas_.gone[id] != 0;
                result.position[axis][id] =
                    gone ? params_.box_min[axis] : params_.coordinates.position(axis, wide_[axis][id]);
                if (gone) result.image[axis][id] = 0;
                result.velocity[axis][id] = gone ? 0.0 : static_cast<double>(buffers_[0].v[axis][id]);
            }
        }
        return result;
    }

    [[nodiscard]] SpringTotals totals() {
        was_gone_ = gas_.gone;
        SpringSums sums = SpringSums::zero();
        for (std::uint32_t i = 0; i < id_.size(); ++i) {
            if (gas_.gone[i] != 0) continue;
            observe<Kind>(
                params_, view(), i, gas_.step, [&](auto&& f) { others(i, f); }, sums);
        }
        return sums.totals(params_.observe);
    }
    [[nodiscard]] const SpringParams<Real, Dim>& params() const { return params_; }

private:
    struct Buffer {
        std::vector<Stored> x[Dim];
        std::vector<Real> v[Dim];
    };
    struct Tally {
        void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
            ADD_FAILURE() << "fault " << static_cast<int>(kind) << " of ball " << slot << ", other " << other;
        }
        void overlap(Real) {}
        void wall_impulse(std::int32_t, std::int64_t) {}
        void moved(std::uint32_t slot, Real, bool sane) {
            if (!sane) fault(SpringFault::Kind::kTooFast, slot, 0);
        }
        void left(std::uint8_t* gone, std::uint32_t ball) { gone[ball] = 1; }
    };

    /// Wraps, counts images, and derives phases and cells, which here only say which period a ball is in.
    void settle(Buffer& buffer) {
        for (std::size_t id = 0; id < id_.size(); ++id) {
            Vec<std::int64_t, Dim> wide;
            for (int axis = 0; axis < Dim; ++axis) {
                if (gas_.gone[id] == 0) gas_.image[axis][id] += params_.coordinates.wrap(axis, wide_[axis][id]);
                wide[axis] = wide_[axis][id];
                buffer.x[axis][id] = Coordinates<Real, Dim>::narrow(wide[axis]);
            }
            cell_[id] = params_.grid.number(params_.grid.cell_of(wide));
        }
    }

    [[nodiscard]] BallsView<Real, Dim> view() const {
        BallsView<Real, Dim> view;
        for (int axis = 0; axis < Dim; ++axis) {
            view.x[axis] = buffers_[0].x[axis].data();
            view.v[axis] = buffers_[0].v[axis].data();
        }
        view.radius = radius_.data();
        view.inverse_mass = inverse_mass_.data();
        view.id = id_.data();
        view.cell = cell_.data();
        return view;
    }

    template <class F>
    void others(std::uint32_t i, F&& f) const {
        const double reach = 3.0 * static_cast<double>(params_.largest_diameter);
        for (std::uint32_t j = 0; j < id_.size(); ++j) {
            if (j == i || was_gone_[j] != 0) continue;
            double squared = 0.0;
            for (int axis = 0; axis < Dim; ++axis) {
                double apart = static_cast<double>(wide_[axis][j] - wide_[axis][i]) * params_.coordinates.quantum[axis];
                const double length = gas_.setup.box_size[axis];
                if (params_.coordinates.extent[axis] != 0) apart -= length * std::rint(apart / length);
                squared += apart * apart;
            }
            if (squared < reach * reach) f(j);
        }
    }

    Gas gas_;
    SpringParams<Real, Dim> params_;
    std::vector<std::int64_t> wide_[Dim];
    Buffer buffers_[2];
    std::vector<Real> radius_, inverse_mass_;
    std::vector<std::uint32_t> id_, cell_;
    std::vector<std::uint8_t> was_gone_;  // before the step: in it, a leaving ball is still felt
};

}  // namespace carom::test
