#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/physics/contact_laws.hpp"

namespace carom {

/// What a spring run needs to know, in plain numbers and double precision: the same for every processor.
struct SpringSetup {
    struct WallShape {
        bool plane = true;               ///< else a sphere
        std::array<double, 3> normal{};  ///< plane: unit vector to where the balls may be
        double offset = 0.0;             ///< plane: normal . x = offset [length]
        std::array<double, 3> center{};  ///< sphere
        double radius = 0.0;             ///< sphere [length]
        bool inside = true;              ///< sphere: the balls are inside
        double temperature = 0.0;        ///< [energy]; 0: the wall reflects
        double speed = 0.0;              ///< plane: along its normal [velocity]
    };
    enum class Side : std::uint8_t { kWall, kPeriodic, kOpen };

    int dimension = 2;
    bool double_precision = false;
    int threads = 0;  ///< 0: all

    std::array<double, 3> box_min{};
    std::array<double, 3> box_size{};
    std::array<std::array<Side, 2>, 3> sides{};
    std::vector<WallShape> walls;                             ///< numbered from 6 on
    std::array<std::array<double, 2>, 3> face_temperature{};  ///< [energy]; 0: the face reflects
    std::uint64_t walls_step = 0;                             ///< the step at which moving walls stand at their offset

    std::uint64_t seed = 0;               ///< of thermal walls and thermostat
    double thermostat_rate = 0.0;         ///< Andersen: a ball's velocity is drawn anew so often [1/time]; 0: never
    double thermostat_temperature = 0.0;  ///< [energy]

    std::array<double, 3> gravity{};
    ContactLawKind law = ContactLawKind::kLinear;
    double stiffness = 0.0;           ///< [force/length]
    double wall_stiffness = 0.0;      ///< [force/length]
    double damping = 0.0;             ///< gamma, ball to ball and ball to wall [mass/time]
    double damping_ratio = 0.0;       ///< zeta, ball to ball; 0 where `damping` is given
    double wall_damping_ratio = 0.0;  ///< zeta, ball to wall
    double distance_epsilon = 0.0;    ///< [length]
    double dt = 0.0;                  ///< [time]
    bool symplectic_euler = false;    ///< else velocity Verlet (leapfrog)
    double design_speed = 0.0;        ///< the largest speed to expect [velocity]: sets scales, bounds nothing
    double margin = 0.0;              ///< of the candidate search [length], 0: chosen; changes speed, never a bit

    [[nodiscard]] bool damped() const { return damping > 0.0 || damping_ratio > 0.0 || wall_damping_ratio > 0.0; }
};

/// Raw balls in id order, by pointer: positions in user coordinates inside the box on periodic axes, velocities
/// as the integrator holds them. Positions and single-precision velocities survive the way in and out unchanged.
struct RawBalls {
    std::size_t count = 0;
    std::array<double*, 3> position{};
    std::array<double*, 3> velocity{};
    std::array<std::int32_t*, 3> image{};
    std::uint8_t* gone = nullptr;
    const double* radius = nullptr;        ///< only read
    const double* inverse_mass = nullptr;  ///< only read; 0 for infinite mass
};

/// A frame in id order, by pointer: velocities at the time of the positions.
struct FrameArrays {
    std::array<double*, 3> position{};
    std::array<double*, 3> velocity{};
    std::array<std::int32_t*, 3> image{};
    std::uint8_t* gone = nullptr;
};

/// What has been counted since the start of the run.
struct SpringTallies {
    std::vector<double> wall_impulse;  ///< one per wall number [momentum]
    double max_overlap = 0.0;          ///< as a fraction of the smaller radius
    std::uint64_t balls_left = 0;
    std::uint64_t sorts = 0;
    std::vector<double> wall_heat = {};  ///< energy that balls got from each thermal wall, one per wall number [energy]
    double thermostat_heat = 0.0;        ///< energy that balls got from the thermostat [energy]
};

/// Why the simulation cannot go on.
struct SpringFault {
    enum class Kind : std::uint8_t { kNone, kNotANumber, kTooFast, kLeftBox, kDeepOverlap, kForceLimit };
    Kind kind = Kind::kNone;
    std::uint32_t ball = 0;   ///< id
    std::uint32_t other = 0;  ///< id of the other ball, or number of the wall
};

}  // namespace carom
