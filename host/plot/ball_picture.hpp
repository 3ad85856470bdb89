#pragma once

#include <cstdint>
#include <string>

#include "host/plot/image.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

enum class ColorBy : std::uint8_t {
    kAuto,  ///< species where there are several, else speed
    kSpecies,
    kSpeed,
};

struct PictureOptions {
    int width = 1200;  ///< of the whole picture at most [pixels]
    int height = 900;
    ColorBy color_by = ColorBy::kAuto;
};

/// A picture of all balls in their box, with title and legend: seen from above in 2D, and in 3D without perspective
/// from a corner, upwards being against gravity. Drawn on the CPU, without a display. As wide and high as fits the box.
/// \param balls  for species and radii; its positions are not looked at
Image draw_balls(const Scene& scene, const Balls& balls, const Frame& frame, const PictureOptions& options);

}  // namespace carom
