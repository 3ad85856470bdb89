#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

#include "host/state/box.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/core/vec.hpp"

// Whom a ball may meet: the balls in its cell and in those around it.

namespace carom {

/// The balls by cell. A cell holds up to seven slots in half a cache line; a cell that is fuller spills into a map, so
/// any crowding works, and only crowding beyond the usual is slow.
class CellLists {
public:
    static constexpr std::uint32_t kInline = 7;

    explicit CellLists(std::size_t count = 0) : cells_(count + 1) {}

    void add(std::uint32_t cell, std::uint32_t slot) {
        Cell& place = cells_[cell];
        if (place.count < kInline) {
            place.member[place.count] = slot;
        } else {
            spilled_[cell].push_back(slot);
            ++spilled_count_;
        }
        ++place.count;
    }

    void remove(std::uint32_t cell, std::uint32_t slot) {
        Cell& place = cells_[cell];
        std::uint32_t held = std::min(place.count, kInline);
        std::uint32_t last;
        if (place.count > kInline) {
            auto& rest = spilled_[cell];
            last = rest.back();
            rest.pop_back();
            --spilled_count_;
            for (std::uint32_t& member : rest) {
                if (member == slot) member = last;
            }
        } else {
            last = place.member[--held];
        }
        for (std::uint32_t k = 0; k < held; ++k) {
            if (place.member[k] == slot) place.member[k] = last;
        }
        --place.count;
    }

    /// Whether some cell holds more than gather_inline() takes.
    [[nodiscard]] bool spilled() const { return spilled_count_ != 0; }

    /// Appends the slots in a cell to `list` (room for 8 more than needed), where none has spilled; returns the new
    /// end.
    std::uint32_t gather_inline(std::uint32_t cell, std::uint32_t* list, std::uint32_t end) const {
        const Cell& place = cells_[cell];
        // The whole cell in one copy, its count included, which the next one overwrites.
        using Line [[gnu::vector_size(32), gnu::may_alias]] = std::uint32_t;
        const Line line = *reinterpret_cast<const Line*>(&place);
        std::memcpy(list + end, &line, sizeof(line));
        return end + place.count;
    }

    /// The same for any cell.
    std::uint32_t gather(std::uint32_t cell, std::uint32_t* list, std::uint32_t end) const {
        const std::uint32_t after = gather_inline(cell, list, end);
        const Cell& place = cells_[cell];
        if (place.count <= kInline) [[likely]]
            return after;
        end += kInline;
        for (std::uint32_t slot : spilled_.at(cell)) list[end++] = slot;
        return end;
    }

    [[nodiscard]] std::uint32_t count(std::uint32_t cell) const { return cells_[cell].count; }
    void prefetch(std::uint32_t cell) const { carom::prefetch(cells_.data() + cell); }
    /// Some slot in the cell, or whatever was there: a hint what to load, for any number.
    [[nodiscard]] std::uint32_t first_of(std::uint32_t cell) const {
        return cells_[std::min<std::size_t>(cell, cells_.size() - 1)].member[0];
    }

    [[nodiscard]] std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

private:
    struct alignas(32) Cell {
        std::uint32_t member[kInline];
        std::uint32_t count;  // all members, spilled ones too; last, so that gathering is one copy
    };
    PageVector<Cell> cells_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> spilled_;
    std::size_t spilled_count_ = 0;
};

/// How the box is cut into cells: at least as wide as the largest diameter, so that balls which can touch lie in the
/// same or in adjacent cells, and no more of them than the balls justify, however large the box.
struct CellGrid {
    std::array<std::uint32_t, 3> cells{1, 1, 1};
    std::array<double, 3> edge{};  ///< [length]

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(cells[0]) * cells[1] * cells[2]; }

