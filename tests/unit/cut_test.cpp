#include "kernels/ranks/cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace carom::test::cut_test {

Cut even_cut(const std::vector<std::int32_t>& cells, const std::array<int, 3>& layers) {
    Cut cut;
    cut.dimension = static_cast<int>(cells.size());
    for (int axis = 0; axis < cut.dimension; ++axis) {
        const std::vector<std::uint64_t> even(static_cast<std::size_t>(cells[axis]), 1);
        cut.faces[axis] = balanced_faces(even, layers[axis]);
    }
    return cut;
}

TEST(Cut, GivesEveryCellToTheRankWhoseBrickItIsIn) {
    const std::vector<std::int32_t> cells{7, 5, 4};
    const Cut cut = even_cut(cells, {3, 2, 2});
    ASSERT_EQ(cut.ranks(), 12);
    for (std::int32_t x = 0; x < 7; ++x) {
        for (std::int32_t y = 0; y < 5; ++y) {
            for (std::int32_t z = 0; z < 4; ++z) {
                const std::int32_t cell[] = {x, y, z};
                const int owner = cut.owner(cell);
                for (int axis = 0; axis < 3; ++axis) {
                    EXPECT_GE(cell[axis], cut.first(owner, axis));
                    EXPECT_LT(cell[axis], cut.end(owner, axis));
                }
            }
        }
    }
}

TEST(Cut, SharesWeightAsEquallyAsWholeCellsAllow) {
    std::vector<std::uint64_t> weight(60);
    for (std::size_t cell = 0; cell < weight.size(); ++cell) weight[cell] = 1000U >> (cell / 6);  // as in an atmosphere
    const auto faces = balanced_faces(weight, 4);
    const auto all = std::accumulate(weight.begin(), weight.end(), std::uint64_t{0});
    ASSERT_EQ(faces.size(), 5U);
    for (std::size_t layer = 0; layer < 4; ++layer) {
        const auto share =
            std::accumulate(weight.begin() + faces[layer], weight.begin() + faces[layer + 1], std::uint64_t{0});
        EXPECT_NEAR(static_cast<double>(share), 0.25 * static_cast<double>(all), 1000.0) << layer;
    }
}

