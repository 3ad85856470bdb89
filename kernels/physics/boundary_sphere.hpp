#pragma once

#include <limits>
#include <span>

#include "kernels/core/arithmetic.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/wall.hpp"

namespace carom {

inline constexpr Key kSphereKeys[] = {
    {.name = "center", .type = KeyType::kVector, .fallback = "required", .help = "sphere [length]"},
    {.name = "radius", .bounds = kPositive, .fallback = "required", .help = "sphere [length]"},
    {.name = "side",
     .type = KeyType::kChoice,
     .choices = "inside|outside",
     .fallback = "\"inside\"",
     .help = "sphere: where the balls may be"},
};

/// A sphere (a circle in 2D). Balls may be inside (`side` = -1) or outside (`side` = +1).
template <int Dim>
struct SphereBoundary {
    static constexpr std::string_view kName = "sphere";
    static constexpr std::string_view kHelp = "a circle in 2D";
    static constexpr int kLeastDimension = 2;
    static constexpr std::span<const Key> kKeys = kSphereKeys;
    static constexpr std::string_view kMovingKey = "";
    static constexpr SeamRule kSeam{"", "", "center"};

    double radius;  ///< [length]
    double side;

    static SphereBoundary make(const KindValues& values) {
        return {values.number("radius"), values.choice("side") == 0 ? -1.0 : 1.0};
    }
    static Vec<double, Dim> reference(const KindValues& values) { return values.vector<Dim>("center"); }

    /// At the very centre the normal is the first axis: any direction is right there.
    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_center) const {
        const double distance = square_root(dot(from_center, from_center));
        Vec<double, Dim> normal = Vec<double, Dim>::filled(0.0);
        if (distance > 0.0) {
            normal = (side / distance) * from_center;
        } else {
            normal[0] = side;
        }
        return {side * (distance - radius), normal};
    }

    template <bool Curved>
    [[nodiscard]] double touch_time(const Approach<Dim>& ball) const {
        return round_wall_time<Curved>(ball.from_reference, ball.velocity, ball.acceleration,
                                       radius + side * ball.radius, side < 0.0, ball.met);
    }

    [[nodiscard]] double largest_ball() const { return side < 0.0 ? radius : std::numeric_limits<double>::infinity(); }
    [[nodiscard]] AlongAxis along(int /*axis*/) const { return {false, radius}; }
    [[nodiscard]] int across(int /*dimension*/) const { return -1; }
    bool leave(const Vec<double, 3>& /*reference*/, const WallBox& /*box*/, double /*radius*/,
               WallBox& /*room*/) const {
        return true;
    }

    /// Three circles at right angles; in 2D the circle itself.
    template <class Pen>
    void outline(const Vec<double, 3>& reference, const WallBox& box, Pen&& pen) const {
        constexpr Vec<double, 3> kX{1.0, 0.0, 0.0};
        constexpr Vec<double, 3> kY{0.0, 1.0, 0.0};
        constexpr Vec<double, 3> kZ{0.0, 0.0, 1.0};
        pen.circle(reference, radius, kX, kY, true);
        if (box.dimension == 2) return;
        pen.circle(reference, radius, kY, kZ, false);
        pen.circle(reference, radius, kZ, kX, false);
    }
};

}  // namespace carom
