#pragma once

#include <cstdint>

#include "kernels/core/coordinates.hpp"
#include "kernels/core/fixed_sum.hpp"
#include "kernels/grid/grid.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/drift.hpp"
#include "kernels/physics/gravity.hpp"
#include "kernels/spring_setup.hpp"

namespace carom {

constexpr int kMaxBoundaries = 32;  ///< faces and [[wall]] entries together, held in a kernel's arguments
constexpr int kWallNumbers = static_cast<int>(WallNumber::count(kMaxBoundaries));  ///< walls are numbered below this
constexpr int kHeatSources = kWallNumbers + 1;                                     ///< the walls, and the thermostat

/// Which variant of the step: everything that would otherwise be a branch inside it.
template <class Real_, int Dim_, bool kDamped_, bool kUniform_>
struct StepKind {
    using Real = Real_;
    static constexpr int kDim = Dim_;
    static constexpr bool kDamped = kDamped_;    ///< contacts have a dashpot
    static constexpr bool kUniform = kUniform_;  ///< all balls have one radius and one (finite) mass
};

/// The balls in cell order, as the step reads them.
template <class Real, int Dim>
struct BallsView {
    using Stored = typename Phase<Real>::Stored;
    Vec<const Stored*, Dim> x;  // phases
    Vec<const Real*, Dim> v;    // [length/time], as the integrator holds them
    const Real* radius;         // [length]; null where uniform
    const Real* inverse_mass;   // [1/mass]; null where uniform
    const std::uint32_t* id;
    const std::uint32_t* cell;  // number of the cell at the last sort

    /// The wide position that the phase is counted from; see Coordinates::widen.
    [[nodiscard]] CAROM_HD Vec<std::int64_t, Dim> anchor(const Grid<Dim>& grid, std::uint32_t slot) const {
        return grid.anchor(grid.cell(cell[slot]));
    }
    /// A bit for each of SpringParams::boundaries that the ball may reach before the next sort: all, for want of
    /// knowledge.
    [[nodiscard]] CAROM_HD std::uint32_t walls(std::uint32_t /*slot*/) const { return ~std::uint32_t{0}; }
};

/// Where the step writes.
template <class Real, int Dim>
struct MovedView {
    Vec<typename Phase<Real>::Stored*, Dim> x;
    Vec<Real*, Dim> v;
    std::uint8_t* gone;  // by id; set when a ball leaves
};

/// Fixed-point grids for the sums that observers take; limits are single balls' largest terms.
struct ObserveGrids {
    FixedGrid<double> energy;
    FixedGrid<double> momentum;
    FixedGrid<double> angular;
};

/// What counts of impulses and heat are steps of.
struct CountUnits {
    double impulse;  ///< [momentum]
    double heat;     ///< [energy]
};

/// All constants of a run, the same on every processor.
template <class Real, int Dim>
struct SpringParams {
    Coordinates<Real, Dim> coordinates;
    Grid<Dim> grid;
    FixedGrid<Real> force_grid;
    ContactLaw<Real> pair_law;
    ContactLaw<Real> wall_law;
    Real distance_epsilon;      ///< [length]
    Real uniform_radius;        ///< [length]; 0 unless all balls are alike
    Real uniform_inverse_mass;  ///< [1/mass]
    Real largest_diameter;      ///< [length]
    Real kick;                  ///< dt [time]
    Real first_kick;            ///< that of step 0: dt / 2 for leapfrog
    Real lag;                   ///< what brings velocities to the time of positions: dt / 2 or 0 [time]
    Vec<Real, Dim> drift;       ///< dt in steps of the resolution per velocity
    Real too_fast;              ///< square of the speed that is a fault [velocity^2]
    ObserveGrids observe;       ///< for sums over all balls
    double impulse_grid;        ///< wall forces are summed in units of this [force]
    double dt;                  ///< [time]
    double margin;              ///< twice the distance that a ball may move between sorts [length]
    Vec<GravityKicks, Dim> gravity;
    Vec<double, Dim> box_min;          ///< [length]
    Vec<double, Dim> box_size;         ///< [length]
    Vec<double, Dim> inverse_period;   ///< 1 / box_size on periodic axes, else 0
    Vec<std::int64_t, Dim> parked[2];  ///< per side: wide positions beyond which nothing is compared with anything
    std::uint8_t open;                 ///< bit 2 axis + side is set where that face is open
    bool has_shapes;                   ///< [[wall]] entries: every ball must look at them
    bool offsets_drift;                ///< drift is rounded with an offset, see drift.hpp
    std::uint64_t walls_step;          ///< the step at which moving walls stand at their reference
    std::uint64_t seed;
    double heat_grid;                ///< heat is summed in units of this [energy]
    double thermostat_temperature;   ///< [energy]
    double thermostat_probability;   ///< that a ball is drawn anew in a step in which the thermostat acts
    std::uint64_t thermostat_every;  ///< steps from one such step to the next; 0: there is no thermostat
    int boundary_count;              ///< walls that act by their forces
    int thermal_count;               ///< thermal walls, behind them
    Boundary<Dim> boundaries[kMaxBoundaries];

