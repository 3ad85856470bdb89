#include "host/scene/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "host/scene/walls.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "kernels/physics/restitution.hpp"

// Every number that reaches the state (stiffness, damping ratios, dt) is made of + - * / and square roots, and of
// kernels/core/transcendental.hpp, so it is the same on every machine.

namespace carom {
namespace {

constexpr double kQuantaPerStep = 100.0;   // fewer, and rounding of positions heats or stops the slow balls
constexpr double kWideRatio = 4.0;         // cells hold the largest ball, so each holds very many of the smallest
constexpr double kWidestRatio = 10.0;      // beyond this the search for neighbours is not tested
constexpr double kFewestSteps = 10.0;      // a contact
constexpr double kStable = 2.0;            // w_max dt
constexpr double kThermalSpeeds = 5.0;     // of one component: 1 of 1.7 million exceeds that
constexpr double kStepsPerContact = 50.0;  // worst error of a collision's speed h^2 / 8 = 5e-4
constexpr double kRadiiPerStep = 0.1;      // of the smallest radius, at the design speed

bool has_walls(const Scene& scene) { return !all_walls(scene).empty(); }

/// Goes over the balls of a run, in the order of ids.
class Measuring {
public:
    void add(const Balls& balls) {
        if (species_.empty()) {
            species_.resize(balls.species_table.size());
            for (std::size_t row = 0; row < species_.size(); ++row) {
                species_[row].radius = balls.species_table[row].radius;
                species_[row].mass = balls.species_table[row].mass;
            }
            fastest_square_.resize(species_.size(), 0.0);
        }
        for (std::size_t at = 0; at < balls.size(); ++at) {
            const std::uint32_t row = balls.species[at];
            PresentSpecies& species = species_[row];
            ++species.count;
            species_of_.append(row);
            double square = 0.0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                square += balls.velocity[axis][at] * balls.velocity[axis][at];
            }
            fastest_square_[row] = std::max(fastest_square_[row], square);
            if (!species.mobile()) {
                const auto turns = [at](const std::vector<double>& spin) {
                    return at < spin.size() && spin[at] != 0.0;
                };
                // Of one that has left, too: what it gave is still in the rows of a run that goes on.
                if (square > 0.0 || std::ranges::any_of(balls.spin, turns)) figures_.bodies_move = true;
                continue;
            }
            ++movable_;
            const bool in = balls.gone[at] == 0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                const double v = balls.velocity[axis][at];
                squares_ += v * v;
                if (in) figures_.kinetic += 0.5 * species.mass * v * v;
            }
            if (!in) continue;
            figures_.mobile += 1.0;
            figures_.mobile_mass += species.mass;
            figures_.mobile_radius += species.radius;
        }
    }

    MeasuredBalls result(const Scene& scene);

private:
    BallFigures figures_;
    std::vector<PresentSpecies> species_;  // by rows of the table
    std::vector<double> fastest_square_;   // likewise
    SpeciesById species_of_;
    std::uint64_t movable_ = 0;  // of finite mass, in or not
    double squares_ = 0.0;       // of their velocities
};

/// The contact of the two lightest balls of finite mass, which has the smallest reduced mass and so the shortest
/// duration.
void add_lightest_pair(const std::vector<const PresentSpecies*>& mobile, double design_speed,
                       std::vector<PossibleContact>& contacts) {
    std::vector<const PresentSpecies*> lightest = mobile;
    const std::size_t enough = std::min<std::size_t>(2, lightest.size());
    std::ranges::partial_sort(lightest, lightest.begin() + static_cast<std::ptrdiff_t>(enough), {},
                              &PresentSpecies::mass);
    if (lightest.empty()) return;
    const PresentSpecies& a = *lightest[0];
    if (a.count < 2 && lightest.size() < 2) return;
    const PresentSpecies& b = a.count < 2 ? *lightest[1] : a;
    contacts.push_back(
        {reduced_mass(1.0 / a.mass, 1.0 / b.mass), std::min(a.radius, b.radius), 2.0 * design_speed, false});
}

double lightest_mass(const std::vector<PresentSpecies>& species) {
    double lightest = std::numeric_limits<double>::infinity();
    for (const PresentSpecies& one : species) lightest = std::min(lightest, one.mass);
    return lightest;
}

