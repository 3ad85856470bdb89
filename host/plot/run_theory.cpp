#include "host/plot/run_theory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

constexpr std::size_t kCurvePoints = 300;
/// Times the square of the soft diameter loss over the diameter, of Z - 1: what springs are off hard balls of that
/// diameter.
constexpr double kSoftness = 10.0;
constexpr double kFiniteSize = 3.0;  // over N, of Z - 1: what a periodic box of N balls is off by, at most

double ball_volume(int dimension, double diameter) { return shell_volume(dimension, 0.0, 0.5 * diameter); }

double mean_temperature(const ObservableTable& table, const Scene& scene, double from) {
    const std::size_t column = table.column("temperature");
    if (column == table.width) return 0.0;
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (table.time[row] < from || !scene.measures(table.time[row]) || !std::isfinite(table.at(row, column))) {
            continue;
        }
        sum += table.at(row, column);
        count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

/// The stages that measure between two times; a run without stages is one.
std::vector<Stage> measuring_stages(const Scene& scene, double from, double to) {
    if (scene.stages.empty()) {
        Stage whole{.gravity = scene.physics.gravity,
                    .wall_temperature = scene.box.temperature,
                    .thermostat = scene.thermostat};
        for (const Wall& wall : scene.walls) {
            whole.wall_velocity.push_back(wall.velocity);
            whole.wall_entry_temperature.push_back(wall.temperature);
        }
        return {whole};
    }
    std::vector<Stage> stages;
    double begin = -std::numeric_limits<double>::infinity();
    for (const Stage& stage : scene.stages) {
        // A run that goes on is in its last stage for ever.
        const bool last = &stage == &scene.stages.back();
        if (stage.measure && begin < to && (last || stage.until > from)) stages.push_back(stage);
        begin = stage.until;
    }
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
    facts.undriven = !stages.empty();
    if (stages.empty()) return;
    double bath = 0.0;  // temperature of all of them
    const auto meets = [&](double temperature) {
        if (temperature == 0.0) return;
        facts.undriven = facts.undriven && (bath == 0.0 || bath == temperature);
        bath = temperature;
    };
    facts.gravity = stages.front().gravity;
    for (const Stage& stage : stages) {
        facts.one_gravity = facts.one_gravity && stage.gravity == facts.gravity;
        for (const auto& axis : stage.wall_temperature) {
            for (const double temperature : axis) meets(temperature);
        }
        for (const double temperature : stage.wall_entry_temperature) meets(temperature);
        const bool moves = std::ranges::any_of(stage.wall_velocity, [](double velocity) { return velocity != 0.0; });
        facts.undriven = facts.undriven && !moves && stage.thermostat.kind != Thermostat::Kind::kRescale;
        if (stage.thermostat.kind == Thermostat::Kind::kAndersen) {
            facts.andersen = true;
            meets(stage.thermostat.temperature);
        }
    }
    facts.bath = bath > 0.0;
    add_heat_flow(facts, scene, stages);
}

/// What the centres have: on an axis between walls a radius less at each.
double accessible_volume(const Box& box, double radius) {
    double volume = 1.0;
    for (int axis = 0; axis < box.dimension; ++axis) {
        double length = box.size[axis];
        for (const Face face : box.faces[axis]) length -= face == Face::kWall ? radius : 0.0;
        volume *= length;
    }
    return volume;
}

/// Whether any ball has left the box.
bool balls_left(const ObservableTable& table, const TrajectoryHeader& header) {
    const std::size_t column = table.column("balls");
    if (column == table.width || table.rows() == 0) return false;
    const auto all = static_cast<double>(header.species.size());
    return table.at(table.rows() - 1, column) < all;  // none comes back
}

double stiffness_of(const SolverDescription& description) {
    for (const auto& [name, value] : description.parameters) {
        if (name == "stiffness") return value;
    }
    return 0.0;
}

template <class Function>
Curve sampled(const std::string& label, double from, double to, const Function& function) {
    Curve curve;
    curve.label = label;
    curve.thick = true;
    for (std::size_t k = 0; k <= kCurvePoints; ++k) {
        const double x = from + (to - from) * static_cast<double>(k) / static_cast<double>(kCurvePoints);
        curve.x.push_back(x);
        curve.y.push_back(function(x));
    }
    return curve;
}

bool is_fluid(const GasFacts& facts) {
    return facts.uniform && facts.equilibrium() && !facts.walls && facts.packing_fraction > 0.0 &&
           facts.packing_fraction < largest_fluid_fraction(facts.dimension);
}

double compressibility(const GasFacts& facts) { return hard_compressibility(facts.dimension, facts.packing_fraction); }

double diffusion(const GasFacts& facts) {
    const double chi = contact_value(facts.dimension, compressibility(facts), facts.packing_fraction);
    return enskog_diffusion(facts.dimension, facts.number_density, facts.diameter, chi, facts.temperature, facts.mass);
}

/// Maxwell and Boltzmann's, of each mass by its share: `density` of v in units of sqrt(T / m).
template <class Density>
Curve speed_law(const GasFacts& facts, double from, double to, const Density& density) {
    return sampled("Maxwell-Boltzmann", from, to, [&](double v) {
        double sum = 0.0;
        for (const auto& [mass, share] : facts.masses) {
            const double thermal = std::sqrt(facts.temperature / mass);
            sum += share * density(v / thermal) / thermal;
        }
        return sum;
    });
}

std::vector<Curve> density_curves(const GasFacts& facts, const Scene& scene, int axis, double from, double to) {
    const double g = std::abs(facts.gravity[static_cast<std::size_t>(axis)]);
    // One kind among others: thin gases do not mind each other, of dense ones there is no theory here.
    const bool alone = facts.uniform;
    if (g > 0.0 && !alone && facts.masses.size() != 1) return {};
    if (!(g > 0.0) || !(facts.temperature > 0.0)) {
        if (facts.has_gravity()) return {};
        // A slice is of the whole width of the box; only along the axis walls take some of it.
        double length = scene.box.size[static_cast<std::size_t>(axis)];
        for (const Face face : scene.box.faces[static_cast<std::size_t>(axis)]) {
            length -= face == Face::kWall ? facts.radius : 0.0;
        }
        const double density =
            facts.balls * scene.box.size[static_cast<std::size_t>(axis)] / (scene.box.volume() * length);
        Curve mean = sampled("uniform", from, to, [density](double) { return density; });
        return {mean};
    }
    const double floor_area = scene.box.volume() / scene.box.size[static_cast<std::size_t>(axis)];
    const double scale_height = facts.temperature / (facts.mass * g);
    const double low = scene.box.min[static_cast<std::size_t>(axis)] + facts.radius;
    const double high =
        scene.box.min[static_cast<std::size_t>(axis)] + scene.box.size[static_cast<std::size_t>(axis)] - facts.radius;
    const bool down = facts.gravity[static_cast<std::size_t>(axis)] < 0.0;
    const auto& faces = scene.box.faces[static_cast<std::size_t>(axis)];
    if (faces[down ? 0 : 1] != Face::kWall) return {};  // nothing to lie on
    const bool ceiling = faces[down ? 1 : 0] == Face::kWall;
    const double top = ceiling ? (high - low) / scale_height : std::numeric_limits<double>::infinity();
    const auto height = [&](double at) { return (down ? at - low : high - at) / scale_height; };
    const double volume = ball_volume(facts.dimension, facts.diameter);
    const double load = facts.balls * volume / (floor_area * scale_height);
    const auto inside = [&](double at) { return height(at) >= 0.0 && (!ceiling || (at >= low && at <= high)); };
    std::vector<Curve> curves;
    if (alone) {
        const double bottom = bottom_packing_below(facts.dimension, load, top);
        curves.push_back(sampled("hard balls, local density", from, to, [&](double at) {
            return inside(at) ? local_packing(facts.dimension, bottom, height(at)) / volume : 0.0;
        }));
    }
    curves.push_back(sampled("point particles", from, to, [&](double at) {
        return inside(at) ? load / volume * barometric_density(height(at), top) : 0.0;
    }));
    curves.back().thick = !alone;
    curves.back().dashed = alone;
    return curves;
}

}  // namespace

