#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"

namespace carom {

/// One [[observe]] entry, as observables need it.
struct ObserveRequest {
    std::string name;
    std::string kind;
    std::string species;  ///< empty: all balls
    double threshold = 0.0;
    std::string with;                    ///< gr: the species of the other balls; empty: as `species`
    int axis = 0;                        ///< of a profile; of a map in 3D the one along which one looks
    std::size_t bins = 0;                ///< 0: as many as the kind likes
    double max = 0.0;                    ///< where the bins end; 0: as the kind likes
    Vector3 region_min{}, region_max{};  ///< temperature: only balls whose centres are in there
    double from = 0.0;                   ///< samples count from this time on
};

/// What every run records, in the order of a row.
std::vector<std::unique_ptr<Observable>> default_observables(const ObservableContext& context);

/// The kinds that [[observe]] knows and that give a value in each row; averager.hpp has the others.
std::vector<std::string> observable_kinds();

/// \throws std::invalid_argument  for a kind that is not in observable_kinds()
std::unique_ptr<Observable> make_observable(const ObserveRequest& request, const ObservableContext& context);

}  // namespace carom
