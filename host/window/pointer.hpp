#pragma once

#include <optional>

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
    /// The cue stroke being drawn, and the ring around the picked ball [pixels].
    void add_marks(LineList& lines, const Show& show, Painter& painter, const ViewState& state) const;

private:
    enum class Drag { kNone, kMove, kTurn, kKick };

    Drag drag_ = Drag::kNone;
    bool moved_ = false;
    std::optional<std::size_t> cue_;  // the ball that is being kicked
    double x_ = 0.0;                  // of the pointer [pixels]
    double y_ = 0.0;
};

/// The ball that is seen at a place of the picture, the nearest of several.
/// \param clip  what is cut off and not seen; empty: nothing
std::optional<std::size_t> ball_at(const Frame& frame, const Balls& balls, const Camera& camera,
                                   const std::optional<ClipPlane>& clip, double x, double y);

}  // namespace carom
