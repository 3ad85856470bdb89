// Whom a ball may meet: cells and neighbour lists, against all pairs. Without an engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "host/events/bubbles.hpp"
#include "host/events/cells.hpp"
#include "kernels/core/random.hpp"

namespace carom::events_neighbours_test {

double uniform(std::uint64_t k, int number) {
    return random_words(7, k, RandomPurpose::kShake, static_cast<std::uint64_t>(number)).uniform(0);
}

Box box_of(int dimension, const Vector3& size, const std::array<bool, 3>& periodic) {
    Box box;
    box.dimension = dimension;
    box.size = size;
    for (int axis = 0; axis < dimension; ++axis) {
        const Face face = periodic[axis] ? Face::kPeriodic : Face::kWall;
        box.faces[axis] = {face, face};
    }
    return box;
}

/// A neighbour as the finder tells it: a slot, and how many periods away along each axis.
using Seen = std::tuple<std::uint32_t, int, int, int>;

struct Case {
    Box box;
    std::array<std::uint32_t, 3> cells;
    std::uint32_t balls;
};

std::vector<Case> cases() {
    return {{box_of(2, {10.0, 8.0, 0.0}, {true, true, false}), {7, 5, 1}, 90},
            {box_of(2, {10.0, 8.0, 0.0}, {true, false, false}), {2, 6, 1}, 60},
            {box_of(2, {10.0, 8.0, 0.0}, {false, false, false}), {4, 3, 1}, 300},  // cells spill
            {box_of(2, {10.0, 8.0, 0.0}, {true, true, false}), {1, 1, 1}, 9},
            {box_of(3, {10.0, 8.0, 6.0}, {true, true, true}), {6, 5, 4}, 250},
            {box_of(3, {10.0, 8.0, 6.0}, {false, true, false}), {5, 2, 3}, 150},
            {box_of(3, {10.0, 8.0, 6.0}, {true, false, true}), {1, 4, 2}, 400}};  // spill in several images
}

template <int Dim>
class Finder {
public:
    explicit Finder(const Case& one) : case_(one), cells_(one.box) {
        grid_.cells = one.cells;
        for (int axis = 0; axis < Dim; ++axis) grid_.edge[axis] = one.box.size[axis] / one.cells[axis];
        cells_.cut(grid_, one.balls);
        for (std::uint32_t slot = 0; slot < one.balls; ++slot) {
            double position[3] = {};
            for (int axis = 0; axis < Dim; ++axis) position[axis] = one.box.size[axis] * uniform(slot, axis);
            places_.push_back(cells_.place_of(position));
            cells_.add(places_.back(), slot);
        }
    }

    NeighbourCells<Dim>& cells() { return cells_; }
    CellPlace& place(std::uint32_t slot) { return places_[slot]; }

    /// The candidates gathered last.
    std::multiset<Seen> seen(const CellPlace& from, std::uint32_t count) const {
        std::multiset<Seen> result;
        for (std::uint32_t k = 0; k < count; ++k) {
            int periods[3] = {};
            for (int axis = 0; axis < Dim && from.at_edge != 0; ++axis) {
                periods[axis] = static_cast<int>(std::lround(cells_.shift(k)[axis] / case_.box.size[axis]));
            }
            result.insert({cells_.candidates()[k], periods[0], periods[1], periods[2]});
        }
        return result;
    }

