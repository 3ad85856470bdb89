#include "host/theory/gas_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/scene/walls.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/heat_conduction.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

/// Of the rotation of all balls about an axis of the box through a point, L^2 / (2 I), the largest [energy].
template <class MassOf>
double rotation_energy(const BallColumns& balls, const MassOf& mass_of, const Vec<double, 3>& center) {
    double most = 0.0;
    for (int a = 0; a < balls.dimension; ++a) {
        for (int b = 0; b < a; ++b) {
            double angular = 0.0;
            double inertia = 0.0;
            for (std::size_t ball = 0; ball < balls.size(); ++ball) {
                const double x = balls.position[a][ball] - center[a];
                const double y = balls.position[b][ball] - center[b];
                angular += mass_of(ball) * (x * balls.velocity[b][ball] - y * balls.velocity[a][ball]);
                inertia += mass_of(ball) * (x * x + y * y);
            }
            if (inertia > 0.0) most = std::max(most, 0.5 * angular * angular / inertia);
        }
    }
    return most;
}

}  // namespace

void MeasuredRun::look_at_start(const BallColumns& balls, const std::vector<std::uint32_t>& species_of) {
    for (int axis = 0; axis < balls.dimension; ++axis) {
        const std::vector<double>& velocity = balls.velocity[static_cast<std::size_t>(axis)];
        double momentum = 0.0;
        double mass = 0.0;
        for (std::size_t ball = 0; ball < balls.size(); ++ball) {
            if (balls.gone[ball] != 0) continue;
            const double own = species[species_of[ball]].mass;
            if (std::isinf(own)) {
                bodies_move = bodies_move || velocity[ball] != 0.0;
                continue;
            }
            momentum += own * velocity[ball];
            mass += own;
        }
        if (box().periodic(axis) && mass > 0.0) flow_energy = std::max(flow_energy, 0.5 * momentum * momentum / mass);
    }
    const auto mass_of = [&](std::size_t ball) {
        const double own = species[species_of[ball]].mass;
        return balls.gone[ball] == 0 && std::isfinite(own) ? own : 0.0;
    };
    // A round wall about them takes nothing of what they turn about its centre.
    for (const Boundary<3>& wall : entry_boundaries<3>(scene)) {
        const bool about = wall.shape.visit([](const auto& shape) { return std::isfinite(shape.largest_ball()); });
        if (about) flow_energy = std::max(flow_energy, rotation_energy(balls, mass_of, wall.reference));
    }
}

double MeasuredRun::measured_time(double since) const {
    double sum = 0.0;
    if (!time.empty() && time.front() > since) {  // a resumed run has not all rows
        double begin = since;
        for (const Stage& stage : scene.stages) {
            const double end = std::clamp(stage.until, begin, std::max(begin, time.back()));
            if (stage.measure) sum += end - begin;
            begin = end;
        }
        const bool measures = scene.stages.empty() || scene.stages.back().measure;
        return measures ? sum + std::max(0.0, time.back() - begin) : sum;
    }
    for (std::size_t row = 1; row < time.size(); ++row) {
        if (time[row] > since && scene.measures(time[row])) sum += time[row] - time[row - 1];
    }
    return sum;
}

double MeasuredRun::measured_parts(double since) const {
    double parts = 0.0;
    bool measured = false;
    for (const Stage& stage :
         stages_of(scene, since, time.empty() ? std::numeric_limits<double>::infinity() : time.back())) {
        if (stage.measure && !measured) parts += 1.0;
        measured = stage.measure;
    }
    return parts;
}

