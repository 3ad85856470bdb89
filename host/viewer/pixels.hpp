#pragma once

#include <cstdint>
#include <vector>

namespace carom {

/// A finished picture: three bytes a pixel, row by row from the top.
struct Pixels {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;
};

}  // namespace carom
