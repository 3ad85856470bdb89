#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "kernels/params_from_setup.hpp"

namespace carom::plan_test {

using Side = SpringSetup::Side;

/// Boxes of all sorts: sizes from two diameters to 10^5 of them, sides of all kinds, origins all over, units from
/// atoms to planets.
struct Case {
    SpringSetup setup;
    BallSizes sizes;
    [[nodiscard]] double diameter() const { return 2.0 * sizes.largest_radius; }
};

Case draw_case(std::mt19937_64& random, int dimension) {
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto decades = [&](double low, double high) { return std::pow(10.0, uniform(low, high)); };
    Case drawn;
    const double diameter = decades(-9.0, 9.0);
    SpringSetup& setup = drawn.setup;
    setup.dimension = dimension;
    for (int axis = 0; axis < dimension; ++axis) {
        setup.box_size[axis] = diameter * (uniform(0.0, 1.0) < 0.3 ? uniform(2.0, 8.0) : decades(0.4, 5.0));
        const int kind = std::uniform_int_distribution<int>(0, 3)(random);
        const auto one = [&] { return uniform(0.0, 1.0) < 0.5 ? Side::kWall : Side::kOpen; };
        setup.sides[axis] = kind == 0   ? std::array{one(), one()}
                            : kind == 1 ? std::array{Side::kWall, Side::kWall}
                                        : std::array{Side::kPeriodic, Side::kPeriodic};
        setup.box_min[axis] = uniform(0.0, 1.0) < 0.5 ? 0.0 : setup.box_size[axis] * uniform(-3.0, 3.0);
    }
    setup.stiffness = setup.wall_stiffness = 1.0;
    setup.dt = 1.0e-3;
    drawn.sizes.count = static_cast<std::size_t>(decades(0.0, 6.0));
    drawn.sizes.largest_radius = 0.5 * diameter;
    drawn.sizes.smallest_radius = drawn.sizes.largest_radius / uniform(1.0, 10.0);
    drawn.sizes.largest_mass = 1.0;
    drawn.sizes.fastest = diameter * decades(-3.0, 3.0);  // up to a diameter a step
    setup.design_speed = drawn.sizes.fastest;
    return drawn;
}

/// The largest rounding of a coordinate in units of a length in the box: the origin and the size are exact doubles.
constexpr double kSlack = 1.0e-9;

template <class Real, int Dim>
void check_axes(const Case& drawn) {
    const auto params = make_params<Real, Dim>(drawn.setup, drawn.sizes);
    const double diameter = drawn.diameter();
    const auto& coordinates = params.coordinates;
    const double margin = params.margin;
    ASSERT_GT(margin, 0.0);
    ASSERT_LE(margin, diameter);
    double cells = 1.0;
    for (int axis = 0; axis < Dim; ++axis) {
        const bool periodic = params.grid.periodic[axis];
        const double quantum = coordinates.quantum[axis];
        const double period = std::ldexp(quantum, Phase<Real>::kBits);
        const double width = params.grid.quanta_per_cell[axis] * quantum;
        const int along = params.grid.cells[axis];
        cells *= along;
        const double size = drawn.setup.box_size[axis];
        ASSERT_GE(along, 1);
        // Adjacent cells hold everything that can touch, and cover the padded box exactly. Around a periodic axis of up
        // to three cells all are adjacent.
        if (along > (periodic ? 3 : 1)) {
            ASSERT_GE(width, diameter + margin);
        }
        ASSERT_NEAR(along * width, size + (periodic ? 0.0 : 8.0 * diameter), kSlack * (size + 8.0 * diameter));
        // Only balls in adjacent cells are compared, and those may have moved by the margin: no farther image of one
        // may look like a contact.
        ASSERT_GE(period, 2.0 * diameter * (1.0 - kSlack));
        if (!periodic || coordinates.extent[axis] > std::int64_t{1} << Phase<Real>::kBits) {
            ASSERT_GT(period - diameter, std::min(2.0, double(along)) * width + margin);
            ASSERT_GE(period, 64.0 * diameter * (1.0 - kSlack) * (sizeof(Real) == 4 && size > 64.0 * diameter));
        }
        // widen: a ball is less than half a period from its cell's middle, also after it has moved by half the margin
        ASSERT_GT(0.5 * period, 0.5 * width + 0.5 * margin);
        if (periodic) {
            ASSERT_NEAR(static_cast<double>(coordinates.extent[axis]) * quantum, size, kSlack * size);
            const double whole = std::ldexp(static_cast<double>(coordinates.extent[axis]), -Phase<Real>::kBits);
            ASSERT_EQ(whole, std::rint(whole));
        } else {
            ASSERT_EQ(period, std::exp2(std::rint(std::log2(period))));
        }
        // Resolution: single precision has 2^32 steps in at most 256 diameters, or, where the few balls of a large box
        // have wide cells (up to 2 % wider than widest_cells), in twice four cells and the padding; double has at least
        // 2^46 in the box, less what origins far from zero cost.
        const double few = std::max(256.0 * diameter, 8.0 * 1.02 * width + 64.0 * diameter);
        if (sizeof(Real) == 4) {
            ASSERT_LE(coordinates.resolution[axis], std::ldexp(few, -32));
        } else {
            ASSERT_LE(coordinates.resolution[axis], std::ldexp(2.0 * (size + 24.0 * diameter), -46));
        }
        // Far beyond the fastest move of a step: half a diameter.
        ASSERT_LE(0.5 * diameter / coordinates.resolution[axis], sizeof(Real) == 4 ? 0x1p30 : 0x1p50);
    }
    ASSERT_LE(cells, std::max(0x1p18, 2.0 * static_cast<double>(drawn.sizes.count)));
}

TEST(Plan, PeriodsAndCellsKeepTheirPromisesInAnyBox) {
    std::mt19937_64 random(1);
    for (int draw = 0; draw < 2000; ++draw) {
        SCOPED_TRACE("draw " + std::to_string(draw));
        const Case two = draw_case(random, 2);
        const Case three = draw_case(random, 3);
        ASSERT_NO_FATAL_FAILURE((check_axes<float, 2>(two)));
        ASSERT_NO_FATAL_FAILURE((check_axes<double, 2>(two)));
        ASSERT_NO_FATAL_FAILURE((check_axes<float, 3>(three)));
        ASSERT_NO_FATAL_FAILURE((check_axes<double, 3>(three)));
    }
}

template <class Real>
void check_round_trip(const Case& drawn, std::mt19937_64& random) {
    const auto params = make_params<Real, 2>(drawn.setup, drawn.sizes);
    for (int axis = 0; axis < 2; ++axis) {
        const auto& coordinates = params.coordinates;
        std::uniform_real_distribution<double> place(0.0, 1.0);
        for (int ball = 0; ball < 20; ++ball) {
            const double at = drawn.setup.box_min[axis] + place(random) * drawn.setup.box_size[axis];
            const std::int64_t wide = coordinates.from_position(axis, at);
            ASSERT_NEAR(coordinates.position(axis, wide), at, coordinates.resolution[axis]);
            for (std::int64_t step = -2; step <= 2; ++step) {  // whatever a drift may lead to
                const std::int64_t moved = wide + step * (std::int64_t{1} << coordinates.grain[axis]);
                ASSERT_EQ(coordinates.from_position(axis, coordinates.position(axis, moved)), moved);
            }
        }
    }
}

TEST(Plan, StoredPositionsLeadBackToTheSameBitsInAnyBox) {
    std::mt19937_64 random(2);
    for (int draw = 0; draw < 3000; ++draw) {
        Case drawn = draw_case(random, 2);
        if (draw % 3 == 0) drawn.setup.box_min[0] = 1000.0 * drawn.setup.box_size[0];
        SCOPED_TRACE("draw " + std::to_string(draw));
        ASSERT_NO_FATAL_FAILURE(check_round_trip<float>(drawn, random));
        ASSERT_NO_FATAL_FAILURE(check_round_trip<double>(drawn, random));
    }
}

TEST(Plan, TheMarginChangesNoBitOfAPosition) {
    // It depends on the fastest ball, which is another one after a restart.
    std::mt19937_64 random(3);
    for (int draw = 0; draw < 3000; ++draw) {
        Case before = draw_case(random, 2);
        if (draw % 2 ==
            0) {  // where cells are wide, because a large box has few balls, the period follows from their width
            before.sizes.count = 1000;
            for (int axis = 0; axis < 2; ++axis) {
                before.setup.box_size[axis] =
                    before.diameter() * std::uniform_real_distribution<double>(1.0e4, 1.0e5)(random);
                before.setup.sides[axis] = {Side::kPeriodic, Side::kPeriodic};
            }
        }
        Case after = before;
        after.sizes.fastest *= std::pow(10.0, std::uniform_real_distribution<double>(-2.0, 2.0)(random));
        const auto a = make_params<float, 2>(before.setup, before.sizes);
        const auto b = make_params<float, 2>(after.setup, after.sizes);
        for (int axis = 0; axis < 2; ++axis) {
            ASSERT_EQ(a.coordinates.quantum[axis], b.coordinates.quantum[axis]) << draw;
            ASSERT_EQ(a.coordinates.origin[axis], b.coordinates.origin[axis]) << draw;
            ASSERT_EQ(a.drift[axis], b.drift[axis]) << draw;
        }
        ASSERT_EQ(a.force_grid.limit, b.force_grid.limit);
    }
}

template <class Real>
void check_parking(const Case& drawn) {
    const auto params = make_params<Real, 2>(drawn.setup, drawn.sizes);
    const double diameter = drawn.diameter();
    for (int axis = 0; axis < 2; ++axis) {
        if (params.grid.periodic[axis]) continue;
        const double quantum = params.coordinates.quantum[axis];
        const double width = params.grid.quanta_per_cell[axis] * quantum;
        for (int side = 0; side < 2; ++side) {
            const double parked = params.coordinates.position(axis, params.parked[side][axis]);
            const double face = drawn.setup.box_min[axis] + (side == 0 ? 0.0 : drawn.setup.box_size[axis]);
            const double beyond = side == 0 ? face - parked : parked - face;
            // A live ball may be a diameter beyond the face, and those that look are at most two cells and a move from
            // it.
            EXPECT_GE(beyond, 3.0 * diameter);
            const double period = std::ldexp(quantum, Phase<Real>::kBits);
            const double inside = std::min(drawn.setup.box_size[axis] + diameter, 2.0 * width + params.margin);
            EXPECT_GT(period - beyond - inside, diameter) << "seen as its image by a ball inside";
        }
        // a pair parked beyond opposite faces
        const double period = std::ldexp(quantum, Phase<Real>::kBits);
        const double apart =
            std::remainder(static_cast<double>(params.parked[1][axis] - params.parked[0][axis]) * quantum, period);
        if (drawn.setup.box_size[axis] < 2.0 * width) {
            EXPECT_GT(std::abs(apart), diameter);
        }
    }
}

TEST(Plan, ABallThatHasLeftTouchesNothing) {
    std::mt19937_64 random(4);
    for (int draw = 0; draw < 3000; ++draw) {
        SCOPED_TRACE("draw " + std::to_string(draw));
        const Case drawn = draw_case(random, 2);
        check_parking<float>(drawn);
        check_parking<double>(drawn);
        if (HasFailure()) break;
    }
}

TEST(Plan, BallsInInteriorCellsCannotReachAFace) {
    std::mt19937_64 random(5);
    for (int draw = 0; draw < 3000; ++draw) {
        const Case drawn = draw_case(random, 2);
        const auto params = make_params<float, 2>(drawn.setup, drawn.sizes);
        for (int axis = 0; axis < 2; ++axis) {
            const int begin = params.grid.interior_begin[axis];
            const int end = params.grid.interior_end[axis];
            if (params.grid.periodic[axis]) {
                ASSERT_EQ(begin, 0);
                ASSERT_EQ(end, params.grid.cells[axis]);
                continue;
            }
            if (begin >= end) continue;
            const double width = params.grid.quanta_per_cell[axis] * params.coordinates.quantum[axis];
            const double lowest = params.coordinates.origin[axis] + begin * width - drawn.setup.box_min[axis];
            const double highest = params.coordinates.origin[axis] + end * width - drawn.setup.box_min[axis];
            const double reach = 0.5 * drawn.diameter() + 0.5 * params.margin;
            ASSERT_GE(lowest, reach) << draw;
            ASSERT_GE(drawn.setup.box_size[axis] - highest, reach) << draw;
        }
    }
}

TEST(Plan, NoBallsMakeAPlanToo) {
    SpringSetup setup;
    setup.box_size = {3.0, 5.0, 0.0};
    setup.stiffness = setup.wall_stiffness = 1.0;
    setup.dt = 1e-3;
    const auto params = make_params<float, 2>(setup, {});
    EXPECT_GT(params.margin, 0.0);
    EXPECT_GE(params.grid.count(), 1U);
    EXPECT_TRUE(std::isfinite(params.force_grid.to_grid));
}

}  // namespace carom::plan_test