namespace {

constexpr double kMostOfForgetting = 0.1;  // of the measured time, that a bath takes to forget
constexpr double kChanceFlow = 2.0;  // temperatures, of the energy of a flow: four times what chance has in the mean

double mean_temperature(const MeasuredRun& run, double from) {
    // The mean of the same rows, of long runs of all; and of a run that was resumed the rows of before are in another
    // file, and in the means alone.
    const auto mean = std::ranges::find(run.means, "temperature", &MeasuredMean::name);
    const bool resumed = !run.time.empty() && run.time.front() > from;
    if (mean != run.means.end() && (resumed || from == run.means_since)) return mean->mean;
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t row = 0; row < run.temperature.size(); ++row) {
        const double temperature = run.temperature[row];
        if (run.time[row] < from || !run.scene.measures(run.time[row]) || !std::isfinite(temperature)) continue;
        sum += temperature;
        count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

/// Of the motion of all balls as a whole while it is measured, which stages before may have changed.
double flow_energy(const MeasuredRun& run) {
    const auto mean = std::ranges::find(run.means, "flow_energy", &MeasuredMean::name);
    return mean != run.means.end() && std::isfinite(mean->mean) ? mean->mean : run.flow_energy;
}

/// Takes note of how all balls move as a whole: the momentum of all over their mass. Nothing changes it along a
/// periodic axis but a bath, or a shape in the way, of which little is left in the mean.
void add_drift(GasFacts& facts, const MeasuredRun& run) {
    double balls = 0.0;
    double mass = 0.0;
    for (std::size_t k = 0; k < run.counts.size(); ++k) {
        if (std::isinf(run.species[k].mass)) continue;
        balls += run.counts[k];
        mass += run.counts[k] * run.species[k].mass;
    }
    facts.about_drift = facts.temperature;
    if (facts.bath || !(mass > 0.0)) return;
    double energy = 0.0;
    static constexpr std::array<std::string_view, 3> kRows{"momentum.x", "momentum.y", "momentum.z"};
    for (int axis = 0; axis < facts.dimension; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const auto mean = std::ranges::find(run.means, kRows[k], &MeasuredMean::name);
        if (!run.box().periodic(axis) || mean == run.means.end() || !std::isfinite(mean->mean)) continue;
        facts.drift[k] = mean->mean / mass;
        energy += 0.5 * mass * facts.drift[k] * facts.drift[k];
    }
    facts.about_drift = temperature_of_some(facts.temperature, balls, 0.0, 2.0 * energy / facts.dimension, 0.0);
}

/// The stages that measure between two times.
std::vector<Stage> measuring_stages(const Scene& scene, double from, double to) {
    std::vector<Stage> stages = stages_of(scene, from, to);
    std::erase_if(stages, [](const Stage& stage) { return !stage.measure; });
    return stages;
}

/// The one axis along which heat flows through a gas that nothing else drives: see GasFacts.
void add_heat_flow(GasFacts& facts, const Scene& scene, const std::vector<Stage>& stages) {
    const auto& faces = stages.front().wall_temperature;
    for (const Stage& stage : stages) {
        if (stage.wall_temperature != faces || stage.thermostat.kind != Thermostat::Kind::kNone) return;
    }
    if (!scene.walls.empty() || facts.has_gravity() || !facts.one_gravity) return;
    int axis = -1;
    for (int k = 0; k < scene.dimension(); ++k) {
        const auto& pair = faces[static_cast<std::size_t>(k)];
        if (pair[0] == 0.0 && pair[1] == 0.0) continue;
        if (axis >= 0 || pair[0] == pair[1] || pair[0] == 0.0 || pair[1] == 0.0) return;
        axis = k;
    }
    if (axis < 0) return;
    facts.heat_axis = axis;
    facts.wall_temperature = faces[static_cast<std::size_t>(axis)];
}

/// What drives the balls while they are measured.
void add_drive(GasFacts& facts, const Scene& scene, const std::vector<Stage>& stages) {
    const auto is_warm = [](double temperature) { return temperature > 0.0; };
    facts.undriven = !stages.empty();
    if (stages.empty()) return;
    double bath = 0.0;     // temperature of all of them
    bool in_bath = false;  // in this stage
    bool always = true;
    const auto meets = [&](double temperature) {
        if (temperature == 0.0) return;
        in_bath = true;
        facts.undriven = facts.undriven && (bath == 0.0 || bath == temperature);
        bath = temperature;
    };
    facts.gravity = stages.front().gravity;
    for (const Stage& stage : stages) {
        facts.one_gravity = facts.one_gravity && stage.gravity == facts.gravity;
        in_bath = false;
        for (const auto& axis : stage.wall_temperature) {
            for (const double temperature : axis) meets(temperature);
        }
        for (const double temperature : stage.wall_entry_temperature) meets(temperature);
        const bool moves = std::ranges::any_of(stage.wall_velocity, [](double velocity) { return velocity != 0.0; });
        facts.undriven = facts.undriven && !moves && stage.thermostat.kind != Thermostat::Kind::kRescale;
        const bool andersen = stage.thermostat.kind == Thermostat::Kind::kAndersen;
        if (andersen) {
            meets(stage.thermostat.temperature);
            facts.andersen = std::max(facts.andersen, stage.thermostat.rate);
        }
        // Behind a [[wall]] or a body there may be balls that come to no warm one.
        const bool open =
            !facts.bodies && (scene.walls.empty() || std::ranges::all_of(stage.wall_entry_temperature, is_warm));
        always = always && in_bath && (andersen || open);
    }
    facts.warmed = bath > 0.0;
    facts.bath_temperature = always ? bath : 0.0;
    add_heat_flow(facts, scene, stages);
}

/// What GasFacts::bath_time is in a stage: balls take from the warm faces what they lack, and conduct it through the
/// box.
double bath_time(const GasFacts& facts, const Box& box, const Stage& stage) {
    double rate = 0.0;
    if (stage.thermostat.kind == Thermostat::Kind::kAndersen) rate += stage.thermostat.rate;
    const double diffusivity = facts.heat_diffusivity();
    for (int axis = 0; axis < facts.dimension; ++axis) {
        const auto& faces = stage.wall_temperature[static_cast<std::size_t>(axis)];
        auto warm = static_cast<double>(std::ranges::count_if(faces, [](double face) { return face > 0.0; }));
        // A face that balls fall away from meets few of them, or none.
        if (const double g = facts.gravity[static_cast<std::size_t>(axis)]; g != 0.0)
            warm = faces[g < 0.0 ? 0 : 1] > 0.0;
        if (warm == 0.0) continue;
        const double length = box.length(axis, facts.radius);
        double filled = length;
        double farthest = 2.0 * length / (warm * kPi);  // of the longest wave exp(-D t / farthest^2)
        if (const double g = facts.gravity[static_cast<std::size_t>(axis)]; g != 0.0) {
            const double scale_height = facts.bath_temperature / (facts.mass * std::abs(g));
            filled = column_height(scale_height, length);
            farthest = std::min(farthest, column_heat_wave(scale_height));
        }
        // Heat conducts as well where balls are denser, and there is more of it.
        rate += 1.0 / (1.0 / (warm * wall_exchange_rate(facts.dimension, facts.bath_temperature, facts.mass, filled)) +
                       farthest * farthest / diffusivity * length / filled);
    }
    return rate > 0.0 ? facts.heat_capacity() / rate : std::numeric_limits<double>::infinity();
}

/// GasFacts::spreading_time: of the longest wave that fits, and of one in a column.
void add_spreading(GasFacts& facts, const Box& box) {
    if (!(facts.andersen > 0.0) || !(facts.temperature > 0.0)) return;
    // Kinds change places without any pressure.
    const double stiffness =
        facts.uniform && facts.is_fluid() ? isothermal_stiffness(facts.dimension, facts.packing_fraction) : 1.0;
    for (int axis = 0; axis < facts.dimension; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const auto& [low, high] = box.faces[k];
        const double fall = 0.5 * facts.mass * std::abs(facts.gravity[k]) / facts.temperature;  // over T, half
        const bool open = low == Face::kOpen || high == Face::kOpen;
        if (open && fall == 0.0) continue;
        const double wave = open ? 0.0 : (box.periodic(axis) ? 2.0 : 1.0) * kPi / box.length(axis, facts.radius);
        facts.spreading_time[k] =
            redrawn_spreading_time(wave * wave + fall * fall, stiffness, facts.mass, facts.temperature, facts.andersen);
    }
}

double stiffness_of(const SolverDescription& description) {
    for (const auto& [name, value] : description.parameters) {
        if (name == "stiffness") return value;
    }
    return 0.0;
}

}  // namespace

std::vector<Stage> stages_of(const Scene& scene, double from, double to) {
    std::vector<Stage> stages;
    double begin = -std::numeric_limits<double>::infinity();
    for (const Stage& stage : scene.stages) {
        // A run that goes on is in its last stage for ever.
        const bool last = &stage == &scene.stages.back();
        if (begin < to && (last || stage.until > from)) stages.push_back(stage);
        begin = stage.until;
    }
    if (!scene.stages.empty()) return stages;
    Stage whole{
        .gravity = scene.physics.gravity, .wall_temperature = scene.box.temperature, .thermostat = scene.thermostat};
    for (const Wall& wall : scene.walls) {
        whole.wall_velocity.push_back(wall.velocity);
        whole.wall_entry_temperature.push_back(wall.temperature);
    }
    return {whole};
}

bool only_walls_drive(const Stage& stage) {
    const auto is_cold = [](double temperature) { return temperature == 0.0; };
    return stage.gravity == Vector3{} && stage.thermostat.kind == Thermostat::Kind::kNone &&
           std::ranges::all_of(stage.wall_entry_temperature, is_cold) &&
           std::ranges::all_of(stage.wall_temperature,
                               [&](const auto& pair) { return is_cold(pair[0]) && is_cold(pair[1]); });
}

double GasFacts::ball_volume() const { return shell_volume(dimension, 0.0, 0.5 * diameter); }

double GasFacts::compressibility() const {
    return uniform ? hard_compressibility(dimension, packing_fraction)
                   : sizes.compressibility(dimension, packing_fraction);
}

bool GasFacts::collides_in_bursts() const {
    constexpr double kMost = 5.0;
    const double rate = collision_rate(dimension, compressibility(), temperature, mass, diameter);
    return redrawn_way_time(diameter, mass, temperature, andersen) * rate > kMost;
}

double GasFacts::heat_diffusivity() const {
    const double chi = contact_value(dimension, compressibility(), packing_fraction);
    return enskog_conductivity(dimension, packing_fraction, diameter, chi, temperature, mass) /
           (0.5 * dimension * number_density);
}

bool GasFacts::spreads(int axis) const {
    constexpr double kLeast = 10.0;
    return measured_time >= kLeast * spreading_time[static_cast<std::size_t>(axis)];
}

bool GasFacts::is_fluid() const { return packing_fraction < largest_fluid_fraction(dimension); }

namespace {

double periodic_side(const Box& box) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double side = box.size[static_cast<std::size_t>(axis)];
        if (!box.periodic(axis) || std::abs(side - box.size[0]) > 1e-3 * box.size[0]) return 0.0;
    }
    return box.size[0];
}

}  // namespace