/// What the speed to design for is made of [length/time].
struct SpeedTerms {
    double hottest = 0.0;    ///< temperature that a fill, a wall or a thermostat is given [energy]
    double of_speeds = 0.0;  ///< temperature of fills whose speed is given [energy]
    double thermal = 0.0;    ///< sqrt(T / m) of the highest temperature and the lightest mass
    double ball = 0.0;       ///< of the fastest initial ball
    double drop = 0.0;       ///< gravity times the way down, corner to corner [length^2/time^2]
    double wall = 0.0;       ///< of the fastest wall
    bool falls = false;      ///< there are balls that gravity moves

    /// The largest of: five thermal speeds, the fastest initial ball, a fall through the box.
    [[nodiscard]] double of_balls() const { return std::max({kThermalSpeeds * thermal, ball, fall()}); }
    [[nodiscard]] double fall() const { return falls ? std::sqrt(2.0 * drop) : 0.0; }
    /// What a moving wall adds to a ball that it meets.
    [[nodiscard]] double by_walls() const { return 2.0 * wall; }
};

SpeedTerms speed_terms(const Scene& scene, const std::vector<PresentSpecies>& species) {
    SpeedTerms terms;
    terms.hottest = scene.hottest_bath();
    for (const FillEntry& fill : scene.fills) {
        const double mass = heaviest_mass(scene, fill.species);
        if (fill.count == 0 || std::isinf(mass)) continue;
        if (fill.temperature) terms.hottest = std::max(terms.hottest, *fill.temperature);
        if (fill.speed) {
            terms.of_speeds = std::max(terms.of_speeds, mass * *fill.speed * *fill.speed / scene.dimension());
        }
    }
    terms.thermal = std::sqrt(std::max(terms.hottest, terms.of_speeds) / lightest_mass(species));
    const auto drop_in = [&](const Vector3& gravity) {
        double sum = 0.0;
        for (int axis = 0; axis < scene.dimension(); ++axis) sum += std::abs(gravity[axis]) * scene.box.size[axis];
        return sum;
    };
    terms.drop = drop_in(scene.physics.gravity);
    for (const Stage& stage : scene.stages) terms.drop = std::max(terms.drop, drop_in(stage.gravity));
    for (const PresentSpecies& one : species) {
        terms.ball = std::max(terms.ball, one.fastest);
        terms.falls = terms.falls || one.mobile();
    }
    terms.wall = scene.fastest_wall();
    return terms;
}

/// The speed of balls and what walls add to it. If nothing moves: one largest
/// diameter per unit of time; run.until must not come in, for where a run stops may not change its trajectory.
double design_speed(const SpeedTerms& terms, const std::vector<PresentSpecies>& species) {
    const double speed = terms.of_balls() + terms.by_walls();
    if (speed > 0.0) return speed;
    double largest = 0.0;
    for (const PresentSpecies& one : species) largest = std::max(largest, one.radius);
    return largest > 0.0 ? 2.0 * largest : 1.0;
}

/// Of balls that were loaded.
double fastest_loaded(const Scene& scene) {
    double fastest = 0.0;
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) fastest = std::max(fastest, load.loaded->fastest);
    }
    return fastest;
}

/// Of those and the [[ball]]s: the balls of a fill have theirs from its temperature.
double fastest_entry(const Scene& scene) {
    double square = 0.0;
    for (const BallEntry& ball : scene.balls) {
        const Vector3& v = ball.velocity;
        square = std::max(square, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return std::max(std::sqrt(square), fastest_loaded(scene));
}

double smallest_radius(const std::vector<PresentSpecies>& species) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const PresentSpecies& one : species) smallest = std::min(smallest, one.radius);
    return smallest;
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

/// The time step, or a little less, so that frames fall on the multiples of output.every: of one that the scene says
/// itself, for where a run stops may not change its trajectory, and the default follows from that.
double dividing(const Scene& scene, double dt) {
    const double every = scene.output.every;
    if (!scene.sources->has("output.every") || !(every > dt)) return dt;
    const double steps = every / dt;
    return steps < kMostSteps ? every / std::ceil(steps) : dt;
}

/// The largest share of the smaller radius that two balls of the scene overlap by when each has the design speed.
double overlap_at_design_speed(const std::vector<PresentSpecies>& species, const SpringDesign& design) {
    double worst = 0.0;
    for (const PossibleContact& contact : extreme_contacts(species, false, design.design_speed)) {
        worst = std::max(worst, design.pair_contact().largest_overlap(contact.approach, contact.reduced_mass) /
                                    contact.smaller_radius);
    }
    return worst;
}

}  // namespace

