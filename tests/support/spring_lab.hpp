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

    SpringTotals totals() { return engine_->totals(); }
    SpringTallies tallies() { return engine_->tallies(); }

    /// All balls, velocities at the time of the positions; positions inside the box on periodic axes.
    std::vector<LabBall> look() {
        engine_->request_frame({pointers(position_), pointers(velocity_), pointers(image_), gone_.data()});
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
        engine_->store(raw());
        return balls();
    }

private:
    template <class T>
    static std::array<T*, 3> pointers(std::array<std::vector<T>, 3>& values) {
        return {values[0].data(), values[1].data(), values[2].data()};
    }
    RawBalls raw() {
        RawBalls raw;
        raw.count = gone_.size();
        raw.position = pointers(position_);
        raw.velocity = pointers(velocity_);
        raw.image = pointers(image_);
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

}  // namespace carom::test
