#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "kernels/ladder/textbook.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/spring_step.hpp"

namespace carom {

/// 16 bytes, the widest load of a GPU's thread.
struct alignas(16) CopyWord {
    std::uint64_t half[2];
};

struct CopyBody {
    const CopyWord* from;
    CopyWord* to;

    CAROM_HD void operator()(std::uint64_t i) const { to[i] = from[i]; }
};

struct FillBody {
    CopyWord* to;

    CAROM_HD void operator()(std::uint64_t i) const { to[i] = {{i, ~i}}; }
};

/// Copies one array into another; both are far larger than any cache if the caller wants the memory's speed.
template <class Executor>
class CopyRung final : public LadderEngine {
public:
    CopyRung(Executor executor, std::size_t bytes)
        : executor_(std::move(executor)), from_(bytes / sizeof(CopyWord)), to_(bytes / sizeof(CopyWord)) {
        // So that every page is there, and not one page of zeros many times.
        executor_.launch(words(), FillBody{from_.data()});
        executor_.launch(words(), FillBody{to_.data()});
        executor_.wait();
    }

    void advance(std::uint64_t steps) override {
        for (std::uint64_t k = 0; k < steps; ++k) executor_.copy(from_.data(), to_.data(), words());
        executor_.wait();
    }
    double streamed_bytes() const override { return static_cast<double>(from_.bytes() + to_.bytes()); }
    std::uint64_t memory_bytes() const override { return from_.bytes() + to_.bytes(); }
    void store(const BallArrays&) override { throw std::logic_error("a copy has no balls"); }

private:
    [[nodiscard]] std::uint64_t words() const { return from_.bytes() / sizeof(CopyWord); }

    Executor executor_;
    typename Executor::template Array<CopyWord> from_, to_;
};

// carom's own kick and drift over all balls, from one buffer into the other, with a force of zero: what a step costs
// that looks for no contact. Balls fly through the walls; phases wrap, so nothing ends that.

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

    void store(const BallArrays& balls) override {
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

/// kIntegrate or kTextbook over a new executor of type `Executor`, which is made from `arguments`.
/// \throws std::invalid_argument  ladder_refusal
template <class Executor, class... Arguments>
std::unique_ptr<LadderEngine> make_ladder_over(LadderRung rung, const SpringSetup& setup, const RawBalls& balls,
                                               const Arguments&... arguments) {
    if (const char* why = ladder_refusal(setup, balls); *why != 0) throw std::invalid_argument(why);
    const auto make = [&]<class Real, int Dim>() -> std::unique_ptr<LadderEngine> {
        if (rung == LadderRung::kIntegrate) {
            return std::make_unique<IntegrateRung<Real, Dim, Executor>>(Executor(arguments...), setup, balls);
        }
        return std::make_unique<TextbookRung<Real, Dim, Executor>>(Executor(arguments...), setup, balls);
    };
    if (setup.double_precision) {
        return setup.dimension == 2 ? make.template operator()<double, 2>() : make.template operator()<double, 3>();
    }
    return setup.dimension == 2 ? make.template operator()<float, 2>() : make.template operator()<float, 3>();
}

}  // namespace carom
