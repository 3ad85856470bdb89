#pragma once

#include <cstring>

#include "host/events/engine.hpp"

// Whom a ball may meet next: the slots in the cells around it.

namespace carom {

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::note_edge(Forecast& forecast) const {
    bool edge = false;
    for (int axis = 0; axis < Dim; ++axis) {
        edge = edge || forecast.cell[axis] == 0 || forecast.cell[axis] + 1U == grid_.cells[axis];
    }
    forecast.at_edge = edge ? 1 : 0;
}

/// Appends the slots of A x B cells, from `first` on in two directions, none of them beyond the grid.
template <int Dim, bool Gravity, bool Lists>
template <int A, int B>
std::uint32_t Engine<Dim, Gravity, Lists>::gather_inside(std::uint32_t first, std::uint32_t stride_a,
                                                         std::uint32_t stride_b, std::uint32_t end) {
    std::uint32_t* list = candidates_.data();
    if (cells_.spilled()) [[unlikely]] {
        for (std::uint32_t b = 0; b < B; ++b) {
            for (std::uint32_t a = 0; a < A; ++a) end = cells_.gather(first + a * stride_a + b * stride_b, list, end);
        }
        return end;
    }
    for (std::uint32_t b = 0; b < B; ++b) {
        for (std::uint32_t a = 0; a < A; ++a)
            end = cells_.gather_inline(first + a * stride_a + b * stride_b, list, end);
    }
    return end;
}

/// The cells before, at and after a place on an axis, as what they add to a cell's number, with the periodic shift of
/// those seen through a face.
template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::cells_along(int axis, std::uint32_t cell) const -> CellsAlong {
    constexpr std::uint64_t kNoCell = std::uint64_t{1} << 40U;  // more than any number of a cell
    const std::uint32_t n = grid_.cells[axis];
    const std::uint64_t stride = axis == 0 ? 1 : std::uint64_t{grid_.cells[0]} * (axis == 1 ? 1 : grid_.cells[1]);
    const int weight = axis == 0 ? 1 : (axis == 1 ? 3 : 9);
    const bool first = cell == 0;
    const bool last = cell + 1 == n;
    const bool periodic = setup_.box.periodic(axis);
    CellsAlong along;
    along.offset[0] = first ? (periodic ? (n - 1) * stride : kNoCell) : (cell - 1) * stride;
    along.offset[1] = cell * stride;
    along.offset[2] = last ? (periodic ? 0 : kNoCell) : (cell + 1) * stride;
    along.code[0] = first ? -weight : 0;
    along.code[1] = 0;
    along.code[2] = last ? weight : 0;
    return along;
}

/// Appends the slots of A x B cells at a border of the box, with the code of the shift of each. What is no cell counts
/// as the empty one behind all others.
template <int Dim, bool Gravity, bool Lists>
template <int A, int B>
std::uint32_t Engine<Dim, Gravity, Lists>::gather_at_edge(std::uint64_t offset, int code, const CellsAlong& along_a,
                                                          const CellsAlong& along_b, std::uint32_t end) {
    std::uint32_t* list = candidates_.data();
    std::uint8_t* codes = shift_code_.data();
    const std::uint64_t empty = grid_.count();
    for (int b = 0; b < B; ++b) {
        for (int a = 0; a < A; ++a) {
            const std::uint64_t cell = offset + along_a.offset[a] + (B > 1 ? along_b.offset[b] : 0);
            const int shift = code + along_a.code[a] + (B > 1 ? along_b.code[b] : 0);
            const std::uint32_t from = end;
            end = cells_.gather(static_cast<std::uint32_t>(std::min(cell, empty)), list, end);
            std::memset(codes + from, shift, 8);  // one store; nearly always enough
            if (end - from > 8) [[unlikely]]
                std::memset(codes + from, shift, end - from);
        }
    }
    return end;
}

/// Slots of a ball's cell and those around it.
template <int Dim, bool Gravity, bool Lists>
std::uint32_t Engine<Dim, Gravity, Lists>::gather_all(Slot i, bool& edge) {
    const Forecast& forecast = forecast_[i];
    edge = forecast.at_edge != 0;
    if (!edge) [[likely]] {
        const std::uint32_t row = grid_.cells[0];
        if constexpr (Dim == 2) return gather_inside<3, 3>(cell_number(forecast.cell) - 1 - row, 1, row, 0);
        const std::uint32_t plane = row * grid_.cells[1];
        std::uint32_t corner = cell_number(forecast.cell) - 1 - row - plane;
        std::uint32_t end = 0;
        for (int z = 0; z < 3; ++z, corner += plane) end = gather_inside<3, 3>(corner, 1, row, end);
        return end;
    }
    const CellsAlong x = cells_along(0, forecast.cell[0]);
    const CellsAlong y = cells_along(1, forecast.cell[1]);
    if constexpr (Dim == 2) return gather_at_edge<3, 3>(0, kNoShift, x, y, 0);
    const CellsAlong z = cells_along(2, forecast.cell[2]);
    std::uint32_t end = 0;
    for (int k = 0; k < 3; ++k) end = gather_at_edge<3, 3>(z.offset[k], kNoShift + z.code[k], x, y, end);
    return end;
}

/// Slots of the cells that a ball has come into sight of by going on along an axis.
template <int Dim, bool Gravity, bool Lists>
std::uint32_t Engine<Dim, Gravity, Lists>::gather_ahead(Slot i, int axis, bool up) {
    const Forecast& forecast = forecast_[i];
    if (forecast.at_edge == 0) [[likely]] {
        const std::uint32_t strides[3] = {1, grid_.cells[0], grid_.cells[0] * grid_.cells[1]};
        const std::uint32_t along = strides[axis];
        const std::uint32_t a = strides[axis == 0 ? 1 : 0];
        const std::uint32_t b = Dim == 3 ? strides[axis == 2 ? 1 : 2] : 0;
        const std::uint32_t middle = cell_number(forecast.cell) + (up ? along : -along);
        return gather_inside < 3, Dim == 3 ? 3 : 1 > (middle - a - b, a, b, 0);
    }
    const int axis_a = axis == 0 ? 1 : 0;
    const int axis_b = axis == 2 ? 1 : 2;
    const CellsAlong ahead = cells_along(axis, forecast.cell[axis]);
    const CellsAlong a = cells_along(axis_a, forecast.cell[axis_a]);
    const CellsAlong b = Dim == 3 ? cells_along(axis_b, forecast.cell[axis_b]) : a;
    const int k = up ? 2 : 0;
    return gather_at_edge < 3, Dim == 3 ? 3 : 1 > (ahead.offset[k], kNoShift + ahead.code[k], a, b, 0);
}

}  // namespace carom
