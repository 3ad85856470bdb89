#include "host/scene/design.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/scene/contacts.hpp"
#include "host/scene/walls.hpp"
#include "kernels/physics/pair_distribution.hpp"

// Every number that reaches the state (stiffness, damping ratios, dt) is made of + - * / and square roots, and of
// kernels/core/transcendental.hpp, so it is the same on every machine.

namespace carom {
namespace {

constexpr double kThermalSpeeds = 5.0;     // of one component: 1 of 1.7 million exceeds that
constexpr double kStepsPerContact = 50.0;  // worst error of a collision's speed h^2 / 8 = 5e-4
constexpr double kMostSteps = 9.2e18;      // that 63 bits count
constexpr double kRadiiPerStep = 0.1;      // of the smallest radius, at the design speed

bool has_walls(const Scene& scene) { return !all_walls(scene).empty(); }

/// sqrt(T / m) of the highest temperature, of fills, walls and thermostats, and the lightest mass.
double thermal_speed(const Scene& scene, const std::vector<PresentSpecies>& species) {
    double temperature = scene.hottest_bath();
    for (const FillEntry& fill : scene.fills) {
        const double mass = scene.species[fill.species].mass;
        if (fill.count == 0 || std::isinf(mass)) continue;
        if (fill.temperature) temperature = std::max(temperature, *fill.temperature);
        if (fill.speed) temperature = std::max(temperature, mass * *fill.speed * *fill.speed / scene.dimension());
    }
    double lightest = std::numeric_limits<double>::infinity();
    for (const PresentSpecies& one : species) lightest = std::min(lightest, one.mass);
    return std::sqrt(temperature / lightest);
}

/// The largest of: five thermal speeds, the fastest initial ball, a fall through the box; and twice the speed of the
/// fastest wall on top. If nothing moves: one largest
/// diameter per unit of time; run.until must not come in, for where a run stops may not change its trajectory.
double design_speed(const Scene& scene, const std::vector<PresentSpecies>& species, double thermal) {
    double speed = kThermalSpeeds * thermal;
    double drop = 0.0;  // gravity times the way down, corner to corner [length^2/time^2]
    const auto drop_in = [&](const Vector3& gravity) {
        double sum = 0.0;
        for (int axis = 0; axis < scene.dimension(); ++axis) sum += std::abs(gravity[axis]) * scene.box.size[axis];
        return sum;
    };
    drop = drop_in(scene.physics.gravity);
    for (const Stage& stage : scene.stages) drop = std::max(drop, drop_in(stage.gravity));
    for (const PresentSpecies& one : species) {
        speed = std::max(speed, one.fastest);
        if (one.mobile()) speed = std::max(speed, std::sqrt(2.0 * drop));
    }
    speed += 2.0 * scene.fastest_wall();  // what a moving wall adds to a ball that it meets
    if (speed > 0.0) return speed;
    double largest = 0.0;
    for (const PresentSpecies& one : species) largest = std::max(largest, one.radius);
    return largest > 0.0 ? 2.0 * largest : 1.0;
}

double rms_speed(const Balls& balls) {
    double sum = 0.0;
    std::uint64_t count = 0;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        if (std::isinf(balls.species_of(id).mass)) continue;
        ++count;
        for (int axis = 0; axis < balls.dimension; ++axis) sum += balls.velocity[axis][id] * balls.velocity[axis][id];
    }
    return count == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(count));
}

double packing_fraction(const Scene& scene, const std::vector<PresentSpecies>& species) {
    double volume = 0.0;
    for (const PresentSpecies& one : species) {
        volume += static_cast<double>(one.count) * ball_volume(scene.dimension(), one.radius);
    }
    return volume / scene.box.volume();
}

/// Stiffness that keeps overlaps under their limit in every contact.
double needed_stiffness(const SoftContact& law, const std::vector<PossibleContact>& contacts, double max_overlap) {
    double stiffness = 0.0;
    for (const PossibleContact& contact : contacts) {
        stiffness = std::max(
            stiffness, law.stiffness_for(max_overlap * contact.smaller_radius, contact.approach, contact.reduced_mass));
    }
    return stiffness;
}

}  // namespace

BallFigures measure_balls(const Scene& scene, const Balls& balls) {
    const std::vector<PresentSpecies> species = present_species(balls);
    BallFigures figures{.rms_speed = rms_speed(balls), .packing_fraction = packing_fraction(scene, species)};
    if (!species.empty()) {
        const auto [smallest, largest] = std::ranges::minmax_element(species, {}, &PresentSpecies::radius);
        figures.size_ratio = largest->radius / smallest->radius;
    }
    return figures;
}

SpringDesign design_spring(const Scene& scene, const Balls& balls) {
    const std::vector<PresentSpecies> species = present_species(balls);
    SpringDesign design{measure_balls(scene, balls)};
    design.thermal_speed = thermal_speed(scene, species);
    design.design_speed = design_speed(scene, species, design.thermal_speed);
    double smallest = std::numeric_limits<double>::infinity();
    for (const PresentSpecies& one : species) smallest = std::min(smallest, one.radius);

    const std::vector<PossibleContact> contacts = extreme_contacts(species, has_walls(scene), design.design_speed);
    const SpringKeys& keys = scene.spring;
    design.law = contact_law_called(keys.law);
    design.stiffness =
        keys.stiffness ? *keys.stiffness : needed_stiffness(design.pair_contact(), contacts, keys.max_overlap);
    if (design.stiffness == 0.0) design.stiffness = 1.0;  // nothing can touch; the number has no meaning
    design.wall_stiffness = keys.wall_stiffness.value_or(design.stiffness);
    if (keys.damping) {
        design.damping = *keys.damping;
    } else {
        design.damping_ratio = design.pair_contact().damping_ratio(scene.physics.restitution);
        design.wall_damping_ratio = design.wall_contact().damping_ratio(scene.physics.wall_restitution);
    }

    double shortest = std::numeric_limits<double>::infinity();
    double highest_frequency = 0.0;
    for (const PossibleContact& contact : contacts) {
        const SoftContact law = contact.wall ? design.wall_contact() : design.pair_contact();
        shortest = std::min(shortest, law.duration(contact.approach, contact.reduced_mass));
        highest_frequency = std::max(highest_frequency, law.frequency(contact.approach, contact.reduced_mass));
    }
    if (!contacts.empty()) design.contact_duration = shortest;
    if (keys.dt) {
        design.dt = *keys.dt;
    } else {
        design.dt = std::min(shortest / kStepsPerContact, kRadiiPerStep * smallest / design.design_speed);
        if (std::isinf(design.dt)) design.dt = scene.run.until > 0.0 ? scene.run.until / 100.0 : 1.0;  // no balls
    }
    design.phase_step = highest_frequency * design.dt;
    const double steps = scene.run.until / design.dt;
    design.steps = steps < kMostSteps ? static_cast<std::uint64_t>(std::rint(steps)) : 0;  // 0: the plan refuses it
    return design;
}

}  // namespace carom
