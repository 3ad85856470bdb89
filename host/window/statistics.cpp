#include "host/window/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "host/viewer/quantity.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr std::size_t kBins = 40;

/// How many balls there are of each finite mass.
std::map<double, std::size_t> masses_of(const Balls& balls, const Frame& frame) {
    std::map<double, std::size_t> masses;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        const double mass = balls.species_of(id).mass;
        if (frame.gone[id] == 0 && std::isfinite(mass)) ++masses[mass];
    }
    return masses;
}

/// Twice the mean kinetic energy per degree of freedom.
double temperature_of(const Balls& balls, const Frame& frame) {
    std::vector<float> energies;
    evaluate(Quantity::kKineticEnergy, {}, balls, frame, energies);
    double sum = 0.0;
    std::size_t count = 0;
    for (const float energy : energies) {
        if (!std::isfinite(energy)) continue;
        sum += static_cast<double>(energy);
        ++count;
    }
    return count > 0 ? 2.0 * sum / (static_cast<double>(count) * frame.dimension) : 0.0;
}

void count(Distribution& distribution, const std::vector<float>& values, const Balls& balls) {
    distribution.counted.assign(kBins, 0.0);
    const double width = distribution.most / kBins;
    std::size_t all = 0;
    for (std::size_t id = 0; id < values.size(); ++id) {
        const auto value = static_cast<double>(values[id]);
        if (!std::isfinite(value) || !std::isfinite(balls.species_of(id).mass)) continue;
        ++all;
        const double bin = std::floor(value / width);
        if (bin >= 0.0 && bin < kBins) distribution.counted[static_cast<std::size_t>(bin)] += 1.0;
    }
    if (all == 0) return;
    for (double& bin : distribution.counted) bin /= static_cast<double>(all) * width;
}

/// The mean over the balls' masses of density(x, mass) at the middles of the bins.
template <class Density>
void add_theory(Distribution& distribution, const std::map<double, std::size_t>& masses, const Density& density) {
    std::size_t all = 0;
    for (const auto& [mass, number] : masses) all += number;
    distribution.theory.assign(kBins, 0.0);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double x = (static_cast<double>(bin) + 0.5) * distribution.most / kBins;
        for (const auto& [mass, number] : masses) {
            distribution.theory[bin] += static_cast<double>(number) / static_cast<double>(all) * density(x, mass);
        }
    }
}

}  // namespace

Distribution speed_distribution(const Balls& balls, const Frame& frame) {
    Distribution distribution{.label = "speed [m/s]"};
    std::vector<float> speeds;
    evaluate(Quantity::kSpeed, {}, balls, frame, speeds);
    distribution.most = 1.3 * static_cast<double>(range_of(Quantity::kSpeed, speeds).high);
    count(distribution, speeds, balls);
    const double temperature = temperature_of(balls, frame);
    const auto masses = masses_of(balls, frame);
    if (temperature > 0.0 && !masses.empty()) {
        add_theory(distribution, masses, [&](double speed, double mass) {
            const double thermal = std::sqrt(temperature / mass);
            return maxwell_speed_density(frame.dimension, speed / thermal) / thermal;
        });
    }
    return distribution;
}

Distribution height_distribution(const Scene& scene, const Balls& balls, const Frame& frame) {
    Distribution distribution{.label = "height [m]"};
    std::vector<float> heights;
    evaluate(Quantity::kHeight, scene, balls, frame, heights);
    double gravity = 0.0;
    int axis = frame.dimension - 1;
    for (int other = 0; other < frame.dimension; ++other) {
        if (std::abs(scene.physics.gravity[other]) > gravity) {
            gravity = std::abs(scene.physics.gravity[other]);
            axis = other;
        }
    }
    const auto top = static_cast<double>(range_of(Quantity::kHeight, heights).high);
    distribution.most = std::min(scene.box.size[axis], 1.2 * top);
    count(distribution, heights, balls);
    const double temperature = temperature_of(balls, frame);
    const auto masses = masses_of(balls, frame);
    if (gravity > 0.0 && temperature > 0.0 && !masses.empty()) {
        add_theory(distribution, masses, [&](double height, double mass) {
            const double scale_height = temperature / (mass * gravity);
            return barometric_density(height / scale_height, scene.box.size[axis] / scale_height) / scale_height;
        });
    }
    return distribution;
}

}  // namespace carom
