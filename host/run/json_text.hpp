#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carom {

/// As text that is UTF-8 whatever names are in it: bytes that are none become U+FFFD.
/// \param indent  blanks a level; below 0: all in one line
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace carom
