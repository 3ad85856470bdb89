#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/at_fault.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/spring_params.hpp"

// From the plain numbers of a setup to the constants of the step: computed once, on the host, by one function
// for every processor.

namespace carom {

/// What the plan must know of the balls.
struct BallSizes {
    std::size_t count = 0;
    double smallest_radius = 0.0;
    double largest_radius = 0.0;
    double smallest_mass = 0.0;  ///< of the finite ones
    double largest_mass = 0.0;
    bool uniform = false;  ///< all of one radius and one finite mass
    double mass = 0.0;     ///< if uniform
    double fastest = 0.0;  ///< largest speed at the start [velocity]
};

inline BallSizes measure_sizes(const RawBalls& balls, int dimension) {
    BallSizes sizes;
    sizes.count = balls.count;
    double smallest_inverse = HUGE_VAL;
    double largest_inverse = 0.0;
    double first_radius = 0.0;
    double first_inverse = 0.0;
    balls.for_each_part([&](const RawBalls& part) {
        if (part.first == 0 && part.count > 0) {
            sizes.smallest_radius = first_radius = part.radius[0];
            first_inverse = part.inverse_mass[0];
            sizes.uniform = first_inverse > 0.0;
        }
        for (std::size_t at = 0; at < part.count; ++at) {
            sizes.smallest_radius = std::min(sizes.smallest_radius, part.radius[at]);
            sizes.largest_radius = std::max(sizes.largest_radius, part.radius[at]);
            if (part.inverse_mass[at] > 0.0) smallest_inverse = std::min(smallest_inverse, part.inverse_mass[at]);
            largest_inverse = std::max(largest_inverse, part.inverse_mass[at]);
            sizes.uniform = sizes.uniform && part.radius[at] == first_radius && part.inverse_mass[at] == first_inverse;
            double squared = 0.0;
            for (int axis = 0; axis < dimension; ++axis) squared += part.velocity[axis][at] * part.velocity[axis][at];
            sizes.fastest = std::max(sizes.fastest, squared);
        }
    });
    sizes.fastest = std::sqrt(sizes.fastest);
    sizes.largest_mass = smallest_inverse < HUGE_VAL ? 1.0 / smallest_inverse : 0.0;
    sizes.smallest_mass = largest_inverse > 0.0 ? 1.0 / largest_inverse : 0.0;
    if (sizes.uniform) sizes.mass = 1.0 / first_inverse;
    return sizes;
}

inline double power_of_two_above(double x) { return std::exp2(std::ceil(std::log2(x))); }

template <class Real>
FixedGrid<Real> make_fixed_grid(double limit) {
    FixedGrid<Real> grid;
    grid.limit = static_cast<Real>(limit);
    grid.to_grid = static_cast<Real>(std::exp2(FixedGrid<Real>::kCoarseBits) / limit);
    grid.from_grid = static_cast<Real>(limit / std::exp2(FixedGrid<Real>::kCoarseBits));
    grid.to_fine = static_cast<Real>(static_cast<double>(grid.to_grid) * std::exp2(FixedGrid<Real>::kFineBits));
    grid.from_fine = static_cast<Real>(static_cast<double>(grid.from_grid) / std::exp2(FixedGrid<Real>::kFineBits));
    return grid;
}

namespace plan {

constexpr double kPad = 4.0;               // of the largest diameter, beyond each face that is not periodic
constexpr double kPeriodDiameters = 64.0;  // a period is at least this many largest diameters
constexpr double kMinCells = 1 << 18;      // a grid may have this many cells however few the balls
constexpr double kCellSlack = 1.0 + 1e-6;  // covers the rounding of cell borders
constexpr double kRoundingsPerStep = 8.0;  // of the user's coordinate in the smallest step of a position: there are 4

/// The distance of doubles near x.
inline double rounding_of(double x) { return std::ldexp(1.0, std::ilogb(x) - 52); }
constexpr double kMinPeriodicCells = 3.0;  // so that a ball stays within half a period of its cell's middle; of three
                                           // cells all are neighbours, so they may be as narrow as they like

/// Width of the grid's domain along an axis: the box, padded where it is not periodic [length].
inline double domain(const SpringSetup& setup, int axis, double diameter) {
    const bool periodic = setup.sides[axis][0] == SpringSetup::Side::kPeriodic;
    return setup.box_size[axis] + (periodic ? 0.0 : 2.0 * kPad * diameter);
}

template <int Dim>
Vec<std::int32_t, Dim> count_cells(const SpringSetup& setup, std::size_t balls, double diameter, double margin) {
    const double most = std::max(kMinCells, 2.0 * static_cast<double>(balls));
    double width = (diameter + margin) * kCellSlack;
    Vec<std::int32_t, Dim> cells;
    for (;;) {
        double product = 1.0;
        for (int axis = 0; axis < Dim; ++axis) {
            const double least = setup.sides[axis][0] == SpringSetup::Side::kPeriodic ? kMinPeriodicCells : 1.0;
            const double along = std::min(std::max(least, std::floor(domain(setup, axis, diameter) / width)), 2e9);
            cells[axis] = static_cast<std::int32_t>(along);
            product *= along;
        }
        if (product <= most) return cells;
        width *= std::max(1.02, std::pow(product / most, 1.0 / Dim));
    }
}

/// \param widest_cells  cells along the axis when they are as wide as any margin makes them: the period follows from
///                      these, so that the margin, which may differ after a restart, changes no bit of a position
template <class Real, int Dim>
void place_axis(const SpringSetup& setup, int axis, double diameter, double margin, std::int32_t widest_cells,
                SpringParams<Real, Dim>& params) {
    const bool periodic = setup.sides[axis][0] == SpringSetup::Side::kPeriodic;
    const bool single = sizeof(Real) == 4;
    const double pad = periodic ? 0.0 : kPad * diameter;
    const double width = domain(setup, axis, diameter) / static_cast<double>(params.grid.cells[axis]);
    const double widest = domain(setup, axis, diameter) / static_cast<double>(widest_cells);
    const double target = std::max(kPeriodDiameters * diameter, 4.0 * widest);

    // What a user coordinate anywhere in the box is rounded to; the smallest step of a position must be well above it.
    const double top = setup.box_min[axis] + setup.box_size[axis] + 2.0 * pad;
    const double rounding =
        rounding_of(std::max({std::abs(setup.box_min[axis] - 2.0 * pad), std::abs(top), setup.box_size[axis]}));
    const double least =
        kRoundingsPerStep * rounding * std::exp2(Phase<Real>::kBits);  // single precision: of the period
    double period = setup.box_size[axis];
    double periods = 1.0;
    if (periodic) {
        if (single) periods = std::max(1.0, std::floor(setup.box_size[axis] / std::max(target, least)));
        period = setup.box_size[axis] / periods;
    } else {
        const double whole = domain(setup, axis, diameter) + 4.0 * pad;
        period = power_of_two_above(single ? std::max(std::min(whole, target + 8.0 * pad), least) : whole);
    }
    auto& coordinates = params.coordinates;
    const double quantum = period * std::exp2(-Phase<Real>::kBits);
    coordinates.quantum[axis] = quantum;
    coordinates.unit[axis] = static_cast<Real>(period * std::exp2(-8.0 * sizeof(typename Phase<Real>::Stored)));
    // Powers of two are exact, and may be as fine as the rounding.
    const double finest = periodic ? kRoundingsPerStep * rounding : rounding;
    coordinates.grain[axis] =
        single ? 0 : static_cast<std::int32_t>(std::max(0.0, std::ceil(std::log2(finest / quantum))));
    const double step = std::ldexp(quantum, coordinates.grain[axis]);
    coordinates.resolution[axis] = step;
    coordinates.origin[axis] = periodic ? setup.box_min[axis] : std::rint((setup.box_min[axis] - pad) / step) * step;
    const double pad_quanta = std::rint(pad / quantum);
    coordinates.extent[axis] = periodic ? static_cast<std::int64_t>(periods) << Phase<Real>::kBits : 0;

    auto& grid = params.grid;
    grid.periodic[axis] = periodic;
    grid.quanta_per_cell[axis] = width / quantum;
    grid.cells_per_quantum[axis] = quantum / width;
    const double reach = 0.5 * diameter + margin;  // from which a face can be touched before the next sort
    grid.interior_begin[axis] = periodic ? 0 : static_cast<std::int32_t>(std::ceil((pad + reach) / width));
    grid.interior_end[axis] = periodic
                                  ? grid.cells[axis]
                                  : static_cast<std::int32_t>(std::floor((pad + setup.box_size[axis] - reach) / width));
    params.parked[0][axis] = -static_cast<std::int64_t>(pad_quanta);
    params.parked[1][axis] = static_cast<std::int64_t>(std::rint((setup.box_size[axis] + 3.0 * pad) / quantum));
    params.drift[axis] = static_cast<Real>(setup.dt / step);
    params.box_min[axis] = setup.box_min[axis];
    params.box_size[axis] = setup.box_size[axis];
    params.inverse_period[axis] = periodic ? 1.0 / setup.box_size[axis] : 0.0;
}

/// Walls that act by their forces first, behind them those that are thermal.
template <class Real, int Dim>
void place_walls(const SpringSetup& setup, SpringParams<Real, Dim>& params) {
    std::vector<Boundary<Dim>> reflecting;
    std::vector<Boundary<Dim>> thermal;
    const auto place = [&](const Boundary<Dim>& wall) {
        (wall.temperature > 0.0 ? thermal : reflecting).push_back(wall);
    };
    params.open = 0;
    params.has_shapes = !setup.walls.empty();
    for (int face = 0; face < 2 * Dim; ++face) {
        const int axis = face / 2;
        const auto side = setup.sides[axis][face % 2];
        if (side == SpringSetup::Side::kOpen) params.open = static_cast<std::uint8_t>(params.open | 1 << face);
        if (side != SpringSetup::Side::kWall) continue;
        place(face_boundary(WallNumber(face), params.box_min, params.box_size, setup.face_temperature[axis][face % 2]));
    }
    for (std::size_t index = 0; index < setup.walls.size(); ++index) {
        place(make_boundary<Dim>(setup.walls[index], WallNumber::entry(index)));
    }
    params.boundary_count = static_cast<int>(reflecting.size());
    params.thermal_count = static_cast<int>(thermal.size());
    std::copy(reflecting.begin(), reflecting.end(), params.boundaries);
    std::copy(thermal.begin(), thermal.end(), params.boundaries + params.boundary_count);
    params.walls_step = setup.walls_step;
}

/// Thermal walls and the thermostat.
template <class Real, int Dim>
void place_heat(const SpringSetup& setup, double largest_mass, SpringParams<Real, Dim>& params) {
    // A ball that the thermostat visits in every step is drawn anew in few of them: visiting it seldom spares the
    // others' random numbers, and with this probability a visit is hardly ever due twice.
    constexpr double kMostProbability = 0.01;
    params.seed = setup.seed;
    params.thermostat_temperature = setup.thermostat_temperature;
    if (setup.thermostat_rate > 0.0) {
        const double steps = std::floor(kMostProbability / (setup.thermostat_rate * setup.dt));
        params.thermostat_every = static_cast<std::uint64_t>(std::clamp(steps, 1.0, 1e9));
        const double visits = setup.thermostat_rate * setup.dt * static_cast<double>(params.thermostat_every);
        params.thermostat_probability = 1.0 - exponential(-visits);
    }
    // 2^-40 of what a fast ball has: rounding is far below that of the velocities, and 2^18 times as much still fits.
    double energy = largest_mass * setup.design_speed * setup.design_speed;
    for (int index = params.boundary_count; index < params.boundary_count + params.thermal_count; ++index) {
        energy = std::max(energy, params.boundaries[index].temperature);
    }
    energy = std::max(energy, setup.thermostat_temperature);
    params.heat_grid = energy > 0.0 ? power_of_two_above(energy) * std::exp2(-40) : 1.0;
    // What a thermal wall gives in one step hangs on no spring: 2^17 fast balls a step fit a step's sum.
    if (params.thermal_count > 0 && energy > 0.0) {
        const double impulse = std::sqrt(largest_mass * energy) / setup.dt;
        params.impulse_grid = std::max(params.impulse_grid, power_of_two_above(impulse) * std::exp2(-46));
    }
}

}  // namespace plan

/// Margin of the candidate search [length]: what sorts seldom and keeps few candidates (0.2 of a
/// diameter in 2D and 0.15 in 3D are what other programs do best with), never less than four steps of the fastest ball,
/// and at most a diameter. On a narrow periodic axis less: a ball half a third of the box from its cell's middle may
/// move half the margin and then, in one step, half a diameter, and must still be within half the box.
inline double choose_margin(const SpringSetup& setup, double diameter, double fastest) {
    double most = diameter;
    for (int axis = 0; axis < setup.dimension; ++axis) {
        const bool periodic = setup.sides[axis][0] == SpringSetup::Side::kPeriodic;
        if (periodic) most = std::min(most, std::max(0.3 * diameter, setup.box_size[axis] * (2.0 / 3.0) - diameter));
    }
    const double share = setup.dimension == 2 ? 0.2 : 0.15;
    const double wanted = setup.margin > 0.0 ? setup.margin : std::max(share * diameter, 4.0 * fastest * setup.dt);
    return std::min(wanted, most);
}

/// Whether an engine may keep its cells and their margin: one that is made anew would have about the same.
/// \param fastest  speed of the fastest ball, about [velocity]
inline bool margin_still_fits(const SpringSetup& setup, double diameter, double fastest, double margin) {
    constexpr double kMuchLess = 0.75;  // a wider margin than need be costs candidates
    const double best = choose_margin(setup, diameter, fastest);
    return best <= margin && best >= kMuchLess * margin;
}

/// Gravity along an axis as the kicks of a run's steps.
inline GravityKicks gravity_kicks(const SpringSetup& setup, int axis) {
    const bool rounded = !setup.double_precision && setup.design_speed > 0.0 && setup.gravity[axis] != 0.0;
    const double grid = rounded ? std::exp2(-23) * power_of_two_above(setup.design_speed) : 0.0;
    return {setup.gravity[axis] * setup.dt, grid, setup.symplectic_euler ? 1.0 : 0.5};
}

/// With the larger numbers of balls and walls.
inline SoftContact strongest_contact(const SpringSetup& setup) {
    return {setup.law, std::max(setup.stiffness, setup.wall_stiffness), setup.damping,
            std::max(setup.damping_ratio, setup.wall_damping_ratio)};
}

/// The constants of a run.
template <class Real, int Dim>
SpringParams<Real, Dim> make_params(const SpringSetup& setup, const BallSizes& sizes) {
    SpringParams<Real, Dim> params{};
    double smallest_edge = setup.box_size[0];
    for (int axis = 1; axis < Dim; ++axis) smallest_edge = std::min(smallest_edge, setup.box_size[axis]);
    const double diameter = sizes.count > 0 ? 2.0 * sizes.largest_radius : 0.1 * smallest_edge;
    params.margin = choose_margin(setup, diameter, sizes.fastest);
    params.grid.cells = plan::count_cells<Dim>(setup, sizes.count, diameter, params.margin);
    const auto widest = plan::count_cells<Dim>(setup, sizes.count, diameter, diameter);
    for (int axis = 0; axis < Dim; ++axis) plan::place_axis(setup, axis, diameter, params.margin, widest[axis], params);
    plan::place_walls(setup, params);

    params.dt = setup.dt;
    params.largest_diameter = static_cast<Real>(diameter);
    params.uniform_radius = static_cast<Real>(sizes.uniform ? sizes.largest_radius : 0.0);
    params.uniform_inverse_mass = static_cast<Real>(sizes.uniform ? 1.0 / sizes.mass : 0.0);
    params.distance_epsilon = static_cast<Real>(setup.distance_epsilon);
    params.kick = static_cast<Real>(setup.dt);
    params.first_kick = static_cast<Real>(setup.symplectic_euler ? setup.dt : 0.5 * setup.dt);
    params.lag = static_cast<Real>(setup.symplectic_euler ? 0.0 : 0.5 * setup.dt);
    const double too_fast = 0.5 * diameter / setup.dt;
    params.too_fast = static_cast<Real>(too_fast * too_fast);

    params.pair_law = setup.pair_contact().law<Real>();
    params.wall_law = setup.wall_contact().law<Real>();
    const double limit = power_of_two_above(
        4.0 * strongest_contact(setup).strongest_force(diameter, setup.design_speed, sizes.largest_mass));
    params.force_grid = make_fixed_grid<Real>(limit);
    // 2^15 forces at the limit fit a step's sum, that is 30 million contacts as deep as max_overlap; and a ball at rest
    // on a stiff wall, whose weight may be 2^-33 of the limit, is still counted to 2^-16.
    params.impulse_grid = limit * std::exp2(-48);
    plan::place_heat(setup, sizes.largest_mass, params);

    double diagonal = 0.0;
    double field = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        diagonal += setup.box_size[axis];
        field = std::max(field, std::abs(setup.gravity[axis]));
    }
    const double mass = sizes.largest_mass > 0.0 ? sizes.largest_mass : 1.0;
    // The step that is short for the lightest balls lets no heavy one be as fast: it would go through all others long
    // before.
    constexpr double kThroughOthers = 4096.0;  // times the speed that is designed for
    const double lightest = sizes.smallest_mass > 0.0 ? sizes.smallest_mass : mass;
    const double heavy_speed =
        setup.design_speed > 0.0 ? std::min(too_fast, kThroughOthers * setup.design_speed) : too_fast;
    const double top_energy = std::max({lightest * too_fast * too_fast, mass * heavy_speed * heavy_speed,
                                        limit * diameter, mass * field * diagonal * Dim});
    const double top_momentum = std::max(lightest * too_fast, mass * heavy_speed);
    params.observe.energy = make_fixed_grid<double>(power_of_two_above(top_energy));
    params.observe.momentum = make_fixed_grid<double>(power_of_two_above(top_momentum));
    params.observe.angular = make_fixed_grid<double>(power_of_two_above(top_momentum * diagonal));