bool PresentSpecies::mobile() const { return !std::isinf(mass); }

std::vector<PossibleContact> extreme_contacts(const std::vector<PresentSpecies>& species, bool walls,
                                              double design_speed) {
    std::vector<PossibleContact> contacts;
    std::vector<const PresentSpecies*> mobile;
    std::vector<const PresentSpecies*> by_radius;
    for (const PresentSpecies& one : species) {
        by_radius.push_back(&one);
        if (!one.mobile()) continue;
        mobile.push_back(&one);
        if (walls) contacts.push_back({one.mass, one.radius, design_speed, true});
    }
    add_lightest_pair(mobile, design_speed, contacts);

    // From the largest radius down each species has the smaller radius of all its pairs with those before it. Of these
    // the heaviest mobile one and the fastest of the others matter; every quantity grows with each of them.
    std::ranges::sort(by_radius, std::ranges::greater{}, &PresentSpecies::radius);
    const PresentSpecies* heaviest = nullptr;
    const PresentSpecies* fastest_fixed = nullptr;
    for (const PresentSpecies* one : by_radius) {
        const bool moves = one->mobile();
        if (moves && one->count > 1 && (heaviest == nullptr || one->mass > heaviest->mass)) heaviest = one;
        if (heaviest != nullptr) {
            const double speed = design_speed + (moves ? design_speed : one->fastest);
            contacts.push_back({reduced_mass(1.0 / one->mass, 1.0 / heaviest->mass), one->radius, speed, false});
        }
        if (moves && fastest_fixed != nullptr) {
            const double reduced = reduced_mass(1.0 / one->mass, 1.0 / fastest_fixed->mass);
            contacts.push_back({reduced, one->radius, design_speed + fastest_fixed->fastest, false});
        }
        if (moves && (heaviest == nullptr || one->mass > heaviest->mass)) heaviest = one;
        if (!moves && (fastest_fixed == nullptr || one->fastest > fastest_fixed->fastest)) fastest_fixed = one;
    }
    return contacts;
}

MeasuredBalls Measuring::result(const Scene& scene) {
    MeasuredBalls measured{figures_, species_, std::move(species_of_)};
    std::vector<PresentSpecies>& species = measured.species;
    double balls = 0.0;
    for (std::size_t row = 0; row < species.size(); ++row) {
        species[row].fastest = std::sqrt(fastest_square_[row]);
        if (!species[row].mobile()) continue;
        balls += static_cast<double>(species[row].count);
        measured.mean_radius += static_cast<double>(species[row].count) * species[row].radius;
    }
    measured.mean_radius = balls == 0.0 ? 0.0 : measured.mean_radius / balls;
    measured.rms_speed = movable_ == 0 ? 0.0 : std::sqrt(squares_ / static_cast<double>(movable_));
    std::erase_if(species, [](const PresentSpecies& one) { return one.count == 0; });
    measured.packing_fraction = packing_fraction(scene, species);
    if (!species.empty()) {
        const auto [smallest, largest] = std::ranges::minmax_element(species, {}, &PresentSpecies::radius);
        measured.size_ratio = largest->radius / smallest->radius;
    }
    return measured;
}

MeasuredBalls measure_balls(const Scene& scene, const SolverState& state) {
    Measuring measuring;
    state.for_each_part([&](const Balls& part) { measuring.add(part); });
    return measuring.result(scene);
}

MeasuredBalls measure_balls(const Scene& scene, const Balls& balls) {
    Measuring measuring;
    measuring.add(balls);
    return measuring.result(scene);
}

SpringDesign design_spring(const Scene& scene, const Balls& balls) {
    return design_spring(scene, measure_balls(scene, balls));
}

