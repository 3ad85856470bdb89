#pragma once

#include "host/cli/viewer_options.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

/// A picture's size [pixels].
struct PictureSize {
    int width = 1280;
    int height = 800;
};

/// \throws InputError  naming the option --size
PictureSize picture_size(const ViewerOptions& options);

/// \throws InputError  naming the option that is wrong
PictureStyle picture_style(const ViewerOptions& options);

}  // namespace carom