    /// Whether velocities are drawn anew (spring_refresh.hpp).
    [[nodiscard]] CAROM_HD bool refreshes() const { return thermal_count > 0 || thermostat_every > 0; }
    [[nodiscard]] CountUnits count_units() const { return {impulse_grid * dt, heat_grid}; }
    /// Time for which moving walls have moved at a step [time].
    [[nodiscard]] CAROM_HD double walls_time(std::uint64_t step) const {
        return dt * (static_cast<double>(step) - static_cast<double>(walls_step));
    }
};

/// What kick and drift need in a step: small, to be passed by value, so that a compiler knows that no store to
/// the balls changes it.
template <class Real, int Dim>
struct StepNow {
    Real kick;                     ///< [time]
    Vec<Real, Dim> gravity_kick;   ///< [velocity]
    Vec<Real, Dim> drift;          ///< as SpringParams
    Vec<std::int32_t, Dim> grain;  ///< as Coordinates
    Real drift_offset;             ///< see drift.hpp; 0 where steps are long, as the grid of positions goes
    Real too_fast;                 ///< as SpringParams
    double walls_time;             ///< for which moving walls have moved [time]
};

template <class Real, int Dim>
CAROM_HD StepNow<Real, Dim> step_now(const SpringParams<Real, Dim>& params, std::uint64_t step) {
    StepNow<Real, Dim> now;
    now.kick = step == 0 ? params.first_kick : params.kick;
    now.drift = params.drift;
    now.grain = params.coordinates.grain;
    now.drift_offset = params.offsets_drift ? static_cast<Real>(drift_offset(step)) : Real(0);
    now.too_fast = params.too_fast;
    now.walls_time = params.walls_time(step);
    for (int axis = 0; axis < Dim; ++axis) {
        now.gravity_kick[axis] = static_cast<Real>(params.gravity[axis].kick(static_cast<double>(step)));
    }
    return now;
}

/// A fault packed so that the smallest is the one to report: ball id, then kind, then the other's id, so that
/// every processor names the same one. No fault is the largest value.
struct FaultKey {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    CAROM_HD static std::uint64_t pack(SpringFault::Kind kind, std::uint32_t ball, std::uint32_t other) {
        return static_cast<std::uint64_t>(ball) << 34 | static_cast<std::uint64_t>(kind) << 30 | (other & 0x3fffffffU);
    }
    static SpringFault unpack(std::uint64_t key) {
        if (key == kNone) return {};
        return {static_cast<SpringFault::Kind>(key >> 30 & 0xf), static_cast<std::uint32_t>(key >> 34),
                static_cast<std::uint32_t>(key & 0x3fffffffU)};
    }
};

constexpr std::uint64_t kMaxBalls = 1U << 30;  ///< ids fit a fault's key

/// How far any ball can have moved in a step, from the largest speed [length]: the rounding of positions and of the
/// speed itself included.
template <class Real, int Dim>
CAROM_HD double motion_bound(const SpringParams<Real, Dim>& params, double largest_speed) {
    double quanta = 0.0;
    for (int axis = 0; axis < Dim; ++axis) quanta = quanta + params.coordinates.resolution[axis];
    return largest_speed * params.dt * (1.0 + 1e-6) + quanta;
}

/// Whether balls may have moved so far since the sort that a contact could be missed.
template <class Real, int Dim>
CAROM_HD bool sort_due(const SpringParams<Real, Dim>& params, double motion) {
    return motion > 0.5 * params.margin;
}

}  // namespace carom
