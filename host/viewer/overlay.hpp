#pragma once

#include <string>
#include <vector>

#include "host/viewer/camera.hpp"
#include "host/viewer/line_list.hpp"
#include "host/viewer/quantity.hpp"
#include "host/viewer/theme.hpp"

namespace carom {

/// What is written over a picture.
struct OverlayContent {
    std::string title;
    std::vector<std::string> notes;  ///< numbers of the run, one a line; empty: none
    Quantity quantity = Quantity::kSpeed;
    const Palette* palette = nullptr;
    ValueRange range;
    int dimension = 2;
};

/// How large texts and lines are: 1 for a picture about 800 pixels high.
float overlay_scale(int height);

/// The rim that the overlay needs around the box.
/// \param legend  whether there will be one
Viewport overlay_viewport(int width, int height, bool legend);

/// Title, legend, scale bar, and in 3D the axes. Places are pixels.
void add_overlay(LineList& lines, const OverlayContent& content, const Camera& camera, const Theme& theme);

/// Whether a legend says anything.
bool has_legend(const Palette& palette);

}  // namespace carom
