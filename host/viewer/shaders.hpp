#pragma once

#include <string_view>

namespace carom {

/// The text of a file of `shaders/`, which the build puts into the program; empty for an unknown name.
std::string_view shader_source(std::string_view name);

}  // namespace carom
