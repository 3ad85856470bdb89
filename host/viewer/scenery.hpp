#pragma once

#include "host/viewer/camera.hpp"
#include "host/viewer/line_list.hpp"
#include "host/viewer/theme.hpp"

namespace carom {

/// The box and the walls as lines, places from `origin` [length]. Walls are drawn through, periodic and open faces in
/// dashes.
/// \param scale  of the user interface: 1 for a picture about 800 pixels high
void add_scenery(LineList& lines, const Scene& scene, const Vector3& origin, const Theme& theme, float scale);

/// 2D: the inside of the box as one broad line. Its width depends on the camera.
void add_inside(LineList& lines, const Scene& scene, const Vector3& origin, const Theme& theme, const Camera& camera);

}  // namespace carom