    // In double precision steps are long, as the grid goes, but in wide boxes, far from zero, or where dt is short.
    constexpr double kLongStep = 0x1p26;
    params.offsets_drift = !setup.double_precision;
    for (int axis = 0; axis < Dim; ++axis) {
        params.gravity[axis] = gravity_kicks(setup, axis);
        const double resolution = params.coordinates.resolution[axis];
        params.offsets_drift = params.offsets_drift || setup.design_speed * setup.dt < kLongStep * resolution;
    }
    return params;
}

// What a run must not ask for: systems of units, or boxes, whose numbers do not fit the floats that the step computes
// with. Nothing else would notice: an infinite scale, or a square that underflows, makes forces or motions vanish in
// silence.

namespace limits {

/// Powers of two that a Real's normal numbers reach, and how far from them the step's constants stay: products of two
/// constants and a state must fit too.
template <class Real>
constexpr double kLargest = sizeof(Real) == 4 ? 120.0 : 1000.0;

template <class Real>
bool fits(double x) {
    return x == 0.0 || std::abs(std::log2(std::abs(x))) <= kLargest<Real>;
}

/// Of the strongest force that a run reckons with: its stiffness or its damping, the length or the speed.
inline AtFault force_at_fault(const SpringSetup& setup, const SoftContact& strongest, const BallSizes& sizes) {
    const double diameter = 2.0 * sizes.largest_radius;
    const Factor stiffness{setup.wall_stiffness > setup.stiffness ? Cause::kWallStiffness : Cause::kStiffness,
                           strongest.terms.stiffness};
    const Factor speed{Cause::kDesignSpeed, setup.design_speed};
    const auto force = [&](const SoftContact& contact) {
        return contact.strongest_force(diameter, setup.design_speed, sizes.largest_mass);
    };
    if (!(force(strongest) > 2.0 * force({setup.law, stiffness.value}))) {
        return at_fault({stiffness, {Cause::kBallRadius, sizes.largest_radius}});
    }
    if (setup.damping > 0.0) return at_fault({{Cause::kDamping, setup.damping}, speed});
    return at_fault({{stiffness.cause, stiffness.value, 0.5}, {Cause::kBallMass, sizes.largest_mass, 0.5}, speed});
}

}  // namespace limits