bool loses_energy(const Scene& scene) {
    const Physics& physics = scene.physics;
    return physics.restitution < 1.0 || physics.wall_restitution < 1.0 || physics.friction > 0.0 ||
           physics.wall_friction > 0.0 || scene.spring.damping.value_or(0.0) > 0.0;
}

bool conducts(const Scene& scene) {
    const std::vector<double> baths = scene.bath_temperatures(true);
    return !baths.empty() && (loses_energy(scene) || std::ranges::min(baths) != std::ranges::max(baths));
}

GasFacts gas_facts(const MeasuredRun& run, const std::string& species, double from) {
    const Scene& scene = run.scene;
    GasFacts facts;
    facts.dimension = run.dimension();
    facts.periodic_side = periodic_side(run.box());
    facts.temperature = mean_temperature(run, from);
    const double end = run.time.empty() ? std::numeric_limits<double>::infinity() : run.time.back();
    const std::vector<Stage> stages = measuring_stages(scene, from, end);
    double others = 0.0;
    double mass = 0.0;
    double radius = 0.0;
    const Species* first = nullptr;
    std::vector<std::pair<double, double>> radii;  // and how many have it
    for (std::size_t k = 0; k < run.counts.size(); ++k) {
        const Species& entry = run.species[k];
        facts.bodies = facts.bodies || (std::isinf(entry.mass) && run.counts[k] > 0.0);
        const bool chosen = species.empty() ? std::isfinite(entry.mass) : entry.name == species;
        if (!chosen || run.counts[k] == 0.0) {
            others += run.counts[k];
            continue;
        }
        facts.balls += run.counts[k];
        mass += run.counts[k] * entry.mass;
        radius += run.counts[k] * entry.radius;
        facts.masses.emplace_back(entry.mass, run.counts[k]);
        radii.emplace_back(entry.radius, run.counts[k]);
        if (first == nullptr) first = &entry;
        facts.uniform = facts.uniform && entry.mass == first->mass && entry.radius == first->radius;
    }
    for (auto& entry : facts.masses) entry.second /= facts.balls;
    facts.whole = others == 0.0;
    facts.uniform = facts.uniform && facts.whole;
    facts.mass = mass / facts.balls;
    facts.radius = radius / facts.balls;
    facts.diameter = 2.0 * facts.radius;
    const double k_n = stiffness_of(run.solver);
    if (run.solver.solver == "spring" && k_n > 0.0) {
        const SoftContact contact{contact_law_called(scene.spring.law, scene.spring.own), k_n};
        facts.softness = contact.softness();
        facts.diameter -= contact.soft_diameter_loss(facts.temperature) + scene.spring.distance_epsilon;
        if (scene.spring.law == "linear" && scene.spring.integrator == Integrator::kVerlet) {
            facts.step_phase = run.solver.dt * std::sqrt(2.0 * k_n / facts.mass);
        }
    }
    add_drive(facts, scene, stages);
    facts.left = run.left;
    facts.walls = !scene.walls.empty();
    facts.undriven = facts.undriven && !run.bodies_move;
    facts.number_density = facts.balls / run.box().volume(facts.radius);
    const double lost = 2.0 * facts.radius - facts.diameter;
    double volume = 0.0;
    for (const auto& [r, count] : radii) {
        facts.sizes.add(2.0 * r - lost, count / facts.balls);
        volume += count / facts.balls * shell_volume(facts.dimension, 0.0, r - 0.5 * lost);
    }
    facts.packing_fraction = facts.number_density * (facts.uniform ? facts.ball_volume() : volume);
    facts.thermal = !loses_energy(scene);
    for (const Stage& stage : stages) {
        if (facts.bath_temperature > 0.0) {
            facts.bath_time = std::max(facts.bath_time, bath_time(facts, run.box(), stage));
        }
    }
    add_spreading(facts, run.box());
    facts.measured_time = run.measured_time(from);
    facts.bath = facts.bath_temperature > 0.0 && facts.bath_time <= kMostOfForgetting * facts.measured_time;
    for (int axis = 0; axis < facts.dimension; ++axis) {
        if (!run.box().periodic(axis)) continue;
        facts.narrow =
            facts.narrow || run.box().size[static_cast<std::size_t>(axis)] < kNarrowestPeriod * facts.diameter;
        if (!facts.walls && !facts.bodies && !facts.bath) ++facts.momenta;
    }
    if (facts.momenta == facts.dimension) facts.flow_energy = flow_energy(run);
    const double flow = std::max(run.flow_energy, facts.flow_energy);
    facts.flows = !facts.bath && flow > kChanceFlow * facts.temperature;
    add_drift(facts, run);
    return facts;
}

}  // namespace carom
