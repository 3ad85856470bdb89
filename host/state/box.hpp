#pragma once

#include <array>
#include <cstdint>

namespace carom {

/// A point or vector in user units; in 2D the third component is zero.
using Vector3 = std::array<double, 3>;

/// What a face of the box does to a ball that reaches it.
enum class Face : std::uint8_t {
    kWall,      ///< reflects
    kPeriodic,  ///< wraps to the opposite face; both faces of an axis or neither
    kOpen,      ///< lets the ball out; once wholly outside it is taken out of the run and counted
};

/// The simulation box: an axis-aligned rectangle (2D) or cuboid (3D) [length].
struct Box {
    int dimension = 2;
    Vector3 min{};   ///< lower corner
    Vector3 size{};  ///< edge lengths; 0 on the unused axis in 2D
    /// faces[axis][0] is the face at min, faces[axis][1] the one at min + size.
    std::array<std::array<Face, 2>, 3> faces{};
    /// Of walls that are thermal [energy], as `faces`; 0: the wall reflects.
    std::array<std::array<double, 2>, 3> temperature{};

    [[nodiscard]] bool periodic(int axis) const { return faces[axis][0] == Face::kPeriodic; }
    /// Area (2D) or volume (3D).
    [[nodiscard]] double volume() const { return dimension == 2 ? size[0] * size[1] : size[0] * size[1] * size[2]; }
};

}  // namespace carom