/// Why the spring solver cannot run a setup.
struct SpringRefusal {
    std::string why;  ///< a clause; empty: it can
    AtFault fault;

    explicit operator bool() const { return !why.empty(); }
};

template <class Real, int Dim>
SpringRefusal spring_refusal(const SpringSetup& setup, const BallSizes& sizes) {
    using limits::fits;
    int faces = 0;
    for (int axis = 0; axis < Dim; ++axis) {
        for (const auto side : setup.sides[axis]) faces += side == SpringSetup::Side::kWall ? 1 : 0;
    }
    if (faces + static_cast<int>(setup.walls.size()) > kMaxBoundaries) {
        return {"more than " + std::to_string(kMaxBoundaries) + " walls, faces of the box included", {}};
    }
    if (sizes.count >= kMaxBalls) return {"2^30 balls or more", {}};
    if (sizes.count == 0) return {};

    const std::string beyond =
        std::string(" is beyond the range of the precision") +
        (sizeof(Real) == 4 ? "; other units of length, mass or time, or double precision, may do" : "");
    const double diameter = 2.0 * sizes.largest_radius;
    const double speed = 0.5 * diameter / setup.dt;  // that is a fault
    const Factor radius{Cause::kBallRadius, sizes.largest_radius};
    const Factor per_dt{Cause::kTimeStep, setup.dt, -1.0};
    const SpringParams<Real, Dim> params = make_params<Real, Dim>(setup, sizes);
    // Squares: distances, and speeds down to one that moves a ball by a quantum a step. In double precision, too, the
    // CPU rejects candidates by distances in single precision.
    for (const double of_ball : {sizes.smallest_radius, sizes.largest_radius}) {
        if (fits<float>(4.0 * of_ball * of_ball)) continue;
        return {
            "the square of a ball's diameter is beyond the range of single precision, in which neighbours are "
            "sought; other units of length may do",
            at_fault({{Cause::kBallRadius, of_ball}})};
    }
    if (!fits<Real>(speed * speed)) {
        return {"the square of a radius per time step" + beyond, at_fault({radius, per_dt})};
    }
    for (int axis = 0; axis < Dim; ++axis) {
        const double from_zero = std::abs(setup.box_min[axis]);
        const bool far = from_zero > setup.box_size[axis];
        const Factor box{far ? Cause::kBoxMin : Cause::kBoxSize, far ? from_zero : setup.box_size[axis]};
        const AtFault box_at_fault{box.cause, box.value};
        const double resolution = params.coordinates.resolution[axis];
        const double slowest = resolution / setup.dt;
        if (!fits<Real>(slowest * slowest)) {
            return {"the square of the smallest step of a position per time step" + beyond,
                    resolution > diameter ? at_fault({box, per_dt}) : at_fault({radius, per_dt})};
        }
        const double coordinate = from_zero + setup.box_size[axis];
        if (params.coordinates.grain[axis] > 16 ||
            (resolution < 4.0 * plan::rounding_of(coordinate) && params.grid.periodic[axis])) {
            return {"the box is so far from zero that its coordinates have too few digits left", box_at_fault};
        }
        if (resolution > std::ldexp(diameter, -16)) {
            return {"the box is so wide, or so far from zero, that positions are coarser than 1/65536 of a diameter",
                    box_at_fault};
        }
    }
    // Of a light ball's thermal energy, some 2^-5 of what it has at the design speed, a millionth is counted, and of
    // the heat that it is given a hundredth.
    const AtFault masses_at_fault = at_fault({{Cause::kBallMass, sizes.largest_mass}});
    const double light = sizes.smallest_mass * setup.design_speed * setup.design_speed;
    const double unlike = sizes.smallest_mass > 0.0 ? sizes.largest_mass / sizes.smallest_mass : 1.0;
    if (unlike > 0x1p20 && light > 0.0 && std::ldexp(params.observe.energy.limit, -90) > std::ldexp(light, -25)) {
        return {
            "the masses of balls differ so much that the energies of light ones cannot be counted; mass = inf may do",
            masses_at_fault};
    }
    const bool heated = params.thermal_count > 0 || setup.thermostat_rate > 0.0;
    if (heated && unlike > 0x1p28) {
        return {"the masses of balls differ so much that the heat of light ones cannot be counted; mass = inf may do",
                masses_at_fault};
    }
    if (setup.wall_stiffness < setup.stiffness && !fits<Real>(setup.wall_stiffness)) {
        return {"the stiffness of walls" + beyond, {Cause::kWallStiffness, setup.wall_stiffness}};
    }
    const SoftContact strongest = strongest_contact(setup);
    const double limit = static_cast<double>(params.force_grid.limit);
    const double finest =
        std::ldexp(limit, -FixedGrid<Real>::kCoarseBits - (sizeof(Real) == 4 ? 0 : FixedGrid<Real>::kFineBits));
    if (!(limit > 0.0) || !fits<Real>(limit) || !fits<Real>(finest) || !fits<Real>(setup.stiffness) ||
        !fits<Real>(setup.wall_stiffness)) {
        return {std::string(strongest.force_of_stiffness()) + beyond, limits::force_at_fault(setup, strongest, sizes)};
    }
    if (sizes.largest_mass > 0.0) {
        const Factor mass{Cause::kBallMass, sizes.largest_mass};
        const Factor per_mass{mass.cause, mass.value, -1.0};
        const bool alone = !fits<Real>(sizes.largest_mass);
        if (alone || !fits<Real>(setup.dt / sizes.largest_mass)) {
            return {"a mass, or the time step over a mass," + beyond,
                    alone ? at_fault({mass}) : at_fault({{Cause::kTimeStep, setup.dt}, per_mass})};
        }
    }
    return {};
}

inline SpringRefusal spring_refusal(const SpringSetup& setup, const BallSizes& sizes) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? spring_refusal<double, 2>(setup, sizes) : spring_refusal<double, 3>(setup, sizes);
    }
    return setup.dimension == 2 ? spring_refusal<float, 2>(setup, sizes) : spring_refusal<float, 3>(setup, sizes);
}

}  // namespace carom
