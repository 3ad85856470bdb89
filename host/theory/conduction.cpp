#include "host/theory/conduction.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/heat_conduction.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

constexpr double kFreePaths = 2.0;       // next to a wall that no local law describes
constexpr std::size_t kLeastSlices = 4;  // that the two constants are fitted to
constexpr std::size_t kProfilePoints = 200;
constexpr int kHalvings = 60;

/// A gas at one pressure: how dense it is and how it conducts follows from the temperature.
class IsobaricGas {
public:
    explicit IsobaricGas(const GasFacts& facts) : facts_(facts), ball_(facts.ball_volume()) {}

    /// Sets the pressure at which places of these temperatures have the run's density in the mean.
    void fill(std::span<const double> temperatures) {
        double low = 0.0;
        double high =
            most() / ball_ * hard_compressibility(facts_.dimension, most()) * *std::ranges::max_element(temperatures);
        for (int k = 0; k < kHalvings; ++k) {
            pressure_ = 0.5 * (low + high);
            double sum = 0.0;
            for (const double temperature : temperatures) sum += packing_fraction(temperature);
            (sum / static_cast<double>(temperatures.size()) < facts_.packing_fraction ? low : high) = pressure_;
        }
    }

    /// Of p = phi / v Z T, by halving: Z phi grows with phi.
    [[nodiscard]] double packing_fraction(double temperature) const {
        double low = 0.0;
        double high = most();
        for (int k = 0; k < kHalvings; ++k) {
            const double phi = 0.5 * (low + high);
            const double pressure = phi / ball_ * hard_compressibility(facts_.dimension, phi) * temperature;
            (pressure < pressure_ ? low : high) = phi;
        }
        return 0.5 * (low + high);
    }

    [[nodiscard]] double free_path(double temperature) const {
        const double z = hard_compressibility(facts_.dimension, packing_fraction(temperature));
        return mean_free_path(facts_.dimension, z, facts_.diameter);
    }

    [[nodiscard]] double conductivity(double temperature) const {
        const double phi = packing_fraction(temperature);
        const double chi = contact_value(facts_.dimension, hard_compressibility(facts_.dimension, phi), phi);
        return enskog_conductivity(facts_.dimension, phi, facts_.diameter, chi, temperature, facts_.mass);
    }

private:
    [[nodiscard]] double most() const { return largest_fluid_fraction(facts_.dimension); }

    const GasFacts& facts_;
    double ball_;
    double pressure_ = 0.0;
};

/// Theta(T), the integral of lambda dT: with a steady flow of heat it is linear in the way.
class HeatPotential {
public:
    HeatPotential(const IsobaricGas& gas, double from, double to) {
        double sum = 0.0;
        double before = 0.0;
        for (std::size_t k = 0; k <= kProfilePoints; ++k) {
            const double temperature =
                from + (to - from) * static_cast<double>(k) / static_cast<double>(kProfilePoints);
            const double conductivity = gas.conductivity(temperature);
            if (k > 0) sum += 0.5 * (before + conductivity) * (temperature - temperature_.back());
            before = conductivity;
            temperature_.push_back(temperature);
            potential_.push_back(sum);
        }
    }
    [[nodiscard]] double of(double temperature) const { return interpolated(temperature_, potential_, temperature); }
    [[nodiscard]] double temperature(double potential) const {
        return interpolated(potential_, temperature_, potential);
    }

private:
    std::vector<double> temperature_;
    std::vector<double> potential_;
};

/// a + b x by least squares.
class WeightedLine {
public:
    void add(double x, double y, double weight) {
        weight_ += weight;
        x_ += weight * x;
        y_ += weight * y;
        xx_ += weight * x * x;
        xy_ += weight * x * y;
    }
    [[nodiscard]] double at(double x) const {
        const double slope = (weight_ * xy_ - x_ * y_) / (weight_ * xx_ - x_ * x_);
        return (y_ - slope * x_) / weight_ + slope * x;
    }

private:
    double weight_ = 0.0;
    double x_ = 0.0;
    double y_ = 0.0;
    double xx_ = 0.0;
    double xy_ = 0.0;
};

bool is_profile_along_heat(const GasFacts& facts, const AverageInfo& profile) {
    return profile.kind == "temperature_profile" && facts.heat_axis == profile.x.of_box();
}

}  // namespace

std::optional<ConductionLaw> conduction_law(const GasFacts& facts, const Box& box, const RunAverage& profile) {
    if (!is_profile_along_heat(facts, profile.info)) return std::nullopt;
    // Where contacts take energy, or balls leave, the flow of heat is not the same through each slice.
    if (!facts.thermal || facts.left || !facts.uniform) return std::nullopt;
    if (!facts.is_fluid()) return std::nullopt;
    std::vector<double> temperatures;
    for (const double value : profile.table.values) {
        if (std::isfinite(value) && value > 0.0) temperatures.push_back(value);
    }
    if (temperatures.empty()) return std::nullopt;
    const auto axis = static_cast<std::size_t>(facts.heat_axis);
    const double low = box.min[axis];
    const double high = low + box.size[axis];
    IsobaricGas gas(facts);
    gas.fill(temperatures);
    const auto [coldest, hottest] = std::ranges::minmax(facts.wall_temperature);
    const HeatPotential potential(gas, 0.5 * coldest, 1.5 * hottest);
    ConductionLaw law;
    // At one pressure paths are the longer, the hotter the gas is.
    law.from = low + facts.radius + kFreePaths * gas.free_path(facts.wall_temperature[0]);
    law.to = high - facts.radius - kFreePaths * gas.free_path(facts.wall_temperature[1]);
    WeightedLine line;
    for (std::size_t k = 0; k < profile.table.x.size(); ++k) {
        const double value = profile.table.values[k];
        const double error = profile.table.errors[k];
        if (!law.holds_at(profile.table.x[k]) || !(error > 0.0) || !(value > 0.0)) continue;
        const double uncertain = gas.conductivity(value) * error;
        line.add(profile.table.x[k], potential.of(value), 1.0 / (uncertain * uncertain));
        ++law.slices;
    }
    if (law.slices < kLeastSlices) return std::nullopt;
    law.curve = sampled(
        "Fourier, Enskog, fitted inside", low, high, [&](double x) { return potential.temperature(line.at(x)); },
        kProfilePoints);
    return law;
}

std::vector<TheoryCurve> conduction_curves(const GasFacts& facts, const Box& box, const RunAverage& profile) {
    if (!is_profile_along_heat(facts, profile.info)) return {};
    std::vector<TheoryCurve> curves;
    if (auto law = conduction_law(facts, box, profile)) curves.push_back(std::move(law->curve));
    const auto axis = static_cast<std::size_t>(facts.heat_axis);
    curves.push_back({.label = "the walls",
                      .x = {box.min[axis], box.min[axis] + box.size[axis]},
                      .y = {facts.wall_temperature[0], facts.wall_temperature[1]},
                      .points = true});
    return curves;
}

}  // namespace carom
