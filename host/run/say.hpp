#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace carom {

/// Writes a message, and lets go of one that cannot be written (a full disk, a closed pipe): nobody should lose a run
/// for not reading about it.
void say_to(std::FILE* stream, const std::string& text) noexcept;

/// The same on standard error, with the arguments of fmt::format.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
    say_to(stderr, fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace carom
