#pragma once

#include <cstdint>
#include <string>

namespace carom {

/// 1234567 as "1,234,567".
std::string count_text(std::uint64_t count);

/// Bytes as people say them: "63 MB".
std::string bytes_text(std::uint64_t bytes);

/// "1 ball", "2 balls".
std::string plural(std::uint64_t count, const std::string& noun);

/// 0.99314 and its standard error 0.00042 as "0.9931(4)", as physicists write it.
std::string with_error(double value, double error);

}  // namespace carom
