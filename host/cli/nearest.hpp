#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// The candidate that needs the fewest insertions, deletions, replacements and swaps of neighbours to become `word`;
/// empty if none is near enough to be what was meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean X?" or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace carom
