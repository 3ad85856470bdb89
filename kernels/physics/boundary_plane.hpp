#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/core/arithmetic.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/wall.hpp"

namespace carom {

inline constexpr Key kPlaneKeys[] = {
    {.name = "normal",
     .type = KeyType::kDirection,
     .fallback = "required",
     .help = "plane: points to where the balls may be; made a unit vector"},
    {.name = "offset",
     .fallback = "0.0",
     .help = "plane: the points with normal . x = offset, normal of length 1 [length]"},
    {.name = "velocity",
     .fallback = "0.0",
     .help = "plane: moves along its normal from its offset at time 0 [length/time]; negative: away from the balls"},
};

/// A plane: normal . x = normal . reference. Balls may be on the side that the normal points to.
template <int Dim>
struct PlaneBoundary {
    static constexpr std::string_view kName = "plane";
    static constexpr std::string_view kHelp = "";
    static constexpr int kLeastDimension = 2;
    static constexpr std::span<const Key> kKeys = kPlaneKeys;
    static constexpr std::string_view kMovingKey = "offset";
    static constexpr SeamRule kSeam{"normal",
                                    "must be 0 along a periodic axis: the wall would not meet itself at the seam", ""};

    Vec<double, Dim> normal;  ///< unit vector

    static PlaneBoundary make(const KindValues& values) { return {values.vector<Dim>("normal")}; }
    static Vec<double, Dim> reference(const KindValues& values) {
        return values.number("offset") * values.vector<Dim>("normal");
    }

    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_reference) const {
        return {dot(normal, from_reference), normal};
    }

    template <bool Curved>
    [[nodiscard]] double touch_time(const Approach<Dim>& ball) const {
        const double height = gap(ball.from_reference).distance - ball.radius - ball.wall_way;
        const double speed = dot(ball.velocity, normal) - ball.wall_speed;
        return plane_time(height, ball.met ? larger(speed, 0.0) : speed, Curved ? dot(ball.acceleration, normal) : 0.0);
    }

    [[nodiscard]] double largest_ball() const { return std::numeric_limits<double>::infinity(); }
    [[nodiscard]] AlongAxis along(int axis) const {
        return {normal[axis] == 0.0, std::numeric_limits<double>::infinity()};
    }
    [[nodiscard]] int across(int dimension) const {
        constexpr double kStraight = 1.0 - 1e-12;  // of a unit vector's component
        for (int axis = 0; axis < dimension; ++axis) {
            if (std::abs(normal[axis]) >= kStraight) return axis;
        }
        return -1;
    }
    bool leave(const Vec<double, 3>& reference, const WallBox& box, double radius, WallBox& room) const {
        double farthest = 0.0;  // of the box's corners, how far before the plane
        for (int axis = 0; axis < box.dimension; ++axis) {
            farthest += normal[axis] * ((normal[axis] > 0.0 ? box.high : box.low)[axis] - reference[axis]);
        }
        if (!(farthest > 0.0)) return false;
        const int axis = across(box.dimension);
        if (axis >= 0 && normal[axis] > 0.0) room.low[axis] = larger(room.low[axis], reference[axis] + radius);
        if (axis >= 0 && normal[axis] < 0.0) room.high[axis] = smaller(room.high[axis], reference[axis] - radius);
        return true;
    }

    /// The edges of the polygon that it cuts out of the box, in order around it; in 2D one line.
    template <class Pen>
    void outline(const Vec<double, 3>& reference, const WallBox& box, Pen&& pen) const {
        std::vector<Vec<double, 3>> cuts;
        const auto corner = [&](int number) {
            Vec<double, 3> at = box.low;
            for (int axis = 0; axis < box.dimension; ++axis) {
                if ((number >> axis & 1) != 0) at[axis] = box.high[axis];
            }
            return at;
        };
        for (int number = 0; number < 1 << box.dimension; ++number) {
            for (int axis = 0; axis < box.dimension; ++axis) {
                if ((number >> axis & 1) != 0) continue;
                const Vec<double, 3> a = corner(number);
                const Vec<double, 3> b = corner(number | 1 << axis);
                const double at_a = dot(normal, a - reference);
                const double at_b = dot(normal, b - reference);
                if (at_a == at_b || at_a * at_b > 0.0) continue;
                cuts.push_back(a + (at_a / (at_a - at_b)) * (b - a));
            }
        }
        if (cuts.size() < 2) return;
        if (box.dimension == 3) {
            Vec<double, 3> middle = Vec<double, 3>::filled(0.0);
            for (const auto& cut : cuts) middle = middle + (1.0 / static_cast<double>(cuts.size())) * cut;
            const Vec<double, 3> u = cuts[0] - middle;
            const Vec<double, 3>& n = normal;
            const Vec<double, 3> v{n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};
            const auto angle = [&](const Vec<double, 3>& cut) {
                return std::atan2(dot(cut - middle, v), dot(cut - middle, u));
            };
            std::ranges::sort(cuts, {}, angle);
            cuts.push_back(cuts.front());
        }
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k) pen.line(cuts[k], cuts[k + 1], true);
    }
};

}  // namespace carom