GasFacts gas_facts(const TrajectoryReader& trajectory, const Scene& scene, const std::string& species, double from) {
    const TrajectoryHeader& header = trajectory.header();
    const ObservableTable table = trajectory.observables();
    GasFacts facts;
    facts.dimension = header.dimension();
    facts.temperature = mean_temperature(table, scene, from);
    const double end = table.rows() > 0 ? table.time[table.rows() - 1] : std::numeric_limits<double>::infinity();
    add_drive(facts, scene, measuring_stages(scene, from, end));
    std::vector<double> counts(header.species_table.size(), 0.0);
    for (const std::uint32_t index : header.species) counts[index] += 1.0;
    double others = 0.0;
    double mass = 0.0;
    double radius = 0.0;
    const Species* first = nullptr;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        const Species& entry = header.species_table[k];
        const bool chosen = species.empty() ? std::isfinite(entry.mass) : entry.name == species;
        if (!chosen || counts[k] == 0.0) {
            others += counts[k];
            continue;
        }
        facts.balls += counts[k];
        mass += counts[k] * entry.mass;
        radius += counts[k] * entry.radius;
        facts.masses.emplace_back(entry.mass, counts[k]);
        if (first == nullptr) first = &entry;
        facts.uniform = facts.uniform && entry.mass == first->mass && entry.radius == first->radius;
    }
    for (auto& entry : facts.masses) entry.second /= facts.balls;
    facts.uniform = facts.uniform && others == 0.0;
    facts.mass = mass / facts.balls;
    facts.radius = radius / facts.balls;
    facts.diameter = 2.0 * facts.radius;
    const double k_n = stiffness_of(header.description);
    if (header.description.solver == "spring" && k_n > 0.0) {
        facts.diameter -= soft_diameter_loss(facts.temperature, k_n);
    }
    facts.left = balls_left(table, header);
    facts.number_density = facts.balls / accessible_volume(header.box, facts.radius);
    facts.packing_fraction = facts.number_density * ball_volume(facts.dimension, facts.diameter);
    facts.thermal = scene.physics.restitution == 1.0 && scene.physics.wall_restitution == 1.0 &&
                    scene.physics.friction == 0.0 && scene.physics.wall_friction == 0.0 &&
                    scene.spring.damping.value_or(0.0) == 0.0;
    facts.walls = !scene.walls.empty();
    return facts;
}