SpringDesign design_spring(const Scene& scene, const MeasuredBalls& balls) {
    const std::vector<PresentSpecies>& species = balls.species;
    SpringDesign design{balls};
    const SpeedTerms speeds = speed_terms(scene, species);
    design.thermal_speed = speeds.thermal;
    design.design_speed = design_speed(speeds, species);
    const double smallest = smallest_radius(species);

    const std::vector<PossibleContact> contacts = extreme_contacts(species, has_walls(scene), design.design_speed);
    const SpringKeys& keys = scene.spring;
    design.law = contact_law_called(keys.law, keys.own);
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
        design.dt = dividing(scene, design.dt);
    }
    design.phase_step = highest_frequency * design.dt;
    const double steps = scene.run.until / design.dt;
    design.steps = steps < kMostSteps ? static_cast<std::uint64_t>(std::rint(steps)) : 0;  // 0: the plan refuses it
    return design;
}

std::vector<std::string> design_warnings(const Scene& scene, const MeasuredBalls& balls, const SpringDesign& design,
                                         double quantum) {
    std::vector<std::string> warnings;
    if (balls.species.empty()) return warnings;
    const double smallest = smallest_radius(balls.species);

    if (std::string unstable = instability(design); !unstable.empty()) {
        warnings.push_back(std::move(unstable));
    } else if (design.contact_duration > 0.0 && design.dt > design.contact_duration / kFewestSteps) {
        warnings.push_back(fmt::format(
            "dt = {:.3g} is more than a tenth of the shortest contact ({:.3g}); spring.dt = {:.3g} would resolve it",
            design.dt, design.contact_duration, design.contact_duration / kStepsPerContact));
    }
    if (design.design_speed * design.dt > 1.001 * kRadiiPerStep * smallest) {
        warnings.push_back(
            fmt::format("a ball at the design speed ({:.3g}) moves {:.2g} of the smallest radius in a step; contacts "
                        "may be missed above 0.1",
                        design.design_speed, design.design_speed * design.dt / smallest));
    }
    if (const double overlap = overlap_at_design_speed(balls.species, design);
        scene.spring.stiffness && overlap > 1.001 * scene.spring.max_overlap) {
        warnings.push_back(
            fmt::format("overlaps may reach {:.2g} of the radius at the design speed ({:.3g}), above "
                        "spring.max_overlap = {}; stiffness = \"auto\" would avoid that",
                        overlap, design.design_speed, scene.spring.max_overlap));
    }
    if (quantum > 0.0 && design.rms_speed > 0.0 && design.rms_speed * design.dt < kQuantaPerStep * quantum) {
        warnings.push_back(fmt::format(
            "a ball at the mean speed moves {:.3g} quanta of position in a step, under {}; use {}a larger dt",
            design.rms_speed * design.dt / quantum, kQuantaPerStep,
            scene.run.precision == Precision::kSingle ? "--precision double or " : ""));
    }
    if (design.size_ratio > kWidestRatio) {
        warnings.push_back(fmt::format(
            "the largest ball is {:.3g} times the smallest, above {}; the search for neighbours will be very slow",
            design.size_ratio, kWidestRatio));
    } else if (design.size_ratio > kWideRatio) {
        warnings.push_back(
            fmt::format("the largest ball is {:.3g} times the smallest; the search for neighbours will be slow",
                        design.size_ratio));
    }
    if (scene.spring.damping && (scene.physics.restitution < 1.0 || scene.physics.wall_restitution < 1.0)) {
        warnings.push_back("spring.damping is a number, so physics.restitution is not used");
    }
    return warnings;
}

double expected_speed(const Scene& scene, const MeasuredBalls& balls) {
    return speed_terms(scene, balls.species).of_balls();
}

std::string instability(const SpringDesign& design) {
    if (!(design.phase_step >= kStable)) return "";
    return fmt::format("dt = {:.3g} is unstable: the stiffest contact needs less than {:.3g}", design.dt,
                       kStable * design.dt / design.phase_step);
}