    /// All balls in all images whose cells lie around a place; with an axis: only in the layer ahead along it.
    std::multiset<Seen> around(const CellPlace& from, int ahead_axis = -1, int ahead = 0) const {
        std::multiset<Seen> result;
        for (std::uint32_t slot = 0; slot < case_.balls; ++slot) {
            for (int image = 0; image < 27; ++image) {
                const int periods[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
                bool near = Dim == 3 || periods[2] == 0;
                for (int axis = 0; axis < Dim; ++axis) {
                    near = near && (periods[axis] == 0 || case_.box.periodic(axis));
                    const int apart = places_[slot].cell[axis] + periods[axis] * static_cast<int>(case_.cells[axis]) -
                                      from.cell[axis];
                    near = near && std::abs(apart) <= 1 && (axis != ahead_axis || apart == ahead);
                }
                if (near) result.insert({slot, periods[0], periods[1], periods[2]});
            }
        }
        return result;
    }

    /// For one ball in seven: all pairs in all images take their time.
    void expect_all_found() {
        for (std::uint32_t slot = 0; slot < case_.balls; slot += 7) {
            const CellPlace& place = places_[slot];
            const std::uint32_t count = cells_.gather_around(place);
            ASSERT_EQ(seen(place, count), around(place)) << "around " << slot;
            for (int axis = 0; axis < Dim; ++axis) {
                for (const bool up : {false, true}) {
                    const std::uint32_t ahead = cells_.gather_ahead(place, axis, up);
                    ASSERT_EQ(seen(place, ahead), around(place, axis, up ? 1 : -1)) << "ahead of " << slot;
                }
            }
        }
    }

private:
    Case case_;
    CellGrid grid_;
    NeighbourCells<Dim> cells_;
    std::vector<CellPlace> places_;
};

template <int Dim>
void find_in_all_images(const Case& one) {
    Finder<Dim> finder(one);
    finder.expect_all_found();
    // Steps from cell to cell: through periodic faces the coordinate changes by a period, and no ball is lost.
    for (std::uint64_t k = 0; k < 2000; ++k) {
        const auto slot = static_cast<std::uint32_t>(one.balls * uniform(k, 4));
        const int axis = static_cast<int>(Dim * uniform(k, 5));
        const bool up = uniform(k, 6) < 0.5;
        CellPlace& place = finder.place(slot);
        const bool last = finder.cells().is_last(place, axis, up);
        if (last && !one.box.periodic(axis)) continue;
        const double jump = finder.cells().step(place, slot, axis, up);
        EXPECT_EQ(jump, last ? (up ? -1.0 : 1.0) * one.box.size[axis] : 0.0);
    }
    finder.expect_all_found();
}

TEST(NeighbourCells, FindAllBallsAroundInAllImages) {
    for (const Case& one : cases()) one.box.dimension == 2 ? find_in_all_images<2>(one) : find_in_all_images<3>(one);
}

TEST(NeighbourCells, PutABallThatRoundingLeftOutsideIntoTheLastCell) {
    const Case one = cases()[0];
    const Finder<2> finder(one);
    NeighbourCells<2> cells(one.box);
    cells.cut({one.cells, {10.0 / 7.0, 8.0 / 5.0, 0.0}}, 1);
    const double low[3] = {-1.0e-12, 8.0 + 1.0e-12, 0.0};
    EXPECT_EQ(cells.place_of(low).cell[0], 0);
    EXPECT_EQ(cells.place_of(low).cell[1], 4);
}

TEST(CellGrid, HasCellsNoNarrowerThanAskedAndNoMoreThanAllowed) {
    const Box box = box_of(3, {100.0, 10.0, 3.0}, {true, true, true});
    const CellGrid fine = CellGrid::design(box, 1.0, 1.0e9);
    EXPECT_EQ(fine.cells, (std::array<std::uint32_t, 3>{100, 10, 3}));
    const CellGrid coarse = CellGrid::design(box, 1.0, 200.0);
    EXPECT_LE(coarse.count(), 200u);
    for (int axis = 0; axis < 3; ++axis) EXPECT_GE(coarse.edge[axis], 1.0);
    EXPECT_LE(CellGrid::design(box_of(2, {1.0e9, 1.0, 0.0}, {true, true, true}), 1.0, 1.0e12).cells[0], 65535u);
}

TEST(CellGrid, IsFoundForTheLeastOfNumbers) {
    const Box box = box_of(3, {12.0, 12.0, 24.0}, {false, false, true});
    const CellGrid grid = CellGrid::design(box, 2.0 * std::numeric_limits<double>::denorm_min(), 1000.0);
    EXPECT_LE(grid.count(), 1000u);
    EXPECT_GT(grid.count(), 500u);
}

TEST(MortonCode, InterleavesTheBitsOfACell) {
    const std::uint16_t cell[3] = {0b101, 0b010, 0b111};
    EXPECT_EQ(morton_code(cell, 2), 0b011001u);
    EXPECT_EQ(morton_code(cell, 3), 0b101110101u);
}

/// Balls of radius 0.5 that drift through a box, in bubbles.
class Drifting {
public:
    Drifting(double shell, std::uint32_t balls, const std::array<bool, 3>& periodic)
        : box_(box_of(3, {8.0, 9.0, 7.0}, periodic)), shell_(shell), count_(balls), cells_(box_) {
        const CellGrid grid = CellGrid::design(box_, shell * 1.0001, 1.0e9);
        cells_.cut(grid, balls);
        bubbles_ = Bubbles<3>(shell, 0.5, balls);
        for (std::uint32_t i = 0; i < balls; ++i) {
            positions_.push_back({});
            for (int axis = 0; axis < 3; ++axis) positions_[i][axis] = box_.size[axis] * uniform(i, axis);
            places_.push_back(cells_.place_of(positions_[i].data()));
            cells_.add(places_[i], i);
            bubbles_.set_centre(i, positions_[i].data());
        }
        bubbles_.make_lists(cells_, [this](Slot i) { return places_[i]; });
    }

