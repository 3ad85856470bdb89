#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/core/one_of.hpp"
#include "kernels/core/wall_number.hpp"
#include "kernels/physics/boundary_cylinder.hpp"
#include "kernels/physics/boundary_plane.hpp"
#include "kernels/physics/boundary_sphere.hpp"

// The registry of wall shapes. A new shape is one file and its name in WallShapes; everything else that there is to
// know of a shape, it says itself, and what it does not say does not compile:
//
//   kName, kHelp, kKeys              what scenes call it, a few words for the reference, the keys that it takes
//   kLeastDimension                  3 for one that is only of space
//   kMovingKey                       which of its values grows at the speed of a wall that moves along its normal;
//                                    "": it stands still
//   make(values), reference(values)  from what a scene says of it: itself, and a point that it is measured from
//   gap(from_reference)              where a ball's centre stands to it, on every processor
//   touch_time<Curved>(approach)     when a ball in free flight touches it, from now; kNeverTouch: it does not.
//                                    Curved: there is an acceleration
//   largest_ball()                   radius of the largest ball that has room on its side
//   along(axis), kSeam               how it lies along an axis of the box, and what is wrong where a periodic one
//                                    cuts it
// and, for a box of 2 or 3 dimensions, of the shape in 3D (where a 2D wall lies flat):
//   across(dimension)                the axis that a flat wall lies across; -1: none
//   leave(reference, box, radius, room)  takes off `room` what it takes of the box from the centres of balls of a
//                                    radius, as far as a box remains; false: it leaves nothing at all
//   outline(reference, box, pen)     draws it with pen.line(a, b, main) and pen.circle(center, radius, u, v, main),
//                                    u and v unit vectors of its plane, main what is drawn broader

namespace carom {

template <int Dim>
using WallShapes = OneOf<PlaneBoundary<Dim>, SphereBoundary<Dim>, CylinderBoundary<Dim>>;

/// Any wall: a face of the box or a [[wall]] of the scene.
template <int Dim>
struct Boundary {
    WallShapes<Dim> shape;
    std::int32_t number;         ///< WallNumber
    Vec<double, Dim> reference;  ///< what the shape is measured from [length, user coordinates]
    double temperature;          ///< of a thermal wall [energy], see thermal_wall.hpp; 0: the wall reflects
    double speed;                ///< of a moving wall, along its normal [velocity]

    /// \param since  how long the wall has moved [time]
    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_reference, double since) const {
        WallGap<Dim> result = shape.visit([&](const auto& kind) { return kind.gap(from_reference); });
        result.distance = result.distance - speed * since;
        return result;
    }

    /// When a ball in free flight touches it, from now.
    /// \param since  how long the wall has moved [time]
    /// \param met    the two have just met
    template <bool Curved>
    [[nodiscard]] double touch_time(const Vec<double, Dim>& center, const Vec<double, Dim>& velocity,
                                    const Vec<double, Dim>& acceleration, double radius, double since, bool met) const {
        const Approach<Dim> ball{center - reference, velocity, acceleration, radius, speed * since, speed, met};
        return shape.visit([&](const auto& kind) { return kind.template touch_time<Curved>(ball); });
    }
};

/// All shapes, with the keys that they take.
inline std::vector<Kind> wall_shape_kinds() {
    std::vector<Kind> kinds;
    for (std::uint8_t number = 0; number < WallShapes<3>::kCount; ++number) {
        kinds.push_back(WallShapes<3>::with_type(number, [&]<class Shape>() {
            return Kind{Shape::kName, Shape::kKeys, Shape::kHelp};
        }));
    }
    return kinds;
}

/// The number of the shape that scenes call by this name.
inline std::uint8_t shape_number(std::string_view name) {
    const auto kinds = wall_shape_kinds();
    return static_cast<std::uint8_t>(std::ranges::find(kinds, name, &Kind::name) - kinds.begin());
}

/// What a [[wall]] is to a solver.
template <int Dim>
Boundary<Dim> make_boundary(const Wall& wall, WallNumber number) {
    return WallShapes<Dim>::with_type(wall.shape, [&]<class Shape>() {
        return Boundary<Dim>{Shape::make(wall.values), number.value(), Shape::reference(wall.values), wall.temperature,
                             wall.velocity};
    });
}

/// A face of the box that is a wall.
template <int Dim>
Boundary<Dim> face_boundary(WallNumber face, const Vec<double, Dim>& low, const Vec<double, Dim>& size,
                            double temperature) {
    PlaneBoundary<Dim> plane{Vec<double, Dim>::filled(0.0)};
    plane.normal[face.axis()] = face.inwards();
    Vec<double, Dim> reference = low;
    if (face.end() == 1) reference[face.axis()] += size[face.axis()];
    return {plane, face.value(), reference, temperature, 0.0};
}

/// Whether the wall is a face of the box that the ball does not touch: told by one coordinate, with the number that
/// its gap has (0 times the others is added to that), where most of the time would be spent on faces across the box.
template <int Dim>
CAROM_HD bool clear_of_face(const Boundary<Dim>& wall, const Vec<double, Dim>& position, double radius) {
    const WallNumber number(wall.number);
    if (!number.is_face()) return false;
    double gap = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        if (axis == number.axis()) gap = position[axis] - wall.reference[axis];
    }
    return number.inwards() * gap >= radius;
}

/// Whether it may have a velocity.
inline bool can_move(const Wall& wall) {
    return WallShapes<3>::with_type(wall.shape, [&]<class Shape>() { return !Shape::kMovingKey.empty(); });
}

/// How far along its normal a wall stands that can move [length]; 0 for others.
inline double stands_at(const Wall& wall) {
    return WallShapes<3>::with_type(wall.shape, [&]<class Shape>() {
        return Shape::kMovingKey.empty() ? 0.0 : wall.values.number(Shape::kMovingKey);
    });
}

/// Moves the wall by a way along its normal, if it can.
inline void move_wall(Wall& wall, double way) {
    WallShapes<3>::with_type(wall.shape, [&]<class Shape>() {
        if (!Shape::kMovingKey.empty()) wall.values.add(Shape::kMovingKey, way);
    });
}

}  // namespace carom
