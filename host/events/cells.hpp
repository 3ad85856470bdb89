#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "host/state/box.hpp"
#include "kernels/core/pages.hpp"
#include "kernels/core/prefetch.hpp"

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

}  // namespace carom
