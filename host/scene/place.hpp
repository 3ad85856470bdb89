#pragma once

#include <memory>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// The initial state: the [[ball]]s in file order, the balls of each [[load]], then those of each [[fill]]. The same
/// scene and seed give the same bits on every machine.
/// \throws InputError  when a fill cannot be placed; says what is reachable
Balls make_balls(const Scene& scene);

/// The same, where they can be made one after the other: [[ball]]s, and fills on lattices. Null where they cannot, or
/// the solver wants all. \throws InputError  as make_balls
std::shared_ptr<const BallParts> balls_in_parts(const Scene& scene);

/// Memory that one of Balls takes [bytes].
double ball_bytes(int dimension);
/// Memory that this process may have: the machine's, with swap, or what a limit leaves [bytes].
double memory_limit();

}  // namespace carom
