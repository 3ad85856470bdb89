#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/state/box.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// Balls of one frame by cells at least `reach` wide, so that all that are within reach of a point are in the cells
/// around it. There are at most about as many cells as balls. Cost and memory O(N).
class BallCells {
public:
    /// \param ids  the balls that are sorted in
    void build(const Box& box, double reach, const Frame& frame, std::span<const std::uint32_t> ids);

    /// Calls body(id, dx, dy, dz) for the balls in the cells around a point, with the way there from it, the shorter
    /// one around periodic sides.
    template <class Body>
    void around(const std::array<double, 3>& at, const Body& body) const {
        std::array<std::array<std::size_t, 3>, 3> cells{};
        std::array<std::size_t, 3> count{1, 1, 1};
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            count[axis] = neighbours(axis, cell_of(axis, at[axis]), cells[axis]);
        }
        for (std::size_t k = 0; k < count[2]; ++k) {
            for (std::size_t j = 0; j < count[1]; ++j) {
                for (std::size_t i = 0; i < count[0]; ++i) {
                    const std::size_t cell = (cells[2][k] * cells_[1] + cells[1][j]) * cells_[0] + cells[0][i];
                    for (std::size_t slot = begin_[cell]; slot < begin_[cell + 1]; ++slot) {
                        std::array<double, 3> way{};
                        for (std::size_t axis = 0; axis < dimension_; ++axis) {
                            double d = place_[axis][slot] - at[axis];
                            if (periodic_[axis]) {
                                if (d > half_[axis]) d -= 2.0 * half_[axis];
                                if (d < -half_[axis]) d += 2.0 * half_[axis];
                            }
                            way[axis] = d;
                        }
                        body(id_[slot], way[0], way[1], way[2]);
                    }
                }
            }
        }
    }

    /// Mean number of balls that `around` looks at.
    [[nodiscard]] double candidates() const;

private:
    [[nodiscard]] std::size_t cell_of(std::size_t axis, double at) const;
    std::size_t neighbours(std::size_t axis, std::size_t cell, std::array<std::size_t, 3>& found) const;

    std::size_t dimension_ = 2;
    std::array<bool, 3> periodic_{};
    std::array<double, 3> low_{}, half_{}, per_length_{};
    std::array<std::size_t, 3> cells_{1, 1, 1};
    std::vector<std::size_t> begin_;                // first slot of each cell, and one more
    std::vector<std::uint32_t> id_;                 // by slot
    std::array<std::vector<double>, 3> place_;      // by slot
    std::vector<std::size_t> cell_of_ball_, next_;  // work space
};

}  // namespace carom
