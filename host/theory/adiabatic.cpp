#include "host/theory/adiabatic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "host/scene/walls.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/viscosity.hpp"

namespace carom {

namespace {

constexpr std::size_t kCurvePoints = 300;
constexpr double kFastest = 0.3;      // of the speed of sound
constexpr double kWalls = 0.3;        // what the effect of walls is known to
constexpr double kContacts = 0.25;    // of what contacts hold: more as the gas gets hotter, and walls have some
constexpr double kLeastGrowth = 0.1;  // of ln T, by which an exponent is told
constexpr double kLeastBalls = 8.0;   // that share work along one axis among all

/// S / V of the walls [1/length].
double surface_of(const Room& room, const Box& box) {
    double surface = 0.0;
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (!box.periodic(axis)) surface += 2.0 / room.axis[static_cast<std::size_t>(axis)].length();
    }
    return surface;
}

/// Whether flat walls across axes that reflect, moving or at rest, are all that acts on the balls, in every stage.
bool only_flat_walls_drive(const Scene& scene) {
    bool only = std::ranges::all_of(stages_of(scene), only_walls_drive);
    for (const Wall& wall : scene.walls) only = only && axis_across(wall, scene.dimension()) >= 0;
    for (const auto& faces : scene.box.faces) only = only && faces[0] != Face::kOpen && faces[1] != Face::kOpen;
    return only;
}

/// Whether the fills, and nothing else, start in all of the room.
bool is_filled(const Scene& scene, double radius) {
    if (scene.fills.empty() || !scene.balls.empty() || !scene.loads.empty()) return false;
    const Room room = room_at(scene, 0.0, radius);
    const double near = 2.0 * radius;
    for (const FillEntry& fill : scene.fills) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(scene.dimension()); ++axis) {
            if (fill.region_min[axis] > room.axis[axis].low + near ||
                fill.region_max[axis] < room.axis[axis].high - near)
                return false;
        }
    }
    return true;
}

}  // namespace

