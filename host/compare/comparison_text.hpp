#pragma once

#include <string>

#include "host/compare/compare.hpp"

namespace carom {

/// The findings for people, several lines, each ended.
std::string comparison_text(const Comparison& comparison, const Scene& scene);

/// The same as one JSON object on one line.
std::string comparison_json(const Comparison& comparison, const Scene& scene, const std::string& figure);

}  // namespace carom
