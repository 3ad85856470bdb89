#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "host/state/text.hpp"

namespace carom {

/// Writes a message, and lets go of one that cannot be written (a full disk, a closed pipe): nobody should lose a run
/// for not reading about it.
void say_to(std::FILE* stream, const std::string& text) noexcept;

/// The same on standard error, with the arguments of fmt::format.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
    say_to(stderr, fmt::format(format, std::forward<Values>(values)...));
}

/// 1234567 as "1,234,567".
std::string count_text(std::uint64_t count);

/// Bytes as people say them: "63 MB".
std::string bytes_text(std::uint64_t bytes);

/// Seconds as people say them, about: "12 s", "3 min", "5 h", "2 days".
std::string duration_text(double seconds);

/// "1 ball", "2 balls".
std::string plural(std::uint64_t count, const std::string& noun);

/// 0.99314 and its standard error 0.00042 as "0.9931(4)", as physicists write it; of -1.234e-9 and 4e-11
/// "-1.23(4)e-09".
std::string with_error(double value, double error);

/// As text that is UTF-8 whatever names are in it: bytes that are none become U+FFFD.
/// \param indent  blanks a level; below 0: all in one line
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace carom
