#include "host/observables/registry.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "host/observables/angular_momentum.hpp"
#include "host/observables/ball_count.hpp"
#include "host/observables/contacts.hpp"
#include "host/observables/displaced.hpp"
#include "host/observables/gravitational_energy.hpp"
#include "host/observables/heat.hpp"
#include "host/observables/kinetic_energy.hpp"
#include "host/observables/largest_overlap.hpp"
#include "host/observables/largest_speed.hpp"
#include "host/observables/momentum.hpp"
#include "host/observables/rotational_energy.hpp"
#include "host/observables/spring_energy.hpp"
#include "host/observables/temperature.hpp"
#include "host/observables/total_energy.hpp"
#include "host/observables/virial_pressure.hpp"
#include "host/observables/wall_contacts.hpp"
#include "host/observables/wall_heat.hpp"
#include "host/observables/wall_pressure.hpp"
#include "host/observables/work.hpp"

namespace carom {

namespace {

template <class... Types>
std::vector<std::unique_ptr<Observable>> make_all(const ObservableContext& context) {
    std::vector<std::unique_ptr<Observable>> all;
    (all.push_back(std::make_unique<Types>(context)), ...);
    return all;
}

struct Kind {
    const char* name;
    std::unique_ptr<Observable> (*make)(const ObserveRequest&, const ObservableContext&);
};

/// The kinds that a scene asks for with [[observe]].
constexpr std::array kKinds{
    Kind{"displaced", make_displaced},
    Kind{"displaced_each", make_displaced_each},
};

}  // namespace

/// What every run records, and every driven one.
std::vector<std::unique_ptr<Observable>> default_observables(const ObservableContext& context) {
    auto all = make_all<KineticEnergy, RotationalEnergy, SpringEnergy, GravitationalEnergy, TotalEnergy, Momentum,
                        AngularMomentum, Temperature, VirialPressure, WallPressure, Contacts, WallContacts,
                        LargestOverlap, LargestSpeed, BallCount>(context);
    if (!context.driven) return all;
    for (auto& one : make_all<Heat, WallHeat, Work>(context)) all.push_back(std::move(one));
    return all;
}

std::vector<std::string> observable_kinds() {
    std::vector<std::string> names;
    for (const Kind& kind : kKinds) names.emplace_back(kind.name);
    return names;
}

std::unique_ptr<Observable> make_observable(const ObserveRequest& request, const ObservableContext& context) {
    for (const Kind& kind : kKinds) {
        if (request.kind == kind.name) return kind.make(request, context);
    }
    throw std::invalid_argument("no observable is of kind '" + request.kind + "'");
}

}  // namespace carom