std::optional<AdiabaticCourse> adiabatic_course(const GasFacts& facts, const Scene& scene,
                                                const std::vector<double>& times, double temperature) {
    if (!facts.uniform || !facts.thermal || facts.left || facts.flows || times.size() < 2 || !(temperature > 0.0))
        return std::nullopt;
    if (!(scene.fastest_wall() > 0.0) || !only_flat_walls_drive(scene) || !is_filled(scene, facts.radius)) {
        return std::nullopt;
    }
    const int d = facts.dimension;
    const double ball = facts.ball_volume();
    const auto packing = [&](double volume) { return facts.balls * ball / volume; };
    const Room start = room_at(scene, times.front(), facts.radius);
    const double first = start.volume();
    // Slow work is p dV of the bulk between the walls' layers, and what the walls themselves take or leave where there
    // comes to be more of them.
    struct Work {
        double volume = 0.0;
        double surface = 0.0;   // of all walls
        double pressure = 0.0;  // of balls, over N T
        double tension = 0.0;   // the same
    };
    const auto work_in = [&](const Room& room) {
        const double volume = room.volume();
        const double surface = surface_of(room, scene.box);
        const double phi = fraction_between_walls(d, packing(volume), facts.diameter * surface);
        const double each = facts.balls * ball;
        return Work{volume, surface * volume, phi * hard_compressibility(d, phi) / each,
                    wall_tension(d, phi) * facts.diameter / each};
    };
    if (!(packing(first) < largest_fluid_fraction(d))) return std::nullopt;
    const double sound = sound_speed(d, packing(first)) * std::sqrt(temperature / facts.mass);
    const double fastest = scene.fastest_wall();
    if (fastest > kFastest * sound) return std::nullopt;

    // A momentum that stays 0 takes no part of the energy: axes across which walls push have the larger ones. No flat
    // wall lies across a periodic axis.
    int held = 0;
    for (int axis = 0; axis < d; ++axis) held += scene.box.periodic(axis) ? 1 : 0;
    const double larger = d * facts.balls / (d * facts.balls - held);
    AdiabaticCourse course;
    const double interval = (times.back() - times.front()) / static_cast<double>(kCurvePoints);
    Work before = work_in(start);
    bool moved = false;
    for (std::size_t k = 0; k <= kCurvePoints; ++k) {
        const double time = times.front() + interval * static_cast<double>(k);
        const Room room = room_at(scene, time, facts.radius);
        const double volume = room.volume();
        const double phi = packing(volume);
        if (!(volume > 0.0) || !(phi < largest_fluid_fraction(d))) return std::nullopt;
        const Work work = work_in(room);
        // Of the work contacts keep some, which is not felt as pressure.
        const double held_share = contact_energy_share(facts.softness, hard_compressibility(d, phi),
                                                       2.0 * facts.radius - facts.diameter, facts.diameter);
        course.growth +=
            larger / d / (1.0 + held_share) *
            ((work.pressure * work.volume + before.pressure * before.volume) * std::log(before.volume / volume) +
             (work.tension + before.tension) * (work.surface - before.surface));
        const double now = temperature * std::exp(course.growth) / (1.0 + held_share);
        course.time.push_back(time);
        course.temperature.push_back(now);
        course.pressure.push_back(work.pressure * facts.balls * now);
        const double bulk = larger * std::log(adiabatic_heating(d, packing(first), phi));
        // Friction, over the energy d/2 N T.
        const double rate = std::log(volume / before.volume) / interval;
        course.haste += longitudinal_viscosity(d, phi, facts.diameter, now, facts.mass) * rate * rate * volume *
                        interval / (0.5 * d * facts.balls * now);
        moved = moved || volume != first;
        const double collisions = bulk - larger * 2.0 / d * std::log(first / volume);
        course.walls = std::hypot(kWalls * (bulk - course.growth), finite_size_uncertainty(facts.balls) * collisions);
        course.contacts = kContacts * held_share * course.growth;
        before = work;
    }
    if (!moved) return std::nullopt;
    // The variance of slow work is 2 T times what of it is lost to friction. Jarzynski's equality (1997) has that for
    // starts drawn from one temperature, where the work on unlike energies comes on top; at one energy, as here, it is
    // the fluctuation-dissipation theorem of the force on the wall, with the T of each moment. Here as the variance of
    // ln T, which later work leaves as it is.
    course.scatter = std::sqrt(4.0 * course.haste / (d * facts.balls));
    // A wall that starts all at once leaves up to m u^2 / 2 per ball in waves.
    course.haste += facts.mass * fastest * fastest / (d * temperature);
    return course;
}

std::optional<AdiabaticCourse> adiabatic_course(const MeasuredRun& run) {
    if (run.changed || run.energy.size() < 2) return std::nullopt;
    const GasFacts facts = gas_facts(run, "", run.time.front());
    return adiabatic_course(facts, run.scene, run.time, 2.0 * run.energy.front() / (facts.dimension * facts.balls));
}

std::optional<TheoryCheck> adiabatic_check(const MeasuredRun& run) {
    const auto course = adiabatic_course(run);
    if (!course || std::abs(course->growth) < kLeastGrowth) return std::nullopt;
    double balls = 0.0;
    for (const double count : run.counts) balls += count;
    if (balls < kLeastBalls) return std::nullopt;
    const double grown = std::log(run.energy.back() / run.energy.front());
    const double ideal = 2.0 / run.dimension();
    // What balls have as a whole along periodic axes is not compressed.
    const double flow = run.dimension() * run.flow_energy / run.energy.front();
    return TheoryCheck{
        .what = "adiabatic exponent",
        .unit = "",
        .theory = "1 + 2 / d, by the equation of state",
        .measured = 1.0 + ideal * grown / course->growth,
        .error = ideal * course->scatter / std::abs(course->growth),
        .expected = 1.0 + ideal,
        .uncertainty =
            ideal * std::hypot(std::hypot(course->haste, course->walls, course->contacts) / course->growth, flow),
        .sigmas = std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace carom
