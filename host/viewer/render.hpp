#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/plot/figure.hpp"
#include "host/viewer/frame_source.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

/// What `carom render` is to make.
struct RenderRequest {
    std::string
        output;  ///< one picture (.png), a movie (.mp4, .webm, .gif), or a folder for pictures (ends in '/', or exists)
    int width = 1280;
    int height = 800;
    double frames_per_second = 30.0;
    PictureStyle style;
    std::vector<CameraKey> camera_keys;  ///< in the order of their times; none: it stays
    std::optional<std::size_t> follow;   ///< the ball that is looked at
    bool notes = false;                  ///< the run's numbers over the picture
    std::vector<Figure> charts;          ///< beside the balls, one below the other
    bool force = false;
    bool quiet = false;
};

/// What an output's name asks for.
enum class RenderKind : std::uint8_t { kPicture, kMovie, kFolder };

/// \throws InputError  the name is none of a picture, a movie or a folder
RenderKind render_kind(const std::string& output);

/// \throws InputError  one of the inputs is the output, or a picture of an earlier call in that folder, whatever it is
///     called: it would be overwritten, or removed
void require_inputs_stay(const std::string& output, std::span<const std::string> inputs);

/// Finds out before anything is drawn that the output could not be written.
/// \param input  what is read, and must not be overwritten
/// \throws InputError, SystemError
void check_render_output(const RenderRequest& request, const std::string& input);

/// Draws all frames of the source, without a display.
/// \param interrupted  gives a signal's number, or 0; a movie that is not whole is then left out
/// \returns  how many frames were drawn
/// \throws SystemError  no EGL with OpenGL 4.5; a file cannot be written; no ffmpeg
std::size_t render(FrameSource& source, const RenderRequest& request, const std::function<int()>& interrupted);

}  // namespace carom
