#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/viewer/painter.hpp"
#include "host/window/panels.hpp"
#include "host/window/show.hpp"

namespace carom {

/// What the mouse does to the picture: moves, turns and zooms the camera, picks balls, and kicks them.
class Pointer {
public:
    /// Once a picture, between begin_panels and end_panels. \param pixels  per unit of the pointer's place
    /// \returns  whether there is something to draw
    bool act(Show& show, Painter& painter, ViewState& state, double pixels);
    /// Whether a button is held.
    [[nodiscard]] bool busy() const { return drag_ != Drag::kNone; }
    /// Ends a cue stroke that is being drawn, without a kick. \returns  whether there was one
    bool cancel();
    /// The cue stroke being drawn, with its speed, and the ring around the picked ball [pixels].
    void add_marks(LineList& lines, const Show& show, Painter& painter, const ViewState& state) const;

private:
    enum class Drag { kNone, kMove, kTurn, kKick, kCancelled };

    /// What the stroke gives the ball: it would fly its length in a second of what one sees. \pre there is a ball
    [[nodiscard]] Vector3 stroke(const Show& show, const Camera& camera) const;

    Drag drag_ = Drag::kNone;
    bool moved_ = false;
    std::optional<std::size_t> cue_;  // the ball that is being kicked
    double x_ = 0.0;                  // of the pointer [pixels]
    double y_ = 0.0;
};

/// The ball that is seen at a place of the picture, the nearest of several.
/// \param clips  what is cut off and not seen
std::optional<std::size_t> ball_at(const Frame& frame, const Balls& balls, const Camera& camera,
                                   std::span<const ClipPlane> clips, double x, double y,
                                   const std::function<bool(std::size_t)>& left_out = {});

/// What `carom view` is to show, and how at first.
struct ViewRequest {
    std::string name;  ///< for the title bar and the files of pictures and movies
    int width = 1280;
    int height = 800;
    std::string source;             ///< the scene or file with what was said of it, as `carom render` takes it
    std::string look_file;          ///< of --look; empty: none
    std::vector<std::string> look;  ///< what it says, as look_overrides gives it
    PictureStyle style;
    bool playing = true;
    bool panels = true;
    std::string_view movie = ".mp4";  ///< the ending of movies that are recorded, of movie_endings()
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
