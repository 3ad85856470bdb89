#pragma once

#include <string>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// The label of the key without which the spring solver could run a scene that it refuses: each key
/// that the scene gives is in turn replaced by something harmless. Empty where no single key is at fault.
std::string key_to_blame(const Scene& scene, const Balls& balls);

}  // namespace carom
