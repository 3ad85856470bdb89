#include "host/theory/gas_theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "kernels/physics/viscosity.hpp"

namespace carom {

namespace {

/// Times the square of the soft diameter loss over the diameter, of Z - 1: what springs are off hard balls of that
/// diameter.
constexpr double kSoftness = 10.0;

/// The sum of the two lags that `self_diffusion` is measured between, of the measured time.
constexpr double kDiffusionLags = 1.0 / 8.0 + 1.0 / 4.0;

/// Whether theories of a fluid at rest hold. Of balls of several sizes there is one of the pressure alone.
bool is_resting_mixture(const GasFacts& facts) {
    return facts.whole && facts.equilibrium() && !facts.walls && !facts.narrow && facts.packing_fraction > 0.0 &&
           facts.is_fluid();
}

/// The same of balls that are all alike, of which there is more.
bool is_resting_fluid(const GasFacts& facts) { return facts.uniform && is_resting_mixture(facts); }

double diffusion(const GasFacts& facts) {
    const double chi = contact_value(facts.dimension, facts.compressibility(), facts.packing_fraction);
    return enskog_diffusion(facts.dimension, facts.number_density, facts.diameter, chi, facts.temperature, facts.mass);
}

/// Of the motion of all as one [speed^2].
double drift_of(const GasFacts& facts) { return drift_squared(facts.flow_energy, facts.mass * facts.balls); }

/// In a periodic square or cube; else Enskog's.
ScalarTheory long_time_diffusion(const GasFacts& facts) {
    const int dim = facts.dimension;
    const double phi = facts.packing_fraction;
    const double enskog = diffusion(facts);
    if (!(facts.periodic_side > 0.0)) {
        return {dim == 2 ? "Enskog, without long-time tail" : "Enskog", enskog,
                enskog_diffusion_uncertainty(dim, phi) * enskog};
    }
    const double chi = contact_value(dim, facts.compressibility(), phi);
    const double eta = enskog_viscosity(dim, phi, facts.diameter, chi, facts.temperature, facts.mass);
    const double large = dim == 2 ? enskog : dense_diffusion_factor(phi) * enskog;
    const double d =
        diffusion_in_box(dim, large, facts.periodic_side, facts.temperature, eta, facts.mass * facts.number_density,
                         mean_free_path(dim, facts.compressibility(), facts.diameter));
    return {dim == 2 ? "Enskog, flows in the box" : "Erpenbeck and Wood, flows in the box", d,
            diffusion_in_box_uncertainty(dim, phi) * d};
}

/// Maxwell and Boltzmann's, of each mass by its share: `density` of v, whose second argument is sqrt(T / m).
/// None over a range so wide that its curve would be seen in no sample.
template <class Density>
std::vector<TheoryCurve> speed_law(const GasFacts& facts, double temperature, double from, double to,
                                   const Density& density) {
    double slowest = std::numeric_limits<double>::infinity();
    for (const auto& entry : facts.masses) slowest = std::min(slowest, std::sqrt(temperature / entry.first));
    constexpr double kPieces = 20.0;  // of the thermal speed
    const double pieces = std::max(300.0, std::ceil(kPieces * (to - from) / slowest));
    constexpr double kMostPieces = 1e5;
    if (!(pieces < kMostPieces)) return {};
    const auto law = [&](double v) {
        double sum = 0.0;
        for (const auto& [mass, share] : facts.masses) sum += share * density(v, std::sqrt(temperature / mass));
        return sum;
    };
    return {sampled("Maxwell-Boltzmann", from, to, law, static_cast<std::size_t>(pieces))};
}

std::vector<TheoryCurve> density_curves(const GasFacts& facts, const Scene& scene, int axis, double from, double to) {
    const double g = std::abs(facts.gravity[static_cast<std::size_t>(axis)]);
    // One kind among others: thin gases do not mind each other, of dense ones there is no theory here.
    const bool alone = facts.uniform;
    if (g > 0.0 && !alone && facts.masses.size() != 1) return {};
    if (!(g > 0.0) || !(facts.temperature > 0.0)) {
        if (facts.has_gravity() || !facts.is_fluid()) return {};  // a crystal stands where it does
        // A slice is of the whole width of the box; only along the axis walls take some of it.
        const double density = facts.balls / scene.box.volume_along(axis, facts.radius);
        return {sampled("uniform", from, to, [density](double) { return density; })};
    }
    for (int side = 0; side < facts.dimension; ++side) {
        if (side != axis && facts.gravity[static_cast<std::size_t>(side)] != 0.0) return {};  // into a corner
    }
    const double floor_area = scene.box.face_area(axis);
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
    const double volume = facts.ball_volume();
    const double load = facts.balls * volume / (floor_area * scale_height);
    const auto inside = [&](double at) { return height(at) >= 0.0 && (!ceiling || (at >= low && at <= high)); };
    std::vector<TheoryCurve> curves;
    if (alone) {
        const double bottom = bottom_packing_below(facts.dimension, load, top);
        curves.push_back(sampled("hard balls, local density", from, to, [&](double at) {
            return inside(at) ? local_packing(facts.dimension, bottom, height(at)) / volume : 0.0;
        }));
    }
    curves.push_back(sampled("point particles", from, to, [&](double at) {
        return inside(at) ? load / volume * barometric_density(height(at), top) : 0.0;
    }));
    curves.back().rough = curves.back().dashed = alone;
    if (alone) {
        // Whatever the layers at a wall: n T = p where centres touch it.
        const double bottom = bottom_packing_below(facts.dimension, load, top);
        curves.push_back({.label = "contact theorem, p / T",
                          .x = {down ? low : high},
                          .y = {local_pressure(facts.dimension, bottom) / volume},
                          .points = true});
    }
    return curves;
}

}  // namespace

std::vector<TheoryCurve> theory_curves(const GasFacts& facts, const Scene& scene, const AverageInfo& info,
                                       double x_from, double x_to) {
    if (!facts.equilibrium()) return {};  // of a gas that conducts heat see host/theory/conduction.hpp
    if (info.kind == "temperature_profile") {
        return {sampled("mean of the run", x_from, x_to, [&](double) { return facts.temperature; })};
    }
    if (info.kind == "speed") {
        return speed_law(facts, facts.temperature, x_from, x_to, [&](double v, double thermal) {
            return maxwell_speed_density(facts.dimension, v / thermal) / thermal;
        });
    }
    if (info.kind == "velocity") {
        // Each component's stands about its own part of the motion of all.
        std::vector<TheoryCurve> curves;
        for (int axis = 0; axis < facts.dimension; ++axis) {
            const double drift = facts.drift[static_cast<std::size_t>(axis)];
            for (TheoryCurve& curve :
                 speed_law(facts, facts.about_drift, x_from, x_to, [drift](double v, double thermal) {
                     return maxwell_component_density((v - drift) / thermal) / thermal;
                 })) {
                curves.push_back(std::move(curve));
            }
            if (facts.drift == Vector3{}) break;  // one for all
            if (!curves.empty()) curves.back().label += fmt::format(", {}", "xyz"[axis]);
        }
        return curves;
    }
    if (info.kind == "density") {
        if (facts.walls || facts.bodies) return {};
        return density_curves(facts, scene, info.x.of_box(), x_from, x_to);
    }
    if (facts.has_gravity() || !is_resting_fluid(facts)) return {};
    if (info.kind == "gr") {
        return {{.label = "contact value, equation of state",
                 .x = {facts.diameter},
                 .y = {contact_value(facts.dimension, facts.compressibility(), facts.packing_fraction)}}};
    }
    if (facts.andersen > 0.0) return {};
    if (info.kind == "free_path") {
        const double mean = mean_free_path(facts.dimension, facts.compressibility(), facts.diameter);
        return {sampled("kinetic theory", x_from, x_to,
                        [&](double length) { return free_path_density(facts.dimension, length / mean) / mean; })};
    }
    const double d = diffusion(facts);
    const std::string enskog = facts.dimension == 2 ? "Enskog, without long-time tail" : "Enskog";
    if (info.kind == "msd") {
        return {sampled_over_lags(enskog, x_from, x_to, [&](double t) {
            return exponential_displacement(facts.dimension, t, facts.temperature, facts.mass, d) +
                   drift_displacement(t, drift_of(facts));
        })};
    }
    if (info.kind == "vacf") {
        return {sampled_over_lags(enskog, x_from, x_to, [&](double t) {
            return exponential_autocorrelation(t, facts.temperature, facts.mass, d) +
                   drift_autocorrelation(facts.dimension, drift_of(facts));
        })};
    }
    return {};
}

std::optional<ScalarTheory> theory_scalar(const GasFacts& facts, const std::string& kind,
                                          const std::string& component) {
    if (facts.has_gravity() || !is_resting_mixture(facts)) return std::nullopt;
    if (kind != "kinetic_stress" && facts.collides_in_bursts()) return std::nullopt;
    const double z = facts.compressibility();
    const double doubt =
        (facts.uniform ? compressibility_uncertainty(facts.dimension)
                       : mixture_uncertainty(facts.dimension, facts.sizes.uniformity(facts.dimension))) +
        finite_size_uncertainty(facts.balls);
    const char* const state = facts.uniform ? "equation of state" : "equation of state of a mixture";
    const double softness = 1.0 - facts.diameter / (2.0 * facts.radius);
    const double soft_doubt = doubt + kSoftness * softness * softness;
    if (kind == "compressibility") return ScalarTheory{state, z, soft_doubt * (z - 1.0)};
    const bool stress = kind == "stress" || kind == "kinetic_stress" || kind == "collisional_stress";
    if (stress && component[0] != component[1]) {
        // Of a momentum P that stays it is P_x P_y / (M V), which is the energy of that flow per volume at most.
        const double drift =
            kind == "collisional_stress" ? 0.0 : facts.flow_energy * facts.number_density / facts.balls;
        return ScalarTheory{"none in a fluid at rest", 0.0, drift};
    }
    const double ideal = facts.number_density * facts.temperature;
    if (kind == "pressure" || kind == "stress") {
        return ScalarTheory{state, z * ideal, soft_doubt * (z - 1.0) * ideal};
    }
    if (kind == "kinetic_stress") return ScalarTheory{"N T / V", ideal, finite_size_uncertainty(facts.balls) * ideal};
    if (kind == "collisional_stress") {
        return ScalarTheory{state, (z - 1.0) * ideal, soft_doubt * (z - 1.0) * ideal};
    }
    if (!facts.uniform) return std::nullopt;
    if (kind == "mean_free_path") {
        const double path = mean_free_path(facts.dimension, z, facts.diameter);
        return ScalarTheory{"Enskog", path, doubt * path};
    }
    if (kind == "collision_rate") {
        const double rate = collision_rate(facts.dimension, z, facts.temperature, facts.mass, facts.diameter);
        return ScalarTheory{"Enskog", rate, doubt * rate};
    }
    if (kind == "self_diffusion" && facts.andersen == 0.0) {
        ScalarTheory theory = long_time_diffusion(facts);
        theory.value += drift_diffusion(facts.dimension, drift_of(facts), kDiffusionLags * facts.measured_time);
        return theory;
    }
    return std::nullopt;
}

std::optional<TheoryCurve> table_theory(const std::string& axis, const std::string& quantity, double from, double to) {
    const bool disks = axis == "packing_fraction [disks]";
    if (quantity != "compressibility" || (!disks && axis != "packing_fraction [spheres]")) return std::nullopt;
    constexpr std::size_t kPoints = 200;
    const int dimension = disks ? 2 : 3;
    const double end = std::min(to, largest_fluid_fraction(dimension));
    if (!(from < end)) return std::nullopt;
    return sampled(
        disks ? "Kolafa and Rottner 2006" : "Carnahan and Starling, Kolafa", from, end,
        [dimension](double phi) { return hard_compressibility(dimension, phi); }, kPoints);
}

}  // namespace carom