    /// The finest grid whose cells are at least `edge` wide and that has at most `most` cells, or 27.
    static CellGrid design(const Box& box, double edge, double most) {
        constexpr double kMostPerAxis = 65000.0;  // a cell's coordinates are 16 bits each
        // A number that is not normal may be the same after it has grown by so little, for ever.
        edge = std::max(edge, std::numeric_limits<double>::min());
        for (;; edge *= 1.02) {
            double product = 1.0;
            double longest = 1.0;
            for (int axis = 0; axis < box.dimension; ++axis) {
                const double along = std::max(1.0, std::floor(box.size[axis] / edge));
                product *= along;
                longest = std::max(longest, along);
            }
            if (product > std::max(most, 27.0) || longest > kMostPerAxis) continue;
            CellGrid grid;
            for (int axis = 0; axis < box.dimension; ++axis) {
                grid.cells[axis] = static_cast<std::uint32_t>(std::max(1.0, std::floor(box.size[axis] / edge)));
                grid.edge[axis] = box.size[axis] / grid.cells[axis];
            }
            return grid;
        }
    }
};

/// The bits of `x` with `gap` zeros between them.
inline std::uint64_t spread_bits(std::uint64_t x, int gap) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 16; ++bit) result |= (x >> bit & 1U) << (bit * (gap + 1));
    return result;
}

/// Place of a cell on Morton's curve: cells close on it are close in space (Morton 1966).
inline std::uint64_t morton_code(const std::uint16_t* cell, int dimension) {
    std::uint64_t code = 0;
    for (int axis = 0; axis < dimension; ++axis) code |= spread_bits(cell[axis], dimension - 1) << axis;
    return code;
}

/// The cell that a ball is in.
struct CellPlace {
    std::uint16_t cell[3];
    std::uint16_t at_edge;  ///< 1: the cell lies at a side of the box
};

/// The neighbour finder: balls, by slot, in the cells of a box. What it gives for a place is every ball in the 3^Dim
/// cells around it, once for each of its periodic images there, with the shift that brings the ball to that image.
/// Positions count from the box's lower corner.
template <int Dim>
class NeighbourCells {
public:
    static constexpr std::uint8_t kNoShift = 13;  // the middle of 27 periodic shifts

