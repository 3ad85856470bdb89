#include "kernels/grid/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace carom::grid_test {

template <int Dim>
Grid<Dim> grid_of(const Vec<std::int32_t, Dim>& cells, const Vec<bool, Dim>& periodic) {
    Grid<Dim> grid{};
    for (int axis = 0; axis < Dim; ++axis) {
        grid.cells[axis] = cells[axis];
        grid.periodic[axis] = periodic[axis];
        grid.quanta_per_cell[axis] = 1000.5;
        grid.cells_per_quantum[axis] = 1.0 / 1000.5;
        grid.interior_begin[axis] = 1;
        grid.interior_end[axis] = cells[axis] - 1;
    }
    return grid;
}

/// The neighbourhood by its definition: all cells whose coordinates differ by at most one, around periodic seams.
template <int Dim>
std::vector<std::uint32_t> expected_neighbours(const Grid<Dim>& grid, const Vec<std::int32_t, Dim>& cell) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 0; number < grid.count(); ++number) {
        const auto other = grid.cell(number);
        bool near = true;
        for (int axis = 0; axis < Dim; ++axis) {
            const int n = grid.cells[axis];
            int apart = std::abs(other[axis] - cell[axis]);
            if (grid.periodic[axis]) apart = std::min(apart, n - apart);
            near = near && apart <= 1;
        }
        if (near) found.push_back(number);
    }
    return found;
}

template <int Dim>
void check_all_cells(const Vec<std::int32_t, Dim>& cells, const Vec<bool, Dim>& periodic) {
    const auto grid = grid_of<Dim>(cells, periodic);
    for (std::uint32_t number = 0; number < grid.count(); ++number) {
        const auto cell = grid.cell(number);
        ASSERT_EQ(grid.number(cell), number);
        std::vector<std::uint32_t> visited;
        grid.for_each_range(cell, [&](std::uint32_t first, std::uint32_t last) {
            ASSERT_LE(first, last);
            ASSERT_LE(last, grid.count());
            for (std::uint32_t at = first; at < last; ++at) visited.push_back(at);
        });
        std::sort(visited.begin(), visited.end());
        ASSERT_EQ(visited, expected_neighbours(grid, cell)) << "cell " << number;
    }
}

TEST(Grid, VisitsEachNeighbourCellExactlyOnceInTwoDimensions) {
    for (int nx = 1; nx <= 7; ++nx) {
        for (int ny = 1; ny <= 7; ++ny) {
            for (int sides = 0; sides < 4; ++sides) {
                SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + ", periodic " + std::to_string(sides));
                ASSERT_NO_FATAL_FAILURE((check_all_cells<2>({{nx, ny}}, {{(sides & 1) != 0, (sides & 2) != 0}})));
            }
        }
    }
}

TEST(Grid, VisitsEachNeighbourCellExactlyOnceInThreeDimensions) {
    for (int nx = 1; nx <= 5; ++nx) {
        for (int ny = 1; ny <= 5; ++ny) {
            for (int nz = 1; nz <= 5; ++nz) {
                for (int sides = 0; sides < 8; ++sides) {
                    SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz) +
                                 ", periodic " + std::to_string(sides));
                    ASSERT_NO_FATAL_FAILURE(
                        (check_all_cells<3>({{nx, ny, nz}}, {{(sides & 1) != 0, (sides & 2) != 0, (sides & 4) != 0}})));
                }
            }
        }
    }
}

TEST(Grid, APositionLiesInTheCellWhoseMiddleIsNearest) {
    const auto grid = grid_of<2>({{7, 3}}, {{false, true}});
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::int64_t> x(-3000, 7 * 1000 + 3000);
    std::uniform_int_distribution<std::int64_t> y(0, 3001);
    for (int draw = 0; draw < 20000; ++draw) {
        const Vec<std::int64_t, 2> wide{{x(random), y(random)}};
        const auto cell = grid.cell_of(wide);
        for (int axis = 0; axis < 2; ++axis) {
            ASSERT_GE(cell[axis], 0);
            ASSERT_LT(cell[axis], grid.cells[axis]);
            const std::int64_t away = std::abs(wide[axis] - grid.anchor(cell)[axis]);
            const bool inside = wide[axis] >= 0 && static_cast<double>(wide[axis]) < grid.cells[axis] * 1000.5;
            if (inside) {
                ASSERT_LE(away, 501) << "half a cell, rounded";
            } else {
                ASSERT_EQ(cell[axis], wide[axis] < 0 ? 0 : grid.cells[axis] - 1) << "the cell at the edge";
            }
        }
    }
}

TEST(Grid, PositionsOnCellBordersBelongToOneOfTheTwoCells) {
    const auto grid = grid_of<2>({{7, 3}}, {{false, true}});
    for (int border = 1; border < 7; ++border) {
        for (std::int64_t quantum = -1; quantum <= 1; ++quantum) {
            const auto wide = static_cast<std::int64_t>(border * 1000.5) + quantum;
            const auto cell = grid.cell_of({{wide, 0}});
            EXPECT_TRUE(cell[0] == border || cell[0] == border - 1);
        }
    }
}

TEST(Grid, InteriorCellsAreThoseInsideOnEveryAxis) {
    const auto grid = grid_of<3>({{4, 5, 3}}, {{false, false, false}});
    std::set<std::uint32_t> interior;
    for (std::uint32_t number = 0; number < grid.count(); ++number) {
        if (grid.interior(grid.cell(number))) interior.insert(number);
    }
    EXPECT_EQ(interior.size(), 2U * 3U * 1U);
    for (const auto number : interior) {
        const auto cell = grid.cell(number);
        EXPECT_TRUE(cell[0] >= 1 && cell[0] < 3 && cell[1] >= 1 && cell[1] < 4 && cell[2] == 1);
    }
}

}  // namespace carom::grid_test
