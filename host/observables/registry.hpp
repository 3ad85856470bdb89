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
};

/// What every run records, in the order of a row.
std::vector<std::unique_ptr<Observable>> default_observables(const ObservableContext& context);

/// The kinds that [[observe]] knows.
std::vector<std::string> observable_kinds();

/// \throws std::invalid_argument  for a kind that is not in observable_kinds()
std::unique_ptr<Observable> make_observable(const ObserveRequest& request, const ObservableContext& context);

}  // namespace carom
