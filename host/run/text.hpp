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

}  // namespace carom