    NeighbourCells() = default;
    explicit NeighbourCells(const Box& box) {
        for (int axis = 0; axis < Dim; ++axis) {
            size_[axis] = box.size[axis];
            periodic_[axis] = box.periodic(axis);
        }
        for (int code = 0; code < 27; ++code) {
            const int step[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
            for (int axis = 0; axis < 4; ++axis) shift_[code][axis] = axis < Dim ? step[axis] * box.size[axis] : 0.0;
        }
    }

    /// Cuts the box anew; all cells are empty then. \param balls  that there are, at most; this slot is nobody's
    void cut(const CellGrid& grid, std::uint32_t balls) {
        grid_ = grid;
        nobody_ = balls;
        lists_ = CellLists(grid.count());
        for (int axis = 0; axis < 4; ++axis) cell_edge_[axis] = axis < Dim ? grid_.edge[axis] : 1.0;
        bool narrow = false;  // fewer than three cells on a periodic axis: a ball is seen in several images
        for (int axis = 0; axis < Dim; ++axis) narrow = narrow || (periodic_[axis] && grid_.cells[axis] < 3);
        candidates_.resize((narrow ? 27 : 1) * static_cast<std::size_t>(balls) + 32);
        shift_code_.resize(candidates_.size());
    }

    [[nodiscard]] const CellGrid& grid() const { return grid_; }
    /// Lengths of a cell's edges, and 1 behind them: for four lanes.
    [[nodiscard]] const double* cell_edges() const { return cell_edge_.data(); }

    [[nodiscard]] CellPlace place_of(const double* position) const {
        CellPlace place{};
        for (int axis = 0; axis < Dim; ++axis) {
            const double cell = std::floor(position[axis] / grid_.edge[axis]);
            place.cell[axis] = static_cast<std::uint16_t>(std::clamp(cell, 0.0, grid_.cells[axis] - 1.0));
        }
        note_edge(place);
        return place;
    }
    void note_edge(CellPlace& place) const {
        bool edge = false;
        for (int axis = 0; axis < Dim; ++axis) {
            edge = edge || place.cell[axis] == 0 || place.cell[axis] + 1U == grid_.cells[axis];
        }
        place.at_edge = edge ? 1 : 0;
    }
    [[nodiscard]] bool is_last(const CellPlace& place, int axis, bool up) const {
        return up ? place.cell[axis] + 1U == grid_.cells[axis] : place.cell[axis] == 0;
    }

    void add(const CellPlace& place, std::uint32_t slot) { lists_.add(number(place), slot); }
    void remove(const CellPlace& place, std::uint32_t slot) { lists_.remove(number(place), slot); }
    /// Balls in the cell.
    [[nodiscard]] std::uint32_t count(const CellPlace& place) const { return lists_.count(number(place)); }
    /// From one cell to another, where they differ.
    void move(CellPlace& place, const CellPlace& to, std::uint32_t slot) {
        const std::uint32_t from_number = number(place);
        const std::uint32_t to_number = number(to);
        if (from_number == to_number) return;
        lists_.remove(from_number, slot);
        lists_.add(to_number, slot);
        place = to;
    }
    /// On to the next cell along an axis. Returns what the ball's coordinate changes by: 0, or, through a periodic
    /// face, a period.
    double step(CellPlace& place, std::uint32_t slot, int axis, bool up) {
        const bool last = is_last(place, axis, up);
        std::uint16_t& cell = place.cell[axis];
        lists_.remove(number(place), slot);
        double jump = 0.0;
        if (last) {
            cell = static_cast<std::uint16_t>(up ? 0 : grid_.cells[axis] - 1);
            jump = up ? -size_[axis] : size_[axis];
        } else {
            cell = static_cast<std::uint16_t>(up ? cell + 1 : cell - 1);
        }
        lists_.add(number(place), slot);
        note_edge(place);
        return jump;
    }

    // The candidates that were gathered last: slots, the ball itself among them, and, for a cell at the edge, shifts.

    [[nodiscard]] std::uint32_t* candidates() { return candidates_.data(); }
    [[nodiscard]] const std::uint32_t* candidates() const { return candidates_.data(); }
    /// What is to be taken off the way from candidate k to the ball: one period or none an axis, for four lanes.
    [[nodiscard]] const double* shift(std::uint32_t k) const { return shift_[shift_code_[k]].data(); }
    /// Puts nobody behind the candidates, so that they can be looked at four at a time.
    void fill_up(std::uint32_t count, bool edge) {
        for (std::uint32_t k = count; k < count + 3; ++k) candidates_[k] = nobody_;
        if (!edge) return;
        for (std::uint32_t k = count; k < count + 3; ++k) shift_code_[k] = kNoShift;
    }

    /// Gathers the cells around a place; returns how many candidates.
    std::uint32_t gather_around(const CellPlace& place) {
        if (place.at_edge == 0) [[likely]] {
            const std::uint32_t row = grid_.cells[0];
            if constexpr (Dim == 2) return gather_inside<3, 3>(number(place) - 1 - row, 1, row, 0);
            const std::uint32_t plane = row * grid_.cells[1];
            std::uint32_t corner = number(place) - 1 - row - plane;
            std::uint32_t end = 0;
            for (int z = 0; z < 3; ++z, corner += plane) end = gather_inside<3, 3>(corner, 1, row, end);
            return end;
        }
        const CellsAlong x = cells_along(0, place.cell[0]);
        const CellsAlong y = cells_along(1, place.cell[1]);
        if constexpr (Dim == 2) return gather_at_edge<3, 3>(0, kNoShift, x, y, 0);
        const CellsAlong z = cells_along(2, place.cell[2]);
        std::uint32_t end = 0;
        for (int k = 0; k < 3; ++k) end = gather_at_edge<3, 3>(z.offset[k], kNoShift + z.code[k], x, y, end);
        return end;
    }

    /// Gathers the cells that have come into sight by a step along an axis.
    std::uint32_t gather_ahead(const CellPlace& place, int axis, bool up) {
        if (place.at_edge == 0) [[likely]] {
            const std::uint32_t strides[3] = {1, grid_.cells[0], grid_.cells[0] * grid_.cells[1]};
            const std::uint32_t along = strides[axis];
            const std::uint32_t a = strides[axis == 0 ? 1 : 0];
            const std::uint32_t b = Dim == 3 ? strides[axis == 2 ? 1 : 2] : 0;
            const std::uint32_t middle = number(place) + (up ? along : -along);
            return gather_inside < 3, Dim == 3 ? 3 : 1 > (middle - a - b, a, b, 0);
        }
        const int axis_a = axis == 0 ? 1 : 0;
        const int axis_b = axis == 2 ? 1 : 2;
        const CellsAlong ahead = cells_along(axis, place.cell[axis]);
        const CellsAlong a = cells_along(axis_a, place.cell[axis_a]);
        const CellsAlong b = Dim == 3 ? cells_along(axis_b, place.cell[axis_b]) : a;
        const int k = up ? 2 : 0;
        return gather_at_edge < 3, Dim == 3 ? 3 : 1 > (ahead.offset[k], kNoShift + ahead.code[k], a, b, 0);
    }

    // Memory that gathering will need, asked for in time. Only addresses: cells beyond the grid do no harm.

    /// \param members  of a step or two later: asks for no cells, but calls soon(slot) for some ball in each
    template <class Soon>
    void ask_around(const CellPlace& place, bool members, Soon&& soon) const {
        const std::uint32_t row = grid_.cells[0];
        const std::uint32_t plane = row * grid_.cells[1];
        const std::uint32_t middle = number(place);
        for (std::uint32_t z = 0; z < (Dim == 3 ? 3U : 1U); ++z) {
            for (std::uint32_t y = 0; y < 3; ++y) {
                const std::uint32_t cell = middle + y * row - row + (Dim == 3 ? z * plane - plane : 0);
                ask(cell - 1, members, soon);
                if (members) ask(cell, members, soon);  // a cache line holds two cells
                ask(cell + 1, members, soon);
            }
        }
    }
    /// The same for a step along an axis, which brings the cells beyond the next one into sight.
    template <class Soon>
    void ask_ahead(const CellPlace& place, std::uint32_t axis, bool up, bool members, Soon&& soon) const {
        const std::uint32_t strides[3] = {1, grid_.cells[0], grid_.cells[0] * grid_.cells[1]};
        std::uint32_t middle = number(place);
        const std::uint32_t along = strides[axis];
        const std::uint32_t step_a = strides[axis == 0 ? 1 : 0];
        const std::uint32_t step_b = Dim == 3 ? strides[axis == 2 ? 1 : 2] : 0;
        if (!members) {
            lists_.prefetch(middle);
            lists_.prefetch(up ? middle + along : middle - along);
        }
        middle += up ? 2 * along : -2 * along;
        for (std::uint32_t b = 0; b < (Dim == 3 ? 3U : 1U); ++b) {
            for (std::uint32_t a = 0; a < 3; ++a)
                ask(middle + a * step_a - step_a + (Dim == 3 ? b * step_b - step_b : 0), members, soon);
        }
    }

    [[nodiscard]] std::size_t bytes() const {
        return lists_.bytes() + candidates_.capacity() * sizeof(std::uint32_t) + shift_code_.capacity();
    }

private:
    /// The cells before, at and after a place on an axis, as what they add to a cell's number, with the periodic shift
    /// of those seen through a face.
    struct CellsAlong {
        std::uint64_t offset[3];
        int code[3];
    };

    [[nodiscard]] std::uint32_t number(const CellPlace& place) const {
        std::uint32_t number = place.cell[Dim - 1];
        for (int axis = Dim - 2; axis >= 0; --axis) number = number * grid_.cells[axis] + place.cell[axis];
        return number;
    }

    [[nodiscard]] CellsAlong cells_along(int axis, std::uint32_t cell) const {
        constexpr std::uint64_t kNoCell = std::uint64_t{1} << 40U;  // more than any number of a cell
        const std::uint32_t n = grid_.cells[axis];
        const std::uint64_t stride = axis == 0 ? 1 : std::uint64_t{grid_.cells[0]} * (axis == 1 ? 1 : grid_.cells[1]);
        const int weight = axis == 0 ? 1 : (axis == 1 ? 3 : 9);
        const bool first = cell == 0;
        const bool last = cell + 1 == n;
        CellsAlong along;
        along.offset[0] = first ? (periodic_[axis] ? (n - 1) * stride : kNoCell) : (cell - 1) * stride;
        along.offset[1] = cell * stride;
        along.offset[2] = last ? (periodic_[axis] ? 0 : kNoCell) : (cell + 1) * stride;
        along.code[0] = first ? -weight : 0;
        along.code[1] = 0;
        along.code[2] = last ? weight : 0;
        return along;
    }

    /// Appends the slots of A x B cells, from `first` on in two directions, none of them beyond the grid.
    template <int A, int B>
    std::uint32_t gather_inside(std::uint32_t first, std::uint32_t stride_a, std::uint32_t stride_b,
                                std::uint32_t end) {
        std::uint32_t* list = candidates_.data();
        if (lists_.spilled()) [[unlikely]] {
            for (std::uint32_t b = 0; b < B; ++b) {
                for (std::uint32_t a = 0; a < A; ++a)
                    end = lists_.gather(first + a * stride_a + b * stride_b, list, end);
            }
            return end;
        }
        for (std::uint32_t b = 0; b < B; ++b) {
            for (std::uint32_t a = 0; a < A; ++a)
                end = lists_.gather_inline(first + a * stride_a + b * stride_b, list, end);
        }
        return end;
    }

    /// Appends the slots of A x B cells at a border of the box, with the code of the shift of each. What is no cell
    /// counts as the empty one behind all others.
    template <int A, int B>
    std::uint32_t gather_at_edge(std::uint64_t offset, int code, const CellsAlong& along_a, const CellsAlong& along_b,
                                 std::uint32_t end) {
        std::uint32_t* list = candidates_.data();
        std::uint8_t* codes = shift_code_.data();
        const std::uint64_t empty = grid_.count();
        for (int b = 0; b < B; ++b) {
            for (int a = 0; a < A; ++a) {
                const std::uint64_t cell = offset + along_a.offset[a] + (B > 1 ? along_b.offset[b] : 0);
                const int shift = code + along_a.code[a] + (B > 1 ? along_b.code[b] : 0);
                const std::uint32_t from = end;
                end = lists_.gather(static_cast<std::uint32_t>(std::min(cell, empty)), list, end);
                std::memset(codes + from, shift, 8);  // one store; nearly always enough
                if (end - from > 8) [[unlikely]]
                    std::memset(codes + from, shift, end - from);
            }
        }
        return end;
    }

    template <class Soon>
    void ask(std::uint32_t cell, bool members, Soon&& soon) const {
        if (members) {
            soon(lists_.first_of(cell));
        } else {
            lists_.prefetch(cell);
        }
    }

    CellGrid grid_;
    Vec<double, Dim> size_{};  // of the box
    Vec<bool, Dim> periodic_{};
    alignas(32) std::array<double, 4> cell_edge_{};
    CellLists lists_;
    std::uint32_t nobody_ = 0;
    std::vector<std::uint32_t> candidates_;
    std::vector<std::uint8_t> shift_code_;         // of each candidate, where the cell is at the edge
    alignas(32) std::array<double, 4> shift_[27];  // periodic shift by code
};

}  // namespace carom
