#pragma once

#include <array>
#include <span>
#include <vector>

#include "host/state/balls.hpp"

namespace carom {

/// How a ball is turned from its own frame to the scene's: a unit quaternion x, y, z, w. In 2D x and y are 0.
using BallTurn = std::array<float, 4>;

/// How far balls have turned, added up over the frames that are looked at: for pictures alone, and the way that each
/// ball stands at first is made up.
class BallTurns {
public:
    /// Goes on to a frame, or back: with the mean of its spins and those of the frame before.
    /// \returns  one per ball, by id; none where frames hold no spins. Valid until the next call
    std::span<const BallTurn> at(const Frame& frame);
    /// \returns  whether any ball has a spin
    [[nodiscard]] static bool any_spin(const Frame& frame);

private:
    double time_ = 0.0;
    std::vector<BallTurn> turns_;
    std::array<std::vector<double>, 3> spin_;  // of the frame before
};

}  // namespace carom
