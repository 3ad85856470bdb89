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
    /// Of a face across an axis [length^(d-1)].
    [[nodiscard]] double face_area(int axis) const { return volume() / size[axis]; }

    // What the box leaves to the centres of balls of a radius, which come no nearer to a wall.

    /// What is kept free at the lower (0) or upper (1) face of an axis [length].
    [[nodiscard]] double kept(int axis, int end, double radius) const {
        return faces[axis][end] == Face::kWall ? radius : 0.0;
    }
    [[nodiscard]] double low(int axis, double radius) const { return min[axis] + kept(axis, 0, radius); }
    [[nodiscard]] double high(int axis, double radius) const { return min[axis] + size[axis] - kept(axis, 1, radius); }
    [[nodiscard]] double length(int axis, double radius) const {
        return size[axis] - kept(axis, 0, radius) - kept(axis, 1, radius);
    }
    [[nodiscard]] double volume(double radius) const {
        double product = 1.0;
        for (int axis = 0; axis < dimension; ++axis) product *= length(axis, radius);
        return product;
    }
    /// Face area times the length along an axis. A virial over the sum of these, which is d V in a periodic box, is the
    /// mean pressure on the walls (VirialPressure in host/observables/every_run.cpp).
    [[nodiscard]] double volume_along(int axis, double radius) const { return face_area(axis) * length(axis, radius); }
    [[nodiscard]] double volumes_along(double radius) const {
        double sum = 0.0;
        for (int axis = 0; axis < dimension; ++axis) sum += volume_along(axis, radius);
        return sum;
    }
};

}  // namespace carom