    /// Ball i comes to stand elsewhere.
    void renew(std::uint32_t i, std::uint64_t draw) {
        for (int axis = 0; axis < 3; ++axis) {
            double& x = positions_[i][axis];
            x += uniform(draw, axis) - 0.5;
            if (x < 0.0) x = box_.periodic(axis) ? x + box_.size[axis] : 0.0;
            if (x >= box_.size[axis]) x = box_.periodic(axis) ? x - box_.size[axis] : box_.size[axis];
        }
        const double* const centre = positions_[i].data();
        bubbles_.renew(i, centre, cells_, places_[i], cells_.place_of(centre));
    }

    /// By all pairs.
    [[nodiscard]] std::set<Slot> near(Slot i) const {
        std::set<Slot> result;
        for (Slot j = 0; j < count_; ++j) {
            double square = 0.0;
            for (int axis = 0; axis < 3; ++axis) {
                double d = std::abs(positions_[i][axis] - positions_[j][axis]);
                if (box_.periodic(axis)) d = std::min(d, box_.size[axis] - d);
                square += d * d;
            }
            if (j != i && square < shell_ * shell_) result.insert(j);
        }
        return result;
    }

    void expect_lists(const char* when) {
        for (Slot i = 0; i < count_; ++i) {
            const auto listed = bubbles_.list(i, cells_, places_[i]);
            const std::set<Slot> members(listed.members, listed.members + listed.count);
            ASSERT_EQ(members.size(), listed.count) << "one is listed twice";
            ASSERT_EQ(members, near(i)) << when << ", of " << i;
            longest_ = std::max(longest_, listed.count);
            if (listed.count % 4 != 0) {
                EXPECT_EQ(listed.members[listed.count], count_) << "nobody behind the last";
            }
        }
    }

    [[nodiscard]] std::uint32_t longest() const { return longest_; }

private:
    Box box_;
    double shell_;
    Slot count_;
    NeighbourCells<3> cells_;
    Bubbles<3> bubbles_;
    std::vector<std::array<double, 3>> positions_;
    std::vector<CellPlace> places_;
    std::uint32_t longest_ = 0;
};

// Whatever the order in which bubbles are renewed, lists hold exactly the pairs whose centres are near: short ones, and
// those that are longer than a record.
TEST(Bubbles, ListExactlyThePairsWhoseCentresAreNear) {
    for (const auto& periodic : {std::array<bool, 3>{true, true, true}, std::array<bool, 3>{false, true, false}}) {
        for (const auto& [shell, balls] : {std::pair{1.4, 300U}, std::pair{2.0, 400U}}) {
            Drifting drifting(shell, balls, periodic);
            drifting.expect_lists("at the start");
            for (std::uint64_t draw = 0; draw < 3000; ++draw) {
                drifting.renew(static_cast<std::uint32_t>(balls * uniform(draw, 7)), 1000 + draw);
                if (draw % 500 == 499) drifting.expect_lists("later");
            }
            EXPECT_EQ(drifting.longest() > NeighbourList::kMost, shell == 2.0);
        }
    }
}

TEST(Bubbles, AreLeftAtTheirBorder) {
    Bubbles<3> bubbles(1.5, 0.5, 1);
    const double centre[3] = {1.0, 2.0, 3.0};
    bubbles.set_centre(0, centre);
    const HotBall ball{{1.1, 2.0, 2.9}, 0.0, {-0.3, 0.2, 0.5}, 0.5};
    const double time = bubbles.leaving_time(0, ball);
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double d = ball.position[axis] + time * ball.velocity[axis] - centre[axis];
        square += d * d;
    }
    EXPECT_GT(time, 0.0);
    EXPECT_NEAR(std::sqrt(square), 0.25, 0.25 * 1.1e-6) << "a millionth before what the lists allow";
    EXPECT_LT(std::sqrt(square), 0.25);
    EXPECT_EQ(bubbles.leaving_time(0, {{1.1, 2.0, 2.9}, 0.0, {0.0, 0.0, 0.0}, 0.5}), kNeverTouch) << "at rest";
}

}  // namespace carom::events_neighbours_test
