#pragma once

#include <span>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/frame.hpp"
#include "kernels/core/picture.hpp"

namespace carom {

/// All that the renderer knows of balls: whoever has places and values can have them drawn.
struct BallCloud {
    std::span<const BallPlace> places;
    std::span<const float> values;  ///< one per place: what the colour stands for
    Vector3 origin{};
    float largest_radius = 0.0f;
};

/// The middle of the box, from which places of clouds are measured: single precision is finest there.
Vector3 cloud_origin(const Box& box);

/// Adds the second pictures of a ball that hangs over periodic faces of a box in 2D: at the opposite ones.
void add_second_pictures(const Box& box, const BallPlace& place, float value, std::vector<BallPlace>& places,
                         std::vector<float>& values);

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
