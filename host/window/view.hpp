#pragma once

#include <functional>
#include <string>

#include "host/viewer/painter.hpp"
#include "host/window/show.hpp"

namespace carom {

/// What `carom view` is to show, and how at first.
struct ViewRequest {
    std::string name;  ///< for the title bar and the files of pictures and movies
    int width = 1280;
    int height = 800;
    PictureStyle style;
    CameraWish camera;
    bool playing = true;
    bool panels = true;
};

/// How a look at something ended.
struct ViewOutcome {
    double time = 0.0;  ///< of the last frame that was shown
    std::uint64_t step = 0;
    std::uint64_t pictures = 0;  ///< drawn
    double seconds = 0.0;
    std::string error;  ///< what stopped a live run; empty if nothing did
};

/// Opens a window and returns once it is closed.
/// \param interrupted  gives a signal's number, or 0
/// \throws SystemError  no display, or no OpenGL 4.5
ViewOutcome view(Show& show, const ViewRequest& request, const std::function<int()>& interrupted);

}  // namespace carom
