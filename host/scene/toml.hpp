#pragma once

// toml++ with this project's settings, the same in every file that includes it: compiled once, in toml.cpp, and
// with the standard library's exact conversions of numbers.
#define TOML_HEADER_ONLY 0
#define TOML_FLOAT_CHARCONV 1
#define TOML_INT_CHARCONV 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>
