#pragma once

#include <memory>

#include "host/observables/registry.hpp"

namespace carom {

/// Counts the balls of a species that are farther than a threshold from where they were at time 0, the way around
/// periodic sides counted. A ball that has left the box has moved.
/// \throws std::invalid_argument  if the context has no start
std::unique_ptr<Observable> make_displaced(const ObserveRequest& request, const ObservableContext& context);

/// Tells of each of these balls, by its id, whether it has moved: 1 or 0. The sum is what make_displaced counts.
std::unique_ptr<Observable> make_displaced_each(const ObserveRequest& request, const ObservableContext& context);

}  // namespace carom
