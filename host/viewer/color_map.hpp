#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host/plot/image.hpp"

namespace carom {

/// Which colours stand for low and high values.
enum class ColorMap : std::uint8_t { kViridis, kEmber, kDusk, kBalance, kGrey };

struct ColorMapInfo {
    ColorMap map;
    const char* name;  ///< on the command line and in panels
};

/// All of them, in the order of the enumeration.
std::span<const ColorMapInfo> color_maps();

/// So many colours from the lowest to the highest value. Equal steps look equally large, also without colours:
/// lightness only grows; that of kBalance, for values about a middle, grows to the middle and falls again. \param count
/// at least 2
std::vector<Color> map_colors(ColorMap map, std::size_t count);

/// Lightness and the two colour axes of CIE 1976 L*a*b* under D65, in which distances are about as large as they look.
std::array<double, 3> lab_of(const Color& color);

}  // namespace carom
