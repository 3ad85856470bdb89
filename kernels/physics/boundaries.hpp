#pragma once

#include <cstdint>

#include "kernels/physics/boundary_plane.hpp"
#include "kernels/physics/boundary_sphere.hpp"

// The registry of boundary shapes. A new shape is one file with `gap(from_reference)`, one enumerator, one
// union member and one case here.

namespace carom {

enum class BoundaryShape : std::uint8_t { kPlane, kSphere };

/// Any wall: a face of the box or a [[wall]] of the scene.
template <int Dim>
struct Boundary {
    BoundaryShape shape;
    std::int32_t number;         ///< 0 to 5: faces x-min, x-max, y-min, ...; from 6: [[wall]] entries in file order
    Vec<double, Dim> reference;  ///< a point of the plane, the sphere's centre [length, user coordinates]
    double temperature;          ///< of a thermal wall [energy], see thermal_wall.hpp; 0: the wall reflects
    double speed;                ///< of a moving wall, along its normal [velocity]
    union {
        PlaneBoundary<Dim> plane;
        SphereBoundary<Dim> sphere;
    };

    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_reference) const {
        return shape == BoundaryShape::kPlane ? plane.gap(from_reference) : sphere.gap(from_reference);
    }
};

}  // namespace carom
