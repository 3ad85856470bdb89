#pragma once

#include <cstdint>
#include <limits>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/portability.hpp"

// What is around a ball, for pictures: what the balls of its cell and of those that touch it have together. Cells are a
// picture's own, about ten balls large, and not those in which an engine looks for partners, whose size is another on
// each processor.

namespace carom {

/// A box in equal cells.
struct BoxCells {
    int dimension = 2;
    double min[3] = {};                ///< lower corner [length]
    double size[3] = {1.0, 1.0, 1.0};  ///< [length]
    bool periodic[3] = {};             ///< whether first and last cells touch
    std::int64_t count[3] = {1, 1, 1};

    [[nodiscard]] CAROM_HD std::int64_t cells() const { return count[0] * count[1] * count[2]; }
    /// [length^d]
    [[nodiscard]] CAROM_HD double cell_volume() const {
        double volume = 1.0;
        for (int axis = 0; axis < dimension; ++axis) volume = volume * (size[axis] / static_cast<double>(count[axis]));
        return volume;
    }
    /// Along an axis; what is outside counts for the first or the last.
    [[nodiscard]] CAROM_HD std::int64_t index(int axis, double x) const {
        const auto many = static_cast<double>(count[axis]);
        const double at = (x - min[axis]) / size[axis] * many;
        return static_cast<std::int64_t>(smaller(larger(at, 0.0), many - 1.0));
    }
    /// Calls `look` with a cell and each of those that touch it, once.
    template <class Look>
    CAROM_HD void near(std::int64_t cell, Look&& look) const {
        const std::int64_t at[3] = {cell % count[0], cell / count[0] % count[1], cell / count[0] / count[1]};
        std::int64_t first[3];
        std::int64_t last[3];
        for (int axis = 0; axis < 3; ++axis) {
            first[axis] = at[axis] - 1;
            last[axis] = at[axis] + 1;
            if (periodic[axis] && count[axis] > 2) continue;
            first[axis] = larger<std::int64_t>(first[axis], 0);
            last[axis] = smaller(last[axis], count[axis] - 1);
        }
        for (std::int64_t z = first[2]; z <= last[2]; ++z) {
            for (std::int64_t y = first[1]; y <= last[1]; ++y) {
                for (std::int64_t x = first[0]; x <= last[0]; ++x) {
                    look((inside(2, z) * count[1] + inside(1, y)) * count[0] + inside(0, x));
                }
            }
        }
    }

    /// What cells have, evenly from the middle of one to that of the next, so that it does not jump from cell to cell.
    /// \param of  gives a cell's; NaN: it has none, and is left out
    template <class Of>
    [[nodiscard]] CAROM_HD double between(const double (&place)[3], Of&& of) const {
        std::int64_t at[3][2] = {};
        double share[3][2] = {{1.0, 0.0}, {1.0, 0.0}, {1.0, 0.0}};
        for (int axis = 0; axis < dimension; ++axis) {
            const auto many = static_cast<double>(count[axis]);
            const double along = (place[axis] - min[axis]) / size[axis] * many;
            const double from_middle = smaller(larger(along, 0.0), many) + 0.5;  // of the cell before the first
            const auto next = static_cast<std::int64_t>(from_middle);
            share[axis][1] = from_middle - static_cast<double>(next);
            share[axis][0] = 1.0 - share[axis][1];
            for (int side = 0; side < 2; ++side) {
                const std::int64_t k = next - 1 + side;
                at[axis][side] =
                    periodic[axis] ? inside(axis, k) : smaller(larger<std::int64_t>(k, 0), count[axis] - 1);
            }
        }
        double sum = 0.0;
        double shares = 0.0;
        for (int corner = 0; corner < 1 << dimension; ++corner) {
            const int side[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
            const double part = share[0][side[0]] * share[1][side[1]] * share[2][side[2]];
            const double value = of((at[2][side[2]] * count[1] + at[1][side[1]]) * count[0] + at[0][side[0]]);
            if (!(value == value)) continue;
            sum = sum + part * value;
            shares = shares + part;
        }
        return shares > 0.0 ? sum / shares : std::numeric_limits<double>::quiet_NaN();
    }

private:
    [[nodiscard]] CAROM_HD std::int64_t inside(int axis, std::int64_t k) const {
        return k < 0 ? k + count[axis] : k >= count[axis] ? k - count[axis] : k;
    }
};

/// What balls have together. Those of infinite mass count for the volume alone.
struct AroundSums {
    double mobile = 0.0;
    double volume = 0.0;  ///< of balls [length^d]
    double mass = 0.0;
    double momentum[3] = {};
    double energy = 0.0;  ///< twice the kinetic

    CAROM_HD void add(const AroundSums& other) {
        mobile = mobile + other.mobile;
        volume = volume + other.volume;
        mass = mass + other.mass;
        for (int axis = 0; axis < 3; ++axis) momentum[axis] = momentum[axis] + other.momentum[axis];
        energy = energy + other.energy;
    }

    // NaN: there is none.

    /// The share of a room that balls fill.
    [[nodiscard]] CAROM_HD double density(double room) const { return volume / room; }
    /// The speed of the common motion.
    [[nodiscard]] CAROM_HD double flow() const {
        return mass > 0.0 ? square_root(momentum_squared()) / mass : std::numeric_limits<double>::quiet_NaN();
    }
    /// Of motion against each other [energy]: without the flow's, which takes one ball's freedom.
    [[nodiscard]] CAROM_HD double temperature(int dimension) const {
        if (!(mass > 0.0) || !(mobile > 1.0)) return std::numeric_limits<double>::quiet_NaN();
        return (energy - momentum_squared() / mass) / (static_cast<double>(dimension) * (mobile - 1.0));
    }

private:
    [[nodiscard]] CAROM_HD double momentum_squared() const {
        double squared = 0.0;
        for (int axis = 0; axis < 3; ++axis) squared = squared + momentum[axis] * momentum[axis];
        return squared;
    }
};

}  // namespace carom