std::string label_at_fault(const Scene& scene, const MeasuredBalls& balls, const SpringDesign& design, AtFault fault) {
    const SpringKeys& keys = scene.spring;
    const Sources& sources = *scene.sources;
    const SpeedTerms speeds = speed_terms(scene, balls.species);
    const double smallest = smallest_radius(balls.species);
    double heaviest = 0.0;
    for (const PresentSpecies& one : balls.species) heaviest = std::max(heaviest, one.mobile() ? one.mass : 0.0);
    const Factor speed{Cause::kDesignSpeed, design.design_speed};
    const Factor light{Cause::kBallMass, lightest_mass(balls.species), -1.0};
    const Factor narrow{Cause::kBallRadius, smallest, -1.0};
    const Factor shallow{Cause::kMaxOverlap, keys.max_overlap, -1.0};
    const bool at_walls = design.wall_stiffness > design.stiffness;
    const bool given = at_walls ? keys.wall_stiffness.has_value() : keys.stiffness.has_value();
    for (;;) {
        switch (fault.cause) {
            case Cause::kNone:
                return {};
            case Cause::kBallRadius:
            case Cause::kBallMass: {
                const double at_most = fault.value * (1.0 + 1e-12);  // it may be the inverse of an inverse
                const bool mass = fault.cause == Cause::kBallMass;
                const std::string key =
                    mass ? sources.label_of_largest({"species.mass", "ball.mass", "load.mass", "fill.mass"}, at_most)
                         : sources.label_of_largest({"species.radius", "ball.radius", "load.radius", "fill.radius"},
                                                    at_most);
                return key.empty() ? sources.label("load[0].file") : key;
            }
            case Cause::kBoxSize:
                return sources.label("box.size");
            case Cause::kBoxMin:
                return sources.label("box.min");
            case Cause::kDamping:
                return sources.label("spring.damping");
            case Cause::kTimeStep:
                if (keys.dt) return sources.label("spring.dt");
                if (!(design.dt < kRadiiPerStep * smallest / design.design_speed)) {
                    fault = at_fault({speed, narrow});
                } else if (given || keys.damping) {
                    fault = at_fault({{at_walls ? Cause::kWallStiffness : Cause::kStiffness,
                                       std::max(design.stiffness, design.wall_stiffness)},
                                      {Cause::kDamping, keys.damping.value_or(1.0)},
                                      light});
                } else {
                    // Of the lightest balls, on springs that hold the heaviest.
                    fault = at_fault({speed, narrow, shallow, {Cause::kBallMass, heaviest / light.value, 0.5}});
                    if (fault.cause == Cause::kBallMass) fault = at_fault({{Cause::kBallMass, heaviest}, light});
                }
                break;
            case Cause::kMaxOverlap:
                return sources.label("spring.max_overlap");
            case Cause::kWallStiffness:
                if (keys.wall_stiffness) return sources.label("spring.wall_stiffness");
                fault.cause = Cause::kStiffness;
                break;
            case Cause::kStiffness:
                if (keys.stiffness) return sources.label("spring.stiffness");
                fault = at_fault({{Cause::kBallMass, heaviest},
                                  {speed.cause, speed.value, 2.0},
                                  {narrow.cause, narrow.value, -2.0},
                                  {shallow.cause, shallow.value, -2.0}});
                break;
            case Cause::kDesignSpeed:
                if (speeds.by_walls() > speeds.of_balls()) {
                    fault.cause = Cause::kWallSpeed;
                } else if (speeds.of_balls() == 0.0) {
                    fault = {Cause::kBallRadius, smallest};
                } else if (speeds.of_balls() == speeds.fall()) {
                    fault = at_fault({{Cause::kBoxSize, std::ranges::max(scene.box.size)},
                                      {Cause::kGravity, speeds.drop / std::ranges::max(scene.box.size)}});
                } else if (speeds.of_balls() == fastest_entry(scene) || speeds.of_speeds > speeds.hottest) {
                    fault.cause = Cause::kBallSpeed;
                } else {
                    fault = at_fault({{Cause::kTemperature, speeds.hottest}, light});
                }
                break;
            case Cause::kBallSpeed:
                for (std::size_t load = 0; load < scene.loads.size(); ++load) {
                    const auto& loaded = scene.loads[load].loaded;
                    if (loaded == nullptr || loaded->fastest != speeds.of_balls()) continue;
                    return sources.label(fmt::format("load[{}].file", load));
                }
                return sources.label_of_largest({"ball.velocity", "ball.speed", "fill.speed"});
            case Cause::kTemperature:
                return sources.label_of_largest({"fill.temperature", "box.wall_temperature", "wall.temperature",
                                                 "thermostat.temperature", "stage.wall_temperature",
                                                 "stage.wall_entry_temperature", "stage.thermostat.temperature"});
            case Cause::kGravity:
                return sources.label_of_largest({"physics.gravity", "stage.gravity"});
            case Cause::kWallSpeed:
                return sources.label_of_largest({"wall.velocity", "stage.wall_velocity"});
        }
    }
}

}  // namespace carom
