#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/sweep/sweep.hpp"

namespace carom {

/// The file of a sweep: the path itself where it exists, else NAME.sweep.toml among the installed scenes.
/// \throws SystemError  there is none
std::string find_sweep(const std::string& path_or_name);

/// Reads and validates a sweep file; what it says about the scene is looked at by check_sweep.
/// \param overrides  "table.key=VALUE", of the command line
/// \throws InputError   file:line:column: key: what is wrong and what is allowed
/// \throws SystemError  there is no such file, or it cannot be read
Sweep load_sweep(const std::string& path_or_name, const std::vector<std::string>& overrides = {});

/// The same for a text; `path` stands for the file, and the scene is looked for in its folder.
Sweep parse_sweep(std::string_view text, const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace carom
