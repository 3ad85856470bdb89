#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/boundaries.hpp"
#include "tests/contract/examples/pipe_boundary.hpp"

namespace carom {
namespace {

/// Every registered shape, through the registry, and the example of docs/extending.md.
template <int Dim>
Boundary<Dim> plane() {
    Boundary<Dim> wall{};
    wall.shape = BoundaryShape::kPlane;
    wall.plane.normal = Vec<double, Dim>::filled(0.0);
    wall.plane.normal[0] = 0.6;
    wall.plane.normal[1] = 0.8;
    return wall;
}
template <int Dim>
Boundary<Dim> sphere(double side) {
    Boundary<Dim> wall{};
    wall.shape = BoundaryShape::kSphere;
    wall.sphere = {3.0, side};
    return wall;
}
template <int Dim>
examples::PipeBoundary<Dim> pipe() {
    examples::PipeBoundary<Dim> wall{Vec<double, Dim>::filled(0.0), 2.0};
    wall.axis[0] = 0.6;
    wall.axis[1] = 0.8;
    return wall;
}

/// The gap is a distance, and the normal its gradient, wherever a ball may be.
template <int Dim, class Wall>
void expect_contract(const Wall& wall) {
    constexpr double kStep = 1e-5;
    constexpr double kTolerance = 4.0 * kStep * kStep + 1e-10;  // of a central difference over distances of order one
    for (const double x : {-1.1, 0.3, 1.7}) {
        for (const double y : {-0.9, 0.2, 1.3}) {
            Vec<double, Dim> at = Vec<double, Dim>::filled(0.4);
            at[0] = x;
            at[1] = y;
            const auto gap = wall.gap(at);
            EXPECT_NEAR(dot(gap.normal, gap.normal), 1.0, 1e-14);
            for (int axis = 0; axis < Dim; ++axis) {
                auto ahead = at;
                auto behind = at;
                ahead[axis] += kStep;
                behind[axis] -= kStep;
                const double slope = (wall.gap(ahead).distance - wall.gap(behind).distance) / (2.0 * kStep);
                EXPECT_NEAR(slope, gap.normal[axis], kTolerance) << "axis " << axis << " at " << x << ", " << y;
            }
        }
    }
}

template <class Dimension>
class BoundaryContract : public testing::Test {};
using Dimensions = testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(BoundaryContract, Dimensions);

TYPED_TEST(BoundaryContract, PlaneMeasuresDistanceAndPointsInwards) {
    expect_contract<TypeParam::value>(plane<TypeParam::value>());
}
TYPED_TEST(BoundaryContract, SphereFromInside) { expect_contract<TypeParam::value>(sphere<TypeParam::value>(-1.0)); }
TYPED_TEST(BoundaryContract, SphereFromOutside) { expect_contract<TypeParam::value>(sphere<TypeParam::value>(1.0)); }
TYPED_TEST(BoundaryContract, ExampleOfAPipe) { expect_contract<TypeParam::value>(pipe<TypeParam::value>()); }

TYPED_TEST(BoundaryContract, NormalIsAUnitVectorAlsoAtTheCentre) {
    const auto zero = Vec<double, TypeParam::value>::filled(0.0);
    EXPECT_EQ(dot(sphere<TypeParam::value>(-1.0).gap(zero).normal, sphere<TypeParam::value>(-1.0).gap(zero).normal),
              1.0);
    const auto normal = pipe<TypeParam::value>().gap(zero).normal;
    EXPECT_NEAR(dot(normal, normal), 1.0, 1e-14);
}

}  // namespace
}  // namespace carom
