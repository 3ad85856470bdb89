#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/spring_cpu.hpp"

namespace carom::test {

using Triple = std::array<double, 3>;
using Side = SpringSetup::Side;

/// A ball as a physicist writes it down.
struct LabBall {
    Triple x{};           ///< [length]
    Triple v{};           ///< [length/time]
    double radius = 0.5;  ///< [length]
    double mass = 1.0;    ///< infinity: nothing moves it
};

/// A setup with the same kind of face all around, stiffness 1, one thread.
inline SpringSetup lab_setup(int dimension, double size, Side side) {
    SpringSetup setup;
    setup.dimension = dimension;
    setup.threads = 1;
    for (int axis = 0; axis < 3; ++axis) {
        setup.box_size[axis] = size;
        setup.sides[axis] = {side, side};
    }
    setup.stiffness = setup.wall_stiffness = 1.0;
    setup.design_speed = 1.0;
    return setup;
}

/// The spring engine of the CPU on a laboratory bench: no scene, no files; a fault fails the test.
class SpringLab {
public:
    /// \param step  steps done before: the velocities are then as store() gave them
    SpringLab(const SpringSetup& setup, const std::vector<LabBall>& balls, std::uint64_t step = 0) : setup_(setup) {
        const std::size_t count = balls.size();
        for (int axis = 0; axis < 3; ++axis) {
            for (const LabBall& ball : balls) {
                position_[axis].push_back(ball.x[axis]);
                velocity_[axis].push_back(ball.v[axis]);
            }
            image_[axis].assign(count, 0);
        }
        gone_.assign(count, 0);
        for (const LabBall& ball : balls) {
            radius_.push_back(ball.radius);
            mass_.push_back(ball.mass);
            inverse_mass_.push_back(std::isinf(ball.mass) ? 0.0 : 1.0 / ball.mass);
        }
        engine_ = make_cpu_engine(setup, raw(), step, {});
    }

    SpringEngine& engine() { return *engine_; }

    void advance(std::uint64_t steps) {
        const AdvanceResult result = engine_->advance(steps);
        ASSERT_EQ(result.fault.kind, SpringFault::Kind::kNone)
            << "fault " << static_cast<int>(result.fault.kind) << " of ball " << result.fault.ball << " and "
            << result.fault.other << " at step " << engine_->step();
    }

    Totals totals() { return engine_->totals(); }
    Tallies tallies() { return engine_->tallies(); }

    /// All balls, velocities at the time of the positions; positions inside the box on periodic axes.
    std::vector<LabBall> look() {
        engine_->request_frame(arrays());
        engine_->finish_frame();
        return balls();
    }
    /// As look(), with positions that go on through periodic faces.
    std::vector<LabBall> look_unwrapped() {
        std::vector<LabBall> result = look();
        for (std::size_t id = 0; id < result.size(); ++id) {
            for (int axis = 0; axis < setup_.dimension; ++axis)
                result[id].x[axis] += image_[axis][id] * setup_.box_size[axis];
        }
        return result;
    }
    /// The state as the integrator holds it.
    std::vector<LabBall> store() {
        engine_->store(arrays());
        return balls();
    }

private:
    template <class T>
    static std::array<T*, 3> pointers(std::array<std::vector<T>, 3>& values) {
        return {values[0].data(), values[1].data(), values[2].data()};
    }
    BallArrays arrays() { return {pointers(position_), pointers(velocity_), pointers(image_), gone_.data()}; }
    [[nodiscard]] RawBalls raw() const {
        RawBalls raw;
        raw.count = gone_.size();
        for (int axis = 0; axis < 3; ++axis) {
            raw.position[axis] = position_[axis].data();
            raw.velocity[axis] = velocity_[axis].data();
            raw.image[axis] = image_[axis].data();
        }
        raw.gone = gone_.data();
        raw.radius = radius_.data();
        raw.inverse_mass = inverse_mass_.data();
        return raw;
    }
    [[nodiscard]] std::vector<LabBall> balls() const {
        std::vector<LabBall> result(gone_.size());
        for (std::size_t id = 0; id < result.size(); ++id) {
            for (int axis = 0; axis < setup_.dimension; ++axis) {
                result[id].x[axis] = position_[axis][id];
                result[id].v[axis] = velocity_[axis][id];
            }
            result[id].radius = radius_[id];
            result[id].mass = mass_[id];
        }
        return result;
    }

    SpringSetup setup_;
    std::array<std::vector<double>, 3> position_, velocity_;
    std::array<std::vector<std::int32_t>, 3> image_;
    std::vector<std::uint8_t> gone_;
    std::vector<double> radius_, mass_, inverse_mass_;
    std::unique_ptr<SpringEngine> engine_;
};

/// Rounding of one operation, relative to its result.
constexpr double kEpsilonDouble = 0x1p-53;
constexpr double kEpsilonSingle = 0x1p-24;

/// A box of double precision far larger than the scene, open all around, so that nothing but the balls is there.
inline SpringSetup free_space(double size, double dt) {
    SpringSetup setup = lab_setup(2, size, Side::kOpen);
    setup.box_min = {-0.5 * size, -0.5 * size, 0.0};
    setup.double_precision = true;
    setup.dt = dt;
    return setup;
}

struct Encounter {
    double time = 0.0;         ///< from the first overlapped state to the first free one [time]
    double max_overlap = 0.0;  ///< of the states seen [length]
    double speed_ratio = 0.0;  ///< separation over approach speed
    std::vector<LabBall> after;
};

inline double distance(const LabBall& a, const LabBall& b) {
    return std::hypot(b.x[0] - a.x[0], b.x[1] - a.x[1], b.x[2] - a.x[2]);
}
inline double relative_speed(const LabBall& a, const LabBall& b) {
    return std::hypot(b.v[0] - a.v[0], b.v[1] - a.v[1], b.v[2] - a.v[2]);
}

/// Steps balls 0 and 1 through one contact, looking at each step.
inline Encounter meet(SpringLab& lab, double dt, std::uint64_t most_steps = 10'000'000) {
    Encounter encounter;
    auto balls = lab.look();
    const double approach = relative_speed(balls[0], balls[1]);
    std::uint64_t inside = 0;
    for (std::uint64_t step = 0; step < most_steps; ++step) {
        const bool touching = lab.totals().contacts > 0;
        if (touching) {
            ++inside;
            balls = lab.look();
            encounter.max_overlap =
                std::max(encounter.max_overlap, balls[0].radius + balls[1].radius - distance(balls[0], balls[1]));
        } else if (inside > 0) {
            break;
        }
        lab.advance(1);
        if (::testing::Test::HasFatalFailure()) return encounter;
    }
    encounter.after = lab.look();
    encounter.time = static_cast<double>(inside) * dt;
    encounter.speed_ratio = relative_speed(encounter.after[0], encounter.after[1]) / approach;
    return encounter;
}

}  // namespace carom::test
