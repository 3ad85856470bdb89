#pragma once

#include <span>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// Where a ball is and how large, as shaders/ball.vert reads it.
struct BallPlace {
    float x = 0.0f;  ///< from the cloud's origin [length]
    float y = 0.0f;
    float z = 0.0f;
    float radius = 0.0f;  ///< [length]
};

/// All that the renderer knows of balls: whoever has places and values can have them drawn.
struct BallCloud {
    std::span<const BallPlace> places;
    std::span<const float> values;  ///< one per place: what the colour stands for
    Vector3 origin{};
    float largest_radius = 0.0f;
};

/// The middle of the box, from which places of clouds are measured: single precision is finest there.
Vector3 cloud_origin(const Box& box);

/// Makes clouds from frames; reused without allocation.
class CloudMaker {
public:
    /// Balls that have left are skipped. In 2D a ball that hangs over a periodic face is there a second time, at the
    /// opposite face.
    /// \param values  one per ball, by id
    /// \returns  a cloud that is valid until the next call
    BallCloud make(const Scene& scene, const Balls& balls, const Frame& frame, std::span<const float> values);

private:
    std::vector<BallPlace> places_;
    std::vector<float> values_;
};

}  // namespace carom
