#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/wall.hpp"

// A round cylinder without ends. What is along its axis a ball keeps; across the axis it is a circle: with
// d = x - (x . a) a, a the unit vector of the axis and x from a point of it to the ball's centre, the gap is |d| - R
// outside and R - |d| inside, and the time of contact is that of a circle for d, v and g without their parts along a.
// Limits: R -> infinity, a plane. Its rounding is that of x . a: in a pipe of length L some eps L, and none where the
// axis is one of the box's.

namespace carom {

inline constexpr Key kCylinderKeys[] = {
    {.name = "center",
     .type = KeyType::kVector,
     .fallback = "required",
     .help = "cylinder: a point of its axis [length]"},
    {.name = "axis",
     .type = KeyType::kDirection,
     .fallback = "required",
     .help = "cylinder: its direction, made a unit vector; parallel to a periodic axis, or across it"},
    {.name = "radius", .bounds = kPositive, .fallback = "required", .help = "cylinder [length]"},
    {.name = "side",
     .type = KeyType::kChoice,
     .choices = "inside|outside",
     .fallback = "\"inside\"",
     .help = "cylinder: where the balls may be"},
};

template <int Dim>
struct CylinderBoundary {
    static constexpr std::string_view kName = "cylinder";
    static constexpr std::string_view kHelp = "only in 3D";
    static constexpr int kLeastDimension = 3;
    static constexpr std::span<const Key> kKeys = kCylinderKeys;
    static constexpr std::string_view kMovingKey = "";
    static constexpr SeamRule kSeam{
        "axis",
        "must be 0 along a periodic axis, or the cylinder parallel to it: the wall would not meet itself at the seam",
        "center"};

    Vec<double, Dim> axis;  ///< unit vector
    double signed_radius;   ///< [length]; negative: the balls are inside (one number: a kernel's arguments are full)

    static CylinderBoundary make(const KindValues& values) {
        return {values.vector<Dim>("axis"), (values.choice("side") == 0 ? -1.0 : 1.0) * values.number("radius")};
    }
    static Vec<double, Dim> reference(const KindValues& values) { return values.vector<Dim>("center"); }

    CAROM_HD double side() const { return signed_radius < 0.0 ? -1.0 : 1.0; }
    CAROM_HD double radius() const { return side() * signed_radius; }
    CAROM_HD Vec<double, Dim> square_to_axis(const Vec<double, Dim>& x) const { return x - dot(axis, x) * axis; }

    /// On the axis the normal is any direction across it.
    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_center) const {
        Vec<double, Dim> off = square_to_axis(from_center);
        double distance = square_root(dot(off, off));
        const double gap = side() * distance - signed_radius;
        if (!(distance > 0.0)) {
            off = Vec<double, Dim>::filled(0.0);
            // Without an index that only the run knows, for which a GPU would keep the vector in memory.
            const bool across_x = axis[0] * axis[0] < 0.5;
            off[0] = across_x ? 1.0 : 0.0;
            off[1] = across_x ? 0.0 : 1.0;
            off = square_to_axis(off);
            distance = square_root(dot(off, off));
        }
        return {gap, (side() / distance) * off};
    }

    template <bool Curved>
    [[nodiscard]] double touch_time(const Approach<Dim>& ball) const {
        return round_wall_time<Curved>(square_to_axis(ball.from_reference), square_to_axis(ball.velocity),
                                       square_to_axis(ball.acceleration), radius() + side() * ball.radius, side() < 0.0,
                                       ball.met);
    }

    [[nodiscard]] double largest_ball() const {
        return side() < 0.0 ? radius() : std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] AlongAxis along(int which) const {
        bool parallel = true;
        for (int other = 0; other < Dim; ++other) parallel = parallel && (other == which || axis[other] == 0.0);
        return {parallel, axis[which] == 0.0 ? radius() : std::numeric_limits<double>::infinity()};
    }
    [[nodiscard]] int across(int /*dimension*/) const { return -1; }
    bool leave(const Vec<double, 3>& /*reference*/, const WallBox& /*box*/, double /*radius*/,
               WallBox& /*room*/) const {
        return true;
    }

    /// Lines along it as far as they are in the box, and its rims, where these begin and end.
    template <class Pen>
    void outline(const Vec<double, 3>& reference, const WallBox& box, Pen&& pen) const {
        constexpr int kPieces = 64;  // of a rim
        constexpr int kEvery = 8;    // of the lines through these is drawn
        const Vec<double, 3> u = gap(Vec<double, 3>::filled(0.0)).normal;
        const Vec<double, 3> v{axis[1] * u[2] - axis[2] * u[1], axis[2] * u[0] - axis[0] * u[2],
                               axis[0] * u[1] - axis[1] * u[0]};
        std::optional<Piece> before;
        for (int k = 0; k <= kPieces; ++k) {
            const double angle = 2.0 * kPi * k / kPieces;
            const std::optional<Piece> now =
                inside_box(reference + (radius() * std::cos(angle)) * u + (radius() * std::sin(angle)) * v, box);
            if (now && k % kEvery == 0 && k < kPieces) pen.line(now->from, now->to, false);
            if (now && before) {
                pen.line(before->from, now->from, true);
                pen.line(before->to, now->to, true);
            }
            before = now;
        }
    }

private:
    struct Piece {
        Vec<double, 3> from;
        Vec<double, 3> to;
    };

    /// The part in the box of a line along the axis.
    [[nodiscard]] std::optional<Piece> inside_box(const Vec<double, 3>& point, const WallBox& box) const {
        double first = -std::numeric_limits<double>::infinity();
        double last = std::numeric_limits<double>::infinity();
        for (int k = 0; k < 3; ++k) {
            const double low = box.low[k] - point[k];
            const double high = box.high[k] - point[k];
            if (axis[k] == 0.0) {
                if (low > 0.0 || high < 0.0) return std::nullopt;
                continue;
            }
            first = larger(first, (axis[k] > 0.0 ? low : high) / axis[k]);
            last = smaller(last, (axis[k] > 0.0 ? high : low) / axis[k]);
        }
        if (!(first < last)) return std::nullopt;
        return Piece{point + first * axis, point + last * axis};
    }
};

}  // namespace carom
