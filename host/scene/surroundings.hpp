#pragma once

#include <cstdint>
#include <vector>

#include "host/scene/obstacle_cells.hpp"
#include "host/scene/scene.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"

namespace carom {

/// What stands around balls that fly in a part of the box: the balls placed before, and the scene's [[wall]]s.
template <int Dim>
class Surroundings {
public:
    struct Encounter {
        double time = kNeverTouch;  ///< from now
        std::uint32_t number = 0;   ///< of what is met
    };

    Surroundings() = default;
    /// \param largest  radius of the balls that fly
    Surroundings(const Scene& scene, const PlacementGrid<Dim>& grid, const std::vector<PlacedBall<Dim>>& placed,
                 double largest)
        : largest_(largest), obstacles_(grid, scene.box, obstacles_for(largest, placed)) {
        for (const Wall& wall : scene.walls) {
            const bool plane = wall.shape == Wall::Shape::kPlane;
            Boundary<Dim> boundary{};
            boundary.shape = plane ? BoundaryShape::kPlane : BoundaryShape::kSphere;
            for (int axis = 0; axis < Dim; ++axis) {
                boundary.reference[axis] = plane ? wall.offset * wall.normal[axis] : wall.center[axis];
                if (plane) boundary.plane.normal[axis] = wall.normal[axis];
            }
            if (!plane) boundary.sphere = {wall.radius, wall.side == Wall::Side::kInside ? -1.0 : 1.0};
            boundaries_.push_back(boundary);
        }
    }

    /// What a ball meets first while it is in a cell.
    [[nodiscard]] Encounter next(const Point<Dim>& center, const Point<Dim>& velocity, double radius,
                                 std::size_t cell) const {
        Encounter first;
        const auto note = [&first](double time, std::size_t number) {
            if (time < first.time) first = {time, static_cast<std::uint32_t>(number)};
        };
        obstacles_.all_in(cell, [&](std::uint32_t number) {
            const Obstacle<Dim>& other = obstacles_.all()[number];
            const double reach = other.reach - largest_ + radius;
            note(pair_time<double, Dim>(other.center - center, -1.0 * velocity, reach, 0.0, kNeverTouch).time, number);
            return true;
        });
        for (std::size_t wall = 0; wall < boundaries_.size(); ++wall) {
            note(boundary_time(boundaries_[wall], center, velocity, radius), obstacles_.all().size() + wall);
        }
        return first;
    }

    /// The velocity of a ball that touches what has this number, once it has bounced off.
    [[nodiscard]] Point<Dim> bounced(std::uint32_t number, const Point<Dim>& center, const Point<Dim>& velocity) const {
        if (number < obstacles_.all().size()) {
            const Point<Dim> apart = obstacles_.all()[number].center - center;
            const double closing = -dot(apart, velocity);
            if (closing >= 0.0) return velocity;
            return velocity - impulse_factor(closing, dot(apart, apart), 1.0, 1.0) * apart;
        }
        const Boundary<Dim>& boundary = boundaries_[number - obstacles_.all().size()];
        const Point<Dim> normal = boundary.gap(center - boundary.reference).normal;
        return velocity + normal_impulse(dot(velocity, normal), 1.0, 1.0) * normal;
    }

private:
    [[nodiscard]] static double boundary_time(const Boundary<Dim>& boundary, const Point<Dim>& center,
                                              const Point<Dim>& velocity, double radius) {
        const Point<Dim> from = center - boundary.reference;
        if (boundary.shape == BoundaryShape::kPlane) {
            const WallGap<Dim> gap = boundary.gap(from);
            return plane_time(gap.distance - radius, dot(velocity, gap.normal), 0.0);
        }
        const double sphere = boundary.sphere.radius;
        if (boundary.sphere.side < 0.0) return inside_sphere_time(from, velocity, sphere - radius);
        return pair_time<double, Dim>(from, velocity, sphere + radius, 0.0, kNeverTouch).time;
    }

    double largest_ = 0.0;
    ObstacleCells<Dim> obstacles_;  // numbered first
    std::vector<Boundary<Dim>> boundaries_;
};

}  // namespace carom
