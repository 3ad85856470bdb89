#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/path_length.hpp"

namespace carom {
namespace {

/// The same by many straight pieces, extrapolated to infinitely many.
template <int Dim>
double by_pieces(const Vec<double, Dim>& v, const Vec<double, Dim>& g, double dt, int pieces) {
    const auto sum = [&](int n) {
        const double piece = dt / n;
        double length = 0.0;
        for (int k = 0; k < n; ++k) {
            const Vec<double, Dim> mean = v + ((k + 0.5) * piece) * g;
            length += piece * std::sqrt(dot(mean, mean));
        }
        return length;
    };
    return (4.0 * sum(2 * pieces) - sum(pieces)) / 3.0;
}

TEST(PathLength, OfAStraightFlightIsSpeedTimesTime) {
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 2>{3.0, 4.0}, Vec<double, 2>{0.0, 0.0}, 2.0), 10.0);
    EXPECT_EQ(path_length(Vec<double, 2>{0.0, 0.0}, Vec<double, 2>{0.0, -9.81}, 0.0), 0.0);
}

TEST(PathLength, OfAFallAndOfAThrowStraightUp) {
    const Vec<double, 3> g{0.0, 0.0, -10.0};
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 0.0}, g, 3.0), 45.0);
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 2.0), 10.0) << "5 up and 5 down";
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 1.0), 5.0);
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 3.0), 25.0);
}

TEST(PathLength, OfAParabolaIsThatOfManyStraightPieces) {
    const Vec<double, 2> g{1.0, -3.0};
    for (const double across : {1e-3, 0.1, 1.0, 30.0, 1000.0}) {
        for (const double up : {-5.0, 0.0, 0.3, 4.0}) {
            for (const double dt : {1e-3, 0.1, 1.0, 2.5}) {
                const Vec<double, 2> v{across, up};
                const double expected = by_pieces(v, g, dt, 200000);
                EXPECT_NEAR(path_length(v, g, dt), expected, 1e-6 * expected) << across << " " << up << " " << dt;
            }
        }
    }
}

}  // namespace
}  // namespace carom
