#pragma once

#include <string>

#include "host/scene/toml.hpp"

namespace carom {

/// Sets one key of a parsed scene: "table.key=VALUE", with [index] for elements of arrays ("ball[0].position[1]=0.4").
/// VALUE is TOML, or else text without quotes. Tables and keys that are not there are made; array elements are not.
/// \throws InputError  "--set KEY=VALUE: ..."
void apply_override(toml::table& root, const std::string& assignment);

}  // namespace carom
