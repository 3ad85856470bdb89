#pragma once

#include <string>
#include <string_view>

// toml++ with this project's settings, the same in every file that includes it: compiled once, in toml.cpp, and
// with the standard library's exact conversions of numbers.
#define TOML_HEADER_ONLY 0
#define TOML_FLOAT_CHARCONV 1
#define TOML_INT_CHARCONV 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace carom {

/// toml::parse, but for a text with keys of more parts than any scene's, for which toml++ would need as much stack.
/// \param name  of the file, for messages
/// \throws toml::parse_error  it is no TOML
/// \throws InputError         FILE:LINE:COLUMN: such a key
toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace carom
