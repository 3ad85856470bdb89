#pragma once

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// The initial state: the [[ball]]s in file order, then the balls of each [[fill]]. The same scene and seed give
/// the same bits on every machine.
/// \throws InputError  when a fill cannot be placed; says what is reachable
Balls make_balls(const Scene& scene);

}  // namespace carom
