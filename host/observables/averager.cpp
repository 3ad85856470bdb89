#include "host/observables/averager.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "host/observables/averagers.hpp"

namespace carom {

namespace {

struct AverageKind {
    const char* name;
    std::unique_ptr<Averager> (*make)(const ObserveRequest&, const AverageContext&);
};

constexpr std::array kAverageKinds{
    AverageKind{"speed", make_speed_histogram},
    AverageKind{"velocity", make_velocity_histogram},
    AverageKind{"density", make_density_profile},
    AverageKind{"temperature_profile", make_temperature_profile},
    AverageKind{"velocity_profile", make_velocity_profile},
    AverageKind{"density_map", make_density_map},
    AverageKind{"temperature_map", make_temperature_map},
    AverageKind{"velocity_map", make_velocity_map},
    AverageKind{"gr", make_pair_distribution},
    AverageKind{"msd", make_mean_square_displacement},
    AverageKind{"self_diffusion", make_self_diffusion},
    AverageKind{"vacf", make_velocity_autocorrelation},
    AverageKind{"temperature", make_region_temperature},
    AverageKind{"kurtosis", make_kurtosis},
    AverageKind{"stress", make_stress},
    AverageKind{"kinetic_stress", make_kinetic_stress},
    AverageKind{"collisional_stress", make_collisional_stress},
    AverageKind{"pressure", make_pressure},
    AverageKind{"compressibility", make_compressibility},
    AverageKind{"free_path", make_free_path},
    AverageKind{"mean_free_path", make_mean_free_path},
    AverageKind{"collision_rate", make_collision_rate},
};

}  // namespace

Selection::Selection(std::shared_ptr<const Population> population, const std::string& species)
    : population_(std::move(population)) {
    for (const Species& entry : population_->table) {
        chosen_.push_back(species.empty() ? (std::isfinite(entry.mass) ? 1 : 0) : (entry.name == species ? 1 : 0));
    }
}

double Selection::heaviest() const {
    const std::vector<double> masses = finite_masses(population_->table);
    double heaviest = 0.0;
    for (std::size_t k = 0; k < masses.size(); ++k) heaviest = std::max(heaviest, chosen_[k] != 0 ? masses[k] : 0.0);
    return heaviest;
}

std::vector<double> finite_masses(const std::vector<Species>& table) {
    std::vector<double> masses;
    for (const Species& species : table) masses.push_back(std::isfinite(species.mass) ? species.mass : 0.0);
    return masses;
}

std::vector<std::string> average_kinds() {
    std::vector<std::string> names;
    for (const AverageKind& kind : kAverageKinds) names.emplace_back(kind.name);
    return names;
}

bool is_average(const std::string& kind) {
    for (const AverageKind& known : kAverageKinds) {
        if (kind == known.name) return true;
    }
    return false;
}

std::unique_ptr<Averager> make_averager(const ObserveRequest& request, const AverageContext& context) {
    for (const AverageKind& kind : kAverageKinds) {
        if (request.kind == kind.name) return kind.make(request, context);
    }
    throw std::invalid_argument("no average is of kind '" + request.kind + "'");
}

}  // namespace carom
