#include "host/run/observe.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "host/observables/registry.hpp"

namespace carom {

namespace {

std::vector<std::unique_ptr<Observable>> make_all(const Scene& scene, const ObservableContext& context) {
    auto all = default_observables(context);
    for (const ObserveEntry& entry : scene.observables) {
        all.push_back(make_observable(
            {.name = entry.name, .kind = entry.kind, .species = entry.species, .threshold = entry.threshold}, context));
    }
    return all;
}

double mean_radius(const Balls& balls) {
    std::vector<std::uint64_t> counts(balls.species_table.size());
    for (const auto index : balls.species) ++counts[index];
    double sum = 0.0;
    for (std::size_t k = 0; k < counts.size(); ++k)
        sum += static_cast<double>(counts[k]) * balls.species_table[k].radius;
    return balls.size() == 0 ? 0.0 : sum / static_cast<double>(balls.size());
}

}  // namespace

bool needs_start(const Scene& scene) { return !scene.observables.empty(); }

ObservableSet make_observables(const Scene& scene, const Balls& balls, const Balls* start) {
    return ObservableSet(make_all(scene, {.box = scene.box, .mean_radius = mean_radius(balls), .start = start}));
}

std::vector<ObservableInfo> observable_infos(const Scene& scene) {
    Balls nothing;
    nothing.dimension = scene.dimension();
    return make_observables(scene, nothing, &nothing).infos();
}

}  // namespace carom
