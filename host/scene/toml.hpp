#pragma once

#include <string>
#include <string_view>

// toml++ with this project's settings, the same in every file that includes it: compiled once, in toml.cpp, and
// with the standard library's exact conversions of numbers.
#define TOML_HEADER_ONLY 0
#define TOML_FLOAT_CHARCONV 1
#define TOML_INT_CHARCONV 1
#define TOML_EXCEPTIONS 1

namespace carom {

/// What toml++ takes for granted is not so: ends parse_toml, which knows the file, with an InputError.
[[noreturn]] void refuse_toml();

}  // namespace carom

// What it takes for granted a text may break ("[=]"), so it is looked at in every build, and never ends the program.
// Where NDEBUG is defined toml++ would not ask, but let the compiler rely on it.
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? static_cast<void>(0) : ::carom::refuse_toml())
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace carom {

/// toml::parse, but for a text with keys of more parts than any scene's, for which toml++ would need as much stack.
/// \param name  of the file, for messages
/// \throws toml::parse_error  it is no TOML
/// \throws InputError         FILE:LINE:COLUMN: such a key, or a name of a table that toml++ does not stand
toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace carom
