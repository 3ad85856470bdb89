#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "host/scene/keys.hpp"
#include "kernels/physics/boundaries.hpp"
#include "tests/support/kinds.hpp"

// What every shape of WallShapes must do, by brute force over what it says of itself: its gap, and its keys.

namespace carom::boundary_test {

constexpr double kRounding = 1e-12;  // of lengths of order 1 to 10

/// Walls of a shape about the middle of the box, as scenes would say them: with each choice, and each direction askew
/// and along an axis, both ways.
template <class Shape>
std::vector<KindValues> samples(int dimension) {
    std::vector<KindValues> all{{}};
    for (const Key& key : Shape::kKeys) {
        std::vector<KindValues::Value> values{test::example_value(key, dimension)};
        if (key.type == KeyType::kDirection) {
            values.push_back({0.0, -1.0, 0.0});
            values.push_back({0.0, 1.0, 0.0});
        }
        for (std::size_t choice = 1; choice < choices_of(key).size(); ++choice) {
            values.push_back({static_cast<double>(choice)});
        }
        std::vector<KindValues> more;
        for (const KindValues& one : all) {
            for (const KindValues::Value& value : values) {
                more.push_back(one);
                more.back().set(key.name, value);
            }
        }
        all = more;
    }
    return all;
}

template <int Dim>
using Point = Vec<double, Dim>;

/// Calls check(wall) for each sample of each shape that there is in so many dimensions.
template <int Dim, class Check>
void for_each_wall(Check&& check) {
    for (std::uint8_t shape = 0; shape < WallShapes<Dim>::kCount; ++shape) {
        WallShapes<Dim>::with_type(shape, [&]<class Shape>() {
            if (Dim < Shape::kLeastDimension) return;
            const auto walls = samples<Shape>(Dim);
            for (std::size_t k = 0; k < walls.size(); ++k) {
                SCOPED_TRACE(std::string(Shape::kName) + " " + std::to_string(k));
                check(make_boundary<Dim>({shape, walls[k], 0.0, 0.0}, WallNumber::entry(0)));
            }
        });
    }
}

template <int Dim>
WallGap<Dim> gap_at(const Boundary<Dim>& wall, const Point<Dim>& place) {
    return wall.gap(place - wall.reference, 0.0);
}

template <int Dim>
class Places {
public:
    Point<Dim> in_box() { return within(-5.0, 5.0); }
    Point<Dim> within(double low, double high) {
        std::uniform_real_distribution<double> along(low, high);
        Point<Dim> place;
        for (int axis = 0; axis < Dim; ++axis) place[axis] = along(random_);
        return place;
    }

private:
    std::mt19937_64 random_{17};
};

template <class Dimension>
class WallShapeContract : public testing::Test {};
using Dimensions = testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(WallShapeContract, Dimensions);

TYPED_TEST(WallShapeContract, TheGapIsADistanceAndTheNormalItsGradient) {
    constexpr int kDim = TypeParam::value;
    constexpr double kStep = 1e-5;
    constexpr double kTolerance = 8.0 * kStep * kStep + 1e-9;  // of a central difference, curvatures below 4
    for_each_wall<kDim>([&](const Boundary<kDim>& wall) {
        Places<kDim> places;
        for (int k = 0; k < 200; ++k) {
            const Point<kDim> at = places.in_box();
            const WallGap<kDim> gap = gap_at(wall, at);
            ASSERT_NEAR(dot(gap.normal, gap.normal), 1.0, 1e-14);
            if (std::abs(gap.distance) > 1.8) continue;  // a round wall's curvature has no bound at its middle
            for (int axis = 0; axis < kDim; ++axis) {
                Point<kDim> step = Point<kDim>::filled(0.0);
                step[axis] = kStep;
                const double slope =
                    (gap_at(wall, at + step).distance - gap_at(wall, at - step).distance) / (2.0 * kStep);
                ASSERT_NEAR(slope, gap.normal[axis], kTolerance) << "axis " << axis;
            }
        }
        const WallGap<kDim> middle = wall.gap(Point<kDim>::filled(0.0), 0.0);
        EXPECT_NEAR(dot(middle.normal, middle.normal), 1.0, 1e-14) << "at the reference point";
    });
}

/// Small steps in time until the ball reaches the wall, then bisection; kNeverTouch if it does not within `until`.
template <int Dim>
double touch_by_bisection(const Boundary<Dim>& wall, const Point<Dim>& x, const Point<Dim>& v, const Point<Dim>& a,
                          double radius, double since, double until) {
    constexpr int kSteps = 4000;
    const auto height = [&](double t) {
        return wall.gap(x + t * v + (0.5 * t * t) * a - wall.reference, since + t).distance - radius;
    };
    for (int k = 1; k <= kSteps; ++k) {
        double before = until * (k - 1) / kSteps;
        double after = until * k / kSteps;
        if (height(after) > 0.0) continue;
        for (int halving = 0; halving < 60; ++halving) {
            const double middle = 0.5 * (before + after);
            (height(middle) > 0.0 ? before : after) = middle;
        }
        return after;
    }
    return kNeverTouch;
}

TYPED_TEST(WallShapeContract, ABallTouchesWhenBisectionSaysSo) {
    constexpr int kDim = TypeParam::value;
    constexpr double kRadius = 0.3;
    constexpr double kUntil = 4.0;
    for_each_wall<kDim>([&](Boundary<kDim> wall) {
        Places<kDim> places;
        int touched = 0;
        for (int k = 0; k < 900; ++k) {
            const Point<kDim> x = places.in_box();
            const Point<kDim> v = places.within(-3.0, 3.0);
            const Point<kDim> a = places.within(-1.0, 1.0);
            if (gap_at(wall, x).distance < kRadius + 0.01) continue;
            const Point<kDim> none = Point<kDim>::filled(0.0);
            for (const bool curved : {false, true}) {
                const double found = curved ? wall.template touch_time<true>(x, v, a, kRadius, 0.0, false)
                                            : wall.template touch_time<false>(x, v, none, kRadius, 0.0, false);
                const double expected = touch_by_bisection(wall, x, v, curved ? a : none, kRadius, 0.0, kUntil);
                touched += expected < kNeverTouch ? 1 : 0;
                if (found > kUntil && expected == kNeverTouch) continue;
                // Grazing: a millionth of the way into the wall is passed between two of the steps.
                const double least = wall.gap(x + found * v - wall.reference, 0.0).distance;
                if (expected == kNeverTouch && !curved && least < kRadius + 1e-6) continue;
                ASSERT_NEAR(found, expected, 1e-9) << "ball " << k << (curved ? ", curved" : ", straight");
            }
        }
        EXPECT_GT(touched, 100) << "else this says little";
    });
}

TYPED_TEST(WallShapeContract, AWallThatMovesIsTouchedWhereItIs) {
    constexpr int kDim = TypeParam::value;
    for_each_wall<kDim>([&](Boundary<kDim> wall) {
        const bool moves = wall.shape.visit([]<class Shape>(const Shape&) { return !Shape::kMovingKey.empty(); });
        if (!moves) return;
        wall.speed = 0.7;
        Places<kDim> places;
        for (int k = 0; k < 100; ++k) {
            const Point<kDim> x = places.in_box();
            const Point<kDim> v = places.within(-1.0, 1.0);
            const double since = k % 2 == 0 ? 0.0 : 1.3;
            if (wall.gap(x - wall.reference, since).distance < 0.31) continue;
            const Point<kDim> none = Point<kDim>::filled(0.0);
            const double found = wall.template touch_time<false>(x, v, none, 0.3, since, false);
            const double expected = touch_by_bisection(wall, x, v, none, 0.3, since, 8.0);
            if (found > 8.0 && expected == kNeverTouch) continue;
            ASSERT_NEAR(found, expected, 1e-9);
        }
    });
}

TYPED_TEST(WallShapeContract, TheSurfaceLiesAlongAnAxisAsItSays) {
    constexpr int kDim = TypeParam::value;
    for_each_wall<kDim>([&](const Boundary<kDim>& wall) {
        Places<kDim> places;
        for (int k = 0; k < 300; ++k) {
            const Point<kDim> place = places.in_box();
            const WallGap<kDim> gap = gap_at(wall, place);
            const Point<kDim> surface = place - gap.distance * gap.normal;
            for (int axis = 0; axis < kDim; ++axis) {
                const AlongAxis along = wall.shape.visit([axis](const auto& shape) { return shape.along(axis); });
                ASSERT_LE(std::abs(surface[axis] - wall.reference[axis]), along.reach + kRounding);
                Point<kDim> shifted = place;
                shifted[axis] += 3.0;
                const double there = gap_at(wall, shifted).distance;
                if (along.same) {
                    ASSERT_NEAR(there, gap.distance, kRounding);
                }
            }
        }
    });
}

TYPED_TEST(WallShapeContract, NoLargerBallHasRoomThanItSays) {
    constexpr int kDim = TypeParam::value;
    for_each_wall<kDim>([&](const Boundary<kDim>& wall) {
        const double largest = wall.shape.visit([](const auto& shape) { return shape.largest_ball(); });
        Places<kDim> places;
        double found = -1.0;
        for (int k = 0; k < 2000; ++k) found = std::max(found, gap_at(wall, places.in_box()).distance);
        found = std::max(found, gap_at(wall, wall.reference).distance);
        EXPECT_LE(found, largest + kRounding);
        if (largest < 100.0) {
            EXPECT_NEAR(found, largest, kRounding) << "at its reference point";
        }
    });
}

/// Collects the points of an outline.
struct Pen {
    std::vector<Point<3>>& points;
    void line(const Point<3>& from, const Point<3>& to, bool /*main*/) {
        points.push_back(from);
        points.push_back(to);
    }
    void circle(const Point<3>& center, double radius, const Point<3>& u, const Point<3>& v, bool /*main*/) {
        for (int k = 0; k < 16; ++k) {
            points.push_back(center + (radius * std::cos(0.4 * k)) * u + (radius * std::sin(0.4 * k)) * v);
        }
    }
};

TYPED_TEST(WallShapeContract, TheOutlineIsOnTheSurface) {
    constexpr int kDim = TypeParam::value;
    const WallBox box{kDim, {-5.0, -5.0, kDim == 3 ? -5.0 : 0.0}, {5.0, 5.0, kDim == 3 ? 5.0 : 0.0}};
    for (std::uint8_t shape = 0; shape < WallShapes<3>::kCount; ++shape) {
        WallShapes<3>::with_type(shape, [&]<class Shape>() {
            if (kDim < Shape::kLeastDimension) return;
            for (const KindValues& values : samples<Shape>(kDim)) {
                const Boundary<3> wall = make_boundary<3>({shape, values, 0.0, 0.0}, WallNumber::entry(0));
                std::vector<Point<3>> points;
                wall.shape.visit([&](const auto& its) { its.outline(wall.reference, box, Pen{points}); });
                EXPECT_GE(points.size(), 2u) << Shape::kName;
                for (const Point<3>& point : points) {
                    ASSERT_NEAR(gap_at(wall, point).distance, 0.0, kRounding) << Shape::kName;
                    for (int axis = kDim; axis < 3; ++axis) ASSERT_EQ(point[axis], 0.0);
                }
            }
        });
    }
}

TEST(WallShapes, WhatAWallLeavesOfTheBoxHoldsEveryPlaceBeforeItAndIsNoLarger) {
    const WallBox box{3, {-5.0, -5.0, -5.0}, {5.0, 5.0, 5.0}};
    for_each_wall<3>([&](const Boundary<3>& wall) {
        WallBox room = box;
        constexpr double kRadius = 0.4;
        ASSERT_TRUE(wall.shape.visit([&](const auto& its) { return its.leave(wall.reference, box, kRadius, room); }));
        Places<3> places;
        for (int k = 0; k < 2000; ++k) {
            const Point<3> place = places.in_box();
            if (gap_at(wall, place).distance < kRadius) continue;
            for (int axis = 0; axis < 3; ++axis) {
                ASSERT_GE(place[axis], room.low[axis]);
                ASSERT_LE(place[axis], room.high[axis]);
            }
        }
        // A side that it moved is touched by a ball somewhere in the room, which is where that ball's gap is zero.
        for (int axis = 0; axis < 3; ++axis) {
            for (const bool high : {false, true}) {
                const double side = (high ? room.high : room.low)[axis];
                if (side == (high ? box.high : box.low)[axis]) continue;
                double least = 1.0;
                for (int k = 0; k < 20000; ++k) {
                    Point<3> place = k == 0 ? wall.reference : places.in_box();
                    place[axis] = side;
                    least = std::min(least, std::abs(gap_at(wall, place).distance - kRadius));
                }
                EXPECT_LT(least, 1e-3) << "axis " << axis << (high ? ", high" : ", low");
            }
        }
    });
}

}  // namespace carom::boundary_test
