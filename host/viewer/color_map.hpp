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

/// The colours of all that is no ball.
struct Theme {
    Color paper;   ///< around the box
    Color inside;  ///< of the box, in 2D
    Color ink;     ///< text
    Color faint;   ///< open and periodic faces, edges of a 3D box
    Color wall;
    Color unknown;  ///< balls without a value
    Color floor;    ///< in 3D
};

constexpr Theme kDarkTheme{{0.098f, 0.110f, 0.137f}, {0.043f, 0.051f, 0.067f}, {0.90f, 0.91f, 0.93f},
                           {0.45f, 0.49f, 0.55f},    {0.82f, 0.83f, 0.80f},    {0.5f, 0.5f, 0.5f},
                           {0.30f, 0.32f, 0.36f}};
constexpr Theme kLightTheme{{1.0f, 1.0f, 1.0f},    {0.955f, 0.960f, 0.970f}, {0.13f, 0.15f, 0.18f},
                            {0.55f, 0.58f, 0.63f}, {0.25f, 0.27f, 0.30f},    {0.6f, 0.6f, 0.6f},
                            {0.90f, 0.90f, 0.91f}};

}  // namespace carom