std::vector<Curve> theory_curves(const GasFacts& facts, const Scene& scene, const AverageInfo& info, double x_from,
                                 double x_to) {
    if (!facts.equilibrium()) return {};  // of a gas that conducts heat see host/plot/conduction.hpp
    if (info.kind == "temperature_profile") {
        return {sampled("mean of the run", x_from, x_to, [&](double) { return facts.temperature; })};
    }
    if (info.kind == "speed") {
        return {speed_law(facts, x_from, x_to, [&](double v) { return maxwell_speed_density(facts.dimension, v); })};
    }
    if (info.kind == "velocity") return {speed_law(facts, x_from, x_to, maxwell_component_density)};
    if (info.kind == "density") {
        if (facts.walls) return {};
        const int axis = info.x.label == "x" ? 0 : (info.x.label == "y" ? 1 : 2);
        return density_curves(facts, scene, axis, x_from, x_to);
    }
    if (facts.has_gravity() || !is_fluid(facts)) return {};
    if (info.kind == "gr") {
        Curve contact;
        contact.label = "contact value, equation of state";
        contact.thick = true;
        contact.x = {facts.diameter};
        contact.y = {contact_value(facts.dimension, compressibility(facts), facts.packing_fraction)};
        return {contact};
    }
    if (info.kind == "free_path") {
        const double mean = mean_free_path(facts.dimension, compressibility(facts), facts.diameter);
        return {sampled("kinetic theory", x_from, x_to,
                        [&](double length) { return free_path_density(facts.dimension, length / mean) / mean; })};
    }
    if (facts.andersen) return {};
    const double d = diffusion(facts);
    const std::string enskog = facts.dimension == 2 ? "Enskog, without long-time tail" : "Enskog";
    if (info.kind == "msd") {
        return {sampled(enskog, x_from, x_to, [&](double t) {
            return exponential_displacement(facts.dimension, t, facts.temperature, facts.mass, d);
        })};
    }
    if (info.kind == "vacf") {
        return {sampled(enskog, x_from, x_to,
                        [&](double t) { return exponential_autocorrelation(t, facts.temperature, facts.mass, d); })};
    }
    return {};
}

std::optional<ScalarTheory> theory_scalar(const GasFacts& facts, const std::string& kind,
                                          const std::string& component) {
    if (facts.has_gravity() || !is_fluid(facts)) return std::nullopt;
    const double z = compressibility(facts);
    const double doubt = compressibility_uncertainty(facts.dimension) + kFiniteSize / facts.balls;
    const double softness = 1.0 - facts.diameter / (2.0 * facts.radius);
    const double soft_doubt = doubt + kSoftness * softness * softness;
    if (kind == "compressibility") return ScalarTheory{"equation of state", z, soft_doubt * (z - 1.0)};
    const bool stress = kind == "stress" || kind == "kinetic_stress" || kind == "collisional_stress";
    if (stress && component[0] != component[1]) return ScalarTheory{"none in a fluid at rest", 0.0, 0.0};
    const double ideal = facts.number_density * facts.temperature;
    if (kind == "pressure" || kind == "stress") {
        return ScalarTheory{"equation of state", z * ideal, soft_doubt * (z - 1.0) * ideal};
    }
    if (kind == "kinetic_stress") return ScalarTheory{"N T / V", ideal, kFiniteSize / facts.balls * ideal};
    if (kind == "collisional_stress") {
        return ScalarTheory{"equation of state", (z - 1.0) * ideal, soft_doubt * (z - 1.0) * ideal};
    }
    if (kind == "mean_free_path") {
        const double path = mean_free_path(facts.dimension, z, facts.diameter);
        return ScalarTheory{"Enskog", path, doubt * path};
    }
    if (kind == "collision_rate") {
        const double rate = collision_rate(facts.dimension, z, facts.temperature, facts.mass, facts.diameter);
        return ScalarTheory{"Enskog", rate, doubt * rate};
    }
    if (kind == "self_diffusion" && !facts.andersen) {
        const double d = diffusion(facts);
        return ScalarTheory{facts.dimension == 2 ? "Enskog, without long-time tail" : "Enskog", d,
                            enskog_diffusion_uncertainty(facts.dimension, facts.packing_fraction) * d};
    }
    return std::nullopt;
}

std::optional<double> theory_pressure(const GasFacts& facts) {
    const std::optional<ScalarTheory> theory = theory_scalar(facts, "pressure");
    return theory ? std::optional(theory->value) : std::nullopt;
}

}  // namespace carom
