#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

namespace carom {

/// Appends the shortest text that reads back to the same value; it shows that it is no whole number: `1.0`.
template <class Real>
void append_number(std::string& text, Real value) {
    const std::size_t begin = text.size();
    fmt::format_to(std::back_inserter(text), "{}", value);
    // Neither a fraction, nor an exponent, nor `inf` or `nan`.
    if (std::string_view(text).substr(begin).find_first_of(".en") == std::string_view::npos) text += ".0";
}

/// Appends a value as it was stored: `single` says that it was a float.
inline void append_stored(std::string& text, double value, bool single) {
    if (single) {
        append_number(text, static_cast<float>(value));
    } else {
        append_number(text, value);
    }
}

}  // namespace carom