TEST(Cut, LeavesEachLayerACell) {
    std::vector<std::uint64_t> weight(5);
    weight[4] = 1000;
    EXPECT_EQ(balanced_faces(weight, 5), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
    weight = {1000, 0, 0, 0, 0};
    EXPECT_EQ(balanced_faces(weight, 4), (std::vector<std::int32_t>{0, 1, 2, 3, 5}));
}

/// All that a ball may touch lies in the window of its rank: own cells, or copies, each cell once.
void expect_whole_neighbourhoods(const std::vector<std::int32_t>& cells, const std::array<bool, 3>& periodic,
                                 const std::array<int, 3>& layers) {
    const int dimension = static_cast<int>(cells.size());
    const Cut cut = even_cut(cells, layers);
    const std::int32_t depth = dimension == 3 ? cells[2] : 1;
    for (int rank = 0; rank < cut.ranks(); ++rank) {
        const auto offset = window_offset(cut, rank);
        std::set<std::vector<std::int32_t>> window;  // cells of it that are filled
        const auto fill = [&](int from, const std::array<std::int32_t, 3>& first,
                              const std::array<std::int32_t, 3>& end, const std::array<std::int32_t, 3>& by) {
            for (std::int32_t x = first[0]; x < end[0]; ++x) {
                for (std::int32_t y = first[1]; y < end[1]; ++y) {
                    for (std::int32_t z = dimension == 3 ? first[2] : 0; z < (dimension == 3 ? end[2] : 1); ++z) {
                        EXPECT_TRUE(window.insert({x + by[0], y + by[1], z + by[2]}).second)
                            << "rank " << rank << " has a cell of rank " << from << " twice";
                        // Along a cut axis the own cells are 1, 2, ..., and those around have one layer, none behind a
                        // wall.
                        const std::int32_t at[] = {x + by[0], y + by[1], z + by[2]};
                        for (int axis = 0; axis < dimension; ++axis) {
                            if (!cut.cuts(axis)) continue;
                            const bool at_low = cut.first(rank, axis) == 0 && !periodic[axis];
                            const bool at_high = cut.end(rank, axis) == cells[axis] && !periodic[axis];
                            const std::int32_t own = cut.end(rank, axis) - cut.first(rank, axis);
                            EXPECT_GE(at[axis], at_low ? 1 : 0) << "rank " << rank << " from " << from;
                            EXPECT_LE(at[axis], at_high ? own : own + 1) << "rank " << rank << " from " << from;
                        }
                    }
                }
            }
        };
        std::array<std::int32_t, 3> first{};
        std::array<std::int32_t, 3> end{};
        for (int axis = 0; axis < dimension; ++axis) {
            first[axis] = cut.first(rank, axis);
            end[axis] = cut.end(rank, axis);
        }
        fill(rank, first, end, offset);
        for (int peer = 0; peer < cut.ranks(); ++peer) {
            if (peer == rank) continue;
            for (const Border& border : borders_of(cut, cells, std::span(periodic).first(cells.size()), peer)) {
                if (border.peer == rank) fill(peer, border.first, border.end, border.offset);
            }
        }
        // Of each own cell, all 3^d around, as far as they exist.
        for (std::int32_t x = first[0]; x < end[0]; ++x) {
            for (std::int32_t y = first[1]; y < end[1]; ++y) {
                for (std::int32_t z = dimension == 3 ? first[2] : 0; z < (dimension == 3 ? end[2] : 1); ++z) {
                    for (int k = 0; k < 27; ++k) {
                        std::int32_t at[] = {x + k % 3 - 1, y + k / 3 % 3 - 1, dimension == 3 ? z + k / 9 - 1 : 0};
                        if (dimension == 2 && k >= 9) continue;
                        bool exists = true;
                        const std::int32_t along[] = {cells[0], cells[1], depth};
                        for (int axis = 0; axis < dimension; ++axis) {
                            const bool outside = at[axis] < 0 || at[axis] >= along[axis];
                            exists = exists && (!outside || periodic[axis]);
                            if (outside && !cut.cuts(axis)) at[axis] = (at[axis] + along[axis]) % along[axis];
                        }
                        if (!exists) continue;
                        EXPECT_TRUE(window.contains({at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]}))
                            << "rank " << rank << " lacks a neighbour of its cell " << x << " " << y << " " << z;
                    }
                }
            }
        }
    }
}

TEST(Cut, GivesRanksCopiesOfAllThatTheirsMayTouch) {
    expect_whole_neighbourhoods({8, 6}, {true, false, false}, {2, 1, 1});
    expect_whole_neighbourhoods({8, 6}, {true, true, false}, {2, 3, 1});
    expect_whole_neighbourhoods({3, 3}, {true, true, false}, {3, 3, 1});
    expect_whole_neighbourhoods({3, 4}, {true, true, false}, {2, 2, 1});
    expect_whole_neighbourhoods({5, 5, 5}, {true, true, true}, {2, 2, 2});
    expect_whole_neighbourhoods({4, 3, 6}, {false, true, true}, {4, 1, 2});
    expect_whole_neighbourhoods({3, 3, 3}, {true, true, true}, {2, 2, 2});
}

TEST(Cut, TakesTheSmallestFacesAndSaysWhatCannotBe) {
    const std::int32_t cells[] = {100, 10, 10};
    const bool walls[] = {false, false, false};
    EXPECT_EQ(layers_per_axis(4, 3, cells, walls, {}), (std::array<int, 3>{4, 1, 1}));
    EXPECT_EQ(layers_per_axis(4, 3, cells, walls, {1, 2, 2}), (std::array<int, 3>{1, 2, 2}));
    const std::int32_t cube[] = {30, 30, 30};
    EXPECT_EQ(layers_per_axis(8, 3, cube, walls, {}), (std::array<int, 3>{2, 2, 2}));
    const std::int32_t few[] = {3, 3};
    EXPECT_THROW(static_cast<void>(layers_per_axis(10, 2, few, walls, {})), CannotShare);
    EXPECT_THROW(static_cast<void>(layers_per_axis(4, 2, few, walls, {4, 1, 0})), CannotShare);
}

}  // namespace carom::test::cut_test
