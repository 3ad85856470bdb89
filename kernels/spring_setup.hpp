#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/core/portability.hpp"
#include "kernels/core/totals.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/wall.hpp"

namespace carom {

/// What a spring run needs to know, in plain numbers and double precision: the same for every processor.
struct SpringSetup {
    enum class Side : std::uint8_t { kWall, kPeriodic, kOpen };

    int dimension = 2;
    bool double_precision = false;
    int threads = 0;  ///< 0: all

    std::array<double, 3> box_min{};
    std::array<double, 3> box_size{};
    std::array<std::array<Side, 2>, 3> sides{};
    std::vector<Wall> walls;
    std::array<std::array<double, 2>, 3> face_temperature{};  ///< [energy]; 0: the face reflects
    std::uint64_t walls_step = 0;                             ///< the step at which moving walls stand at their offset

    std::uint64_t seed = 0;               ///< of thermal walls and thermostat
    double thermostat_rate = 0.0;         ///< Andersen: a ball's velocity is drawn anew so often [1/time]; 0: never
    double thermostat_temperature = 0.0;  ///< [energy]

    std::array<double, 3> gravity{};
    ContactLawChoice law{};           ///< whose units those of the stiffness and of the damping are
    double stiffness = 0.0;           ///< ball to ball
    double wall_stiffness = 0.0;      ///< ball to wall
    double damping = 0.0;             ///< ball to ball and ball to wall
    double damping_ratio = 0.0;       ///< zeta, ball to ball; 0 where `damping` is given
    double wall_damping_ratio = 0.0;  ///< zeta, ball to wall
    double distance_epsilon = 0.0;    ///< [length]
    double dt = 0.0;                  ///< [time]
    bool symplectic_euler = false;    ///< else velocity Verlet (leapfrog)
    double design_speed = 0.0;        ///< the largest speed to expect [velocity]: sets scales, bounds nothing
    double margin = 0.0;              ///< of the candidate search [length], 0: chosen; changes speed, never a bit
    std::uint64_t memory_beside = 0;  ///< GPU: that must be left for what comes later, as averages [bytes]
    bool near_lists = true;           ///< GPU: lists of who is near; without, cells are searched; changes no bit either
    /// GPU: balls from which on those near faces have a kernel of their own, a launch more, which fewer would wait for
    /// (on an H200 200,000 and 400,000 are to both sides); changes no bit.
    std::uint64_t faces_apart = 262144;

    [[nodiscard]] SoftContact pair_contact() const { return {law, stiffness, damping, damping_ratio}; }
    [[nodiscard]] SoftContact wall_contact() const { return {law, wall_stiffness, damping, wall_damping_ratio}; }
    [[nodiscard]] bool damped() const { return damping > 0.0 || damping_ratio > 0.0 || wall_damping_ratio > 0.0; }
};

/// How velocities change between two steps, as the integrator holds them: those of balls that are in and have a finite
/// mass. Rounded to the precision of the run last.
struct VelocityChange {
    double factor = 1.0;
    double added[3] = {};  ///< [velocity]

    [[nodiscard]] CAROM_HD double of(int axis, double v) const {
        const double scaled = v * factor;
        return added[axis] != 0.0 ? scaled + added[axis] : scaled;  // -0 stays
    }
    [[nodiscard]] CAROM_HD bool none() const {
        return factor == 1.0 && added[0] == 0.0 && added[1] == 0.0 && added[2] == 0.0;
    }
    /// What no ball is faster than, if none was faster than `speed` before.
    [[nodiscard]] double bound(double speed) const {
        return std::abs(factor) * speed + std::abs(added[0]) + std::abs(added[1]) + std::abs(added[2]);
    }
};

/// Raw balls in id order, by pointer, to start from: positions in user coordinates inside the box on periodic axes,
/// velocities as the integrator holds them. Positions and single-precision velocities survive the way in and out
/// unchanged.
struct RawBalls {
    std::size_t count = 0;
    std::size_t first = 0;  ///< of a part: the id of its first ball
    std::array<const double*, 3> position{};
    std::array<const double*, 3> velocity{};
    std::array<const std::int32_t*, 3> image{};
    const std::uint8_t* gone = nullptr;
    const double* radius = nullptr;
    const double* inverse_mass = nullptr;  ///< 0 for infinite mass

    /// Calls take(part) for all balls, some at a time in the order of ids: for ranks, of which none need have room for
    /// all. Then there are no arrays; `count` is that of all.
    using Parts = std::function<void(const std::function<void(const RawBalls& part)>& take)>;
    const Parts* parts = nullptr;

    template <class F>
    void for_each_part(F&& take) const {
        if (parts != nullptr) return (*parts)(take);
        take(*this);
    }
};

/// Where balls are written to, in id order: raw, or as a frame with velocities at the time of the positions.
struct BallArrays {
    std::array<double*, 3> position{};
    std::array<double*, 3> velocity{};
    std::array<std::int32_t*, 3> image{};
    std::uint8_t* gone = nullptr;
};

/// Why the simulation cannot go on.
struct SpringFault {
    enum class Kind : std::uint8_t { kNone, kNotANumber, kTooFast, kLeftBox, kDeepOverlap, kForceLimit };
    Kind kind = Kind::kNone;
    std::uint32_t ball = 0;   ///< id
    std::uint32_t other = 0;  ///< id of the other ball, or number of the wall
};

}  // namespace carom
