#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "kernels/spring_plan.hpp"
#include "kernels/spring_step.hpp"

// carom's own kick and drift over all balls, from one buffer into the other, with a force of zero: what a step costs
// that looks for no contact. Balls fly through the walls; phases wrap, so nothing ends that.

namespace carom {

/// Counts nothing: no fault can follow from straight flight.
struct SilentTally {
    CAROM_HD void fault(SpringFault::Kind, std::uint32_t, std::uint32_t) {}
    template <class Real>
    CAROM_HD void moved(std::uint32_t, Real, bool) {}
};

template <class Real, int Dim>
struct FlightBody {
    using Kind = StepKind<Real, Dim, false, true>;

    StepNow<Real, Dim> now;
    BallsView<Real, Dim> balls;
    MovedView<Real, Dim> moved;
    Real inverse_mass;

    [[nodiscard]] FlightBody shifted(std::uint64_t first) const {
        FlightBody result = *this;
        for (int axis = 0; axis < Dim; ++axis) {
            result.balls.x[axis] += first;
            result.balls.v[axis] += first;
            result.moved.x[axis] += first;
            result.moved.v[axis] += first;
        }
        return result;
    }

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        OwnBall<Kind> own;
        for (int axis = 0; axis < Dim; ++axis) {
            own.x[axis] = balls.x[axis][slot];
            own.v[axis] = balls.v[axis][slot];
        }
        own.radius = Real(0);
        own.inverse_mass = inverse_mass;
        SilentTally tally;
        kick_and_drift<Kind>(now, own, Vec<Real, Dim>::filled(Real(0)), moved, slot, tally);
    }
};

/// \tparam Executor  as TextbookRung's; launch_lanes(n, body) may take several indices at once
template <class Real, int Dim, class Executor>
class IntegrateRung final : public LadderEngine {
public:
    IntegrateRung(Executor executor, const SpringSetup& setup, const RawBalls& balls)
        : executor_(std::move(executor)),
          params_(make_params<Real, Dim>(setup, measure_sizes(balls, Dim))),
          count_(balls.count) {
        std::vector<Stored> phase(count_);
        std::vector<Real> velocity(count_);
        for (int axis = 0; axis < Dim; ++axis) {
            for (std::size_t id = 0; id < count_; ++id) {
                phase[id] =
                    Coordinates<Real, Dim>::narrow(params_.coordinates.from_position(axis, balls.position[axis][id]));
                velocity[id] = static_cast<Real>(balls.velocity[axis][id]);
            }
            for (auto& buffer : x_) buffer[axis] = Array<Stored>(count_);
            for (auto& buffer : v_) buffer[axis] = Array<Real>(count_);
            executor_.upload(phase.data(), x_[0][axis].data(), count_);
            executor_.upload(velocity.data(), v_[0][axis].data(), count_);
            executor_.wait();
        }
    }

    void advance(std::uint64_t steps) override {
        for (std::uint64_t k = 0; k < steps; ++k, ++step_) {
            FlightBody<Real, Dim> body{};
            body.now = step_now(params_, step_);
            body.inverse_mass = params_.uniform_inverse_mass;
            for (int axis = 0; axis < Dim; ++axis) {
                body.balls.x[axis] = x_[now_][axis].data();
                body.balls.v[axis] = v_[now_][axis].data();
                body.moved.x[axis] = x_[1 - now_][axis].data();
                body.moved.v[axis] = v_[1 - now_][axis].data();
            }
            executor_.launch_lanes(count_, body);
            now_ = 1 - now_;
        }
        executor_.wait();
    }

    double streamed_bytes() const override {
        return 2.0 * Dim * (sizeof(Stored) + sizeof(Real)) * static_cast<double>(count_);
    }
    std::uint64_t memory_bytes() const override { return 2 * Dim * (x_[0][0].bytes() + v_[0][0].bytes()); }

    void store(const RawBalls& balls) override {
        std::vector<Stored> phase(count_);
        std::vector<Real> velocity(count_);
        for (int axis = 0; axis < Dim; ++axis) {
            executor_.download(x_[now_][axis].data(), phase.data(), count_);
            executor_.download(v_[now_][axis].data(), velocity.data(), count_);
            executor_.wait();
            for (std::size_t id = 0; id < count_; ++id) {
                const std::int64_t anchor = params_.coordinates.from_position(axis, balls.position[axis][id]);
                balls.position[axis][id] =
                    params_.coordinates.position(axis, Coordinates<Real, Dim>::widen(phase[id], anchor));
                balls.velocity[axis][id] = velocity[id];
            }
        }
    }

private:
    using Stored = typename Phase<Real>::Stored;
    template <class T>
    using Array = typename Executor::template Array<T>;

    Executor executor_;
    SpringParams<Real, Dim> params_;
    std::size_t count_;
    std::uint64_t step_ = 0;
    int now_ = 0;
    Array<Stored> x_[2][Dim];
    Array<Real> v_[2][Dim];
};

}  // namespace carom
