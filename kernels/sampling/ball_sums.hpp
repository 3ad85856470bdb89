#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

// Sums over balls at one time, which averages over a run are made of: histograms, profiles, maps, moments. Each ball's
// terms are rounded to a grid and added as integers, so the result has the same bits on any processor, with any number
// of threads, in any order.

namespace carom {

/// What is told of single balls.
enum class Followed : std::uint8_t {
    kVelocity,
    kPlace,  ///< position plus crossings times the size of the box
};

/// Balls at one time, by id, in the memory of the processor that looks at them. Arrays that have `dimension` entries
/// leave the others null.
template <class Real>
struct SampledBalls {
    const double* position[3];     ///< in the box on periodic axes [length]
    const Real* velocity[3];       ///< at the time of the positions [length/time]
    const std::int32_t* image[3];  ///< crossings of periodic faces
    const std::uint8_t* gone;      ///< 1: left through an open face; its other entries mean nothing
    const std::uint32_t* species;  ///< index into what is told by species
    const double* mass;            ///< by species; 0 for what is infinite, which has no part in sums [mass]
    std::uint64_t count;

    CAROM_HD bool has(std::uint64_t id, const std::uint8_t* chosen) const {
        return gone[id] == 0 && chosen[species[id]] != 0;
    }
    CAROM_HD double mass_of(std::uint64_t id) const { return mass[species[id]]; }
    CAROM_HD double speed_squared(std::uint64_t id, int dimension) const {
        double squared = 0.0;
        for (int axis = 0; axis < dimension; ++axis) {
            const auto v = static_cast<double>(velocity[axis][id]);
            squared = squared + v * v;
        }
        return squared;
    }
    /// m v^2.
    CAROM_HD double energy(std::uint64_t id, int dimension) const { return mass_of(id) * speed_squared(id, dimension); }
    /// One component; NaN of one that is gone.
    /// \param size  of the box along that axis [length]
    CAROM_HD double followed(std::uint64_t id, int axis, Followed what, double size) const {
        if (gone[id] != 0) return __builtin_nan("");
        if (what == Followed::kVelocity) return static_cast<double>(velocity[axis][id]);
        return position[axis][id] + image[axis][id] * size;
    }
};

/// Equal bins along a line.
struct LineBins {
    double low = 0.0;
    double length = 1.0;
    std::uint32_t count = 1;

    /// The bin of a value, count if it lies beyond. The upper end itself is in the last bin.
    CAROM_HD std::uint32_t find(double at) const {
        const double bin = (at - low) / length * count;
        if (!(bin >= 0.0)) return count;
        if (bin >= count) return bin > count ? count : count - 1;
        return static_cast<std::uint32_t>(bin);
    }
    [[nodiscard]] double width() const { return length / count; }
    [[nodiscard]] double middle(std::uint32_t bin) const { return low + (bin + 0.5) * width(); }
};

/// What is summed, and by what the balls are sorted into places: a table of places() rows and columns() columns, row
/// by row, and behind it the number of balls that were looked at.
struct BallSums {
    /// By what a ball finds its place.
    enum class By : std::uint8_t {
        kNothing,     ///< one place
        kRegion,      ///< one place, for those whose centres are in a region
        kSlice,       ///< slices across axis[0]
        kCell,        ///< cells of the plane of axis[0] and axis[1], row after row
        kSpeed,       ///< bins of the speed
        kComponents,  ///< bins of the velocity's first component, then of the next: a ball has a place in each
    };
    /// What a ball adds at its place.
    enum class Terms : std::uint8_t {
        kCount,    ///< 1
        kFlow,     ///< m v on each axis, m
        kThermal,  ///< m v^2, m v on each axis, m, 1
        kMoments,  ///< w, w^2 and 1 for each axis, w = m v^2 of that axis
        kStress,   ///< m v_a v_b for xx, yy, zz, xy, xz, yz; m v on x, y, z; m; 1
    };
    static constexpr int kMostColumns = 11;
    /// Of a sum; its terms have at most kTermBits.
    static constexpr int kSumBits = 61;
    static constexpr int kTermBits = 50;

    By by = By::kNothing;
    Terms terms = Terms::kCount;
    std::uint8_t dimension = 2;
    std::uint8_t axis[2] = {0, 1};
    LineBins bins[2];
    Vec<double, 3> region_low{}, region_high{};
    /// By column: steps per unit, powers of two.
    Vec<double, kMostColumns> to_grid{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    std::uint32_t measured = 0;  ///< columns that have a grid; behind them a count
    /// Above 0: of each term what its rounding leaves is summed, in steps finer by so much.
    double finer = 0.0;

    CAROM_HD std::uint32_t columns() const {
        switch (terms) {
            case Terms::kCount:
                return 1;
            case Terms::kFlow:
                return dimension + 1U;
            case Terms::kThermal:
                return dimension + 3U;
            case Terms::kMoments:
                return 3;
            case Terms::kStress:
                return kMostColumns;
        }
        return 0;
    }
    CAROM_HD std::uint32_t places() const {
        switch (by) {
            case By::kNothing:
            case By::kRegion:
                return 1;
            case By::kSlice:
            case By::kSpeed:
                return bins[0].count;
            case By::kCell:
                return bins[0].count * bins[1].count;
            case By::kComponents:
                return dimension * bins[0].count;
        }
        return 0;
    }
    [[nodiscard]] CAROM_HD std::uint32_t width() const { return places() * columns() + 1; }

    /// Calls add(column of a place, steps) for each of a ball's terms, but does not count the ball.
    /// \return  its speed, or largest component, where places go by these: whoever chose the bins sees how far they
    ///          must reach
    template <class Real, class Add>
    CAROM_HD double look(const SampledBalls<Real>& balls, std::uint64_t id, const Add& add) const {
        switch (by) {
            case By::kNothing:
                add_terms(balls, id, 0, add);
                break;
            case By::kRegion:
                for (int k = 0; k < dimension; ++k) {
                    const double at = balls.position[k][id];
                    if (!(at >= region_low[k] && at <= region_high[k])) return 0.0;
                }
                add_terms(balls, id, 0, add);
                break;
            case By::kSlice: {
                const std::uint32_t slice = bins[0].find(balls.position[axis[0]][id]);
                if (slice < bins[0].count) add_terms(balls, id, slice, add);
                break;
            }
            case By::kCell: {
                const std::uint32_t column = bins[0].find(balls.position[axis[0]][id]);
                const std::uint32_t row = bins[1].find(balls.position[axis[1]][id]);
                if (column < bins[0].count && row < bins[1].count) {
                    add_terms(balls, id, row * bins[0].count + column, add);
                }
                break;
            }
            case By::kSpeed: {
                const double speed = square_root(balls.speed_squared(id, dimension));
                const std::uint32_t bin = bins[0].find(speed);
                if (bin < bins[0].count) add_terms(balls, id, bin, add);
                return speed;
            }
            case By::kComponents: {
                double largest = 0.0;
                for (int k = 0; k < dimension; ++k) {
                    const auto v = static_cast<double>(balls.velocity[k][id]);
                    const std::uint32_t bin = bins[0].find(v);
                    if (bin < bins[0].count) add_terms(balls, id, k * bins[0].count + bin, add);
                    largest = larger(v < 0.0 ? -v : v, largest);
                }
                return largest;
            }
        }
        return 0.0;
    }

    /// Chooses the grids: as fine as a double's own digits, or as fine as the sum of all balls allows.
    /// \param balls         summed over, at most
    /// \param heaviest      their largest mass
    /// \param energy        their largest m v^2, which of balls of very different mass is not that of the heaviest
    void choose_grids(std::uint64_t balls, double heaviest, double energy) {
        const double momentum = std::sqrt(heaviest * energy);
        int column = 0;
        const auto set = [&](double bound) { to_grid[column++] = grid(balls, bound); };
        switch (terms) {
            case Terms::kCount:
                break;
            case Terms::kFlow:
                for (int k = 0; k < dimension; ++k) set(momentum);
                set(heaviest);
                break;
            case Terms::kThermal:
                set(energy);
                for (int k = 0; k < dimension; ++k) set(momentum);
                set(heaviest);
                break;
            case Terms::kMoments:  // of each axis a term
                balls *= dimension;
                set(energy);
                set(energy * energy);
                break;
            case Terms::kStress:
                for (int k = 0; k < 6; ++k) set(energy);
                for (int k = 0; k < 3; ++k) set(momentum);
                set(heaviest);
                break;
        }
        measured = static_cast<std::uint32_t>(column);
    }
    /// The column of masses; -1 if there is none.
    [[nodiscard]] int mass_column() const {
        return terms == Terms::kFlow || terms == Terms::kThermal || terms == Terms::kStress
                   ? static_cast<int>(measured) - 1
                   : -1;
    }
    /// From now on the rest of each term, beside which the first sums are exact to some 2^-90.
    void sum_the_rest(std::uint64_t balls) {
        const int sum_bits = bits_of(terms == Terms::kMoments ? dimension * balls : balls);
        const int bits = kTermBits < kSumBits - sum_bits ? kTermBits : kSumBits - sum_bits;
        finer = std::ldexp(1.0, bits);
    }

private:
    static int bits_of(std::uint64_t balls) {
        int bits = 0;
        while (bits < 63 && (std::uint64_t{1} << bits) < balls) ++bits;
        return bits;
    }
    static double grid(std::uint64_t balls, double bound) {
        if (!(bound > 0.0) || !std::isfinite(bound)) return 1.0;
        const int sum_bits = bits_of(balls);
        const int bits = kTermBits < kSumBits - sum_bits ? kTermBits : kSumBits - sum_bits;
        constexpr int kLargest = 1000;  // a double's exponent
        const int exponent = bits - 1 - std::ilogb(bound);
        return std::ldexp(1.0, exponent < kLargest ? exponent : kLargest);
    }

    template <class Real, class Add>
    CAROM_HD void add_terms(const SampledBalls<Real>& balls, std::uint64_t id, std::uint32_t place,
                            const Add& add) const {
        std::uint32_t first = 0;
        const auto put = [&](std::uint32_t column, double term) {
            const double exact = term * to_grid[static_cast<int>(column)];
            const std::int64_t steps = nearest_integer51(exact);
            add(first + column, finer > 0.0 ? nearest_integer51((exact - static_cast<double>(steps)) * finer) : steps);
        };
        const auto v = [&](int k) { return static_cast<double>(balls.velocity[k][id]); };
        const std::uint32_t d = dimension == 2 ? 2 : 3;
        switch (terms) {
            case Terms::kCount:
                add(place, std::int64_t{1});
                break;
            case Terms::kFlow: {
                first = place * (d + 1);
                const double mass = balls.mass_of(id);
                for (std::uint32_t k = 0; k < d; ++k) put(k, mass * v(static_cast<int>(k)));
                put(d, mass);
                break;
            }
            case Terms::kThermal: {
                first = place * (d + 3);
                const double mass = balls.mass_of(id);
                put(0, balls.energy(id, dimension));
                for (std::uint32_t k = 0; k < d; ++k) put(1 + k, mass * v(static_cast<int>(k)));
                put(d + 1, mass);
                add(first + d + 2, std::int64_t{1});
                break;
            }
            case Terms::kMoments: {
                first = place * 3;
                const double mass = balls.mass_of(id);
                for (int k = 0; k < static_cast<int>(d); ++k) {
                    const double w = mass * v(k) * v(k);
                    put(0, w);
                    put(1, w * w);
                }
                add(first + 2, std::int64_t{dimension});
                break;
            }
            case Terms::kStress: {
                first = place * kMostColumns;
                const double mass = balls.mass_of(id);
                const auto axes = static_cast<int>(d);
                for (int k = 0; k < axes; ++k) {
                    put(static_cast<std::uint32_t>(k), mass * v(k) * v(k));
                    put(static_cast<std::uint32_t>(6 + k), mass * v(k));
                    for (int other = k + 1; other < axes; ++other) {
                        put(static_cast<std::uint32_t>(k + other + 2), mass * v(k) * v(other));
                    }
                }
                put(9, mass);
                add(first + 10, std::int64_t{1});
                break;
            }
        }
    }
};

/// What a processor does whose memory the balls are in: adds the terms of those that are chosen, and their number, to a
/// table.
/// \return  the largest of what BallSums::look returns
template <class Real>
double add_balls(const BallSums& what, const SampledBalls<Real>& balls, const std::uint8_t* chosen,
                 std::int64_t* sums) {
    const auto add = [sums](std::uint32_t place, std::int64_t steps) { sums[place] += steps; };
    double largest = 0.0;
    std::int64_t looked_at = 0;
    for (std::uint64_t id = 0; id < balls.count; ++id) {
        if (!balls.has(id, chosen)) continue;
        largest = larger(what.look(balls, id, add), largest);
        ++looked_at;
    }
    sums[what.width() - 1] += looked_at;
    return largest;
}

/// The largest m v^2 among the balls that are in, and chosen.
template <class Real>
double largest_energy(const SampledBalls<Real>& balls, const std::uint8_t* chosen, int dimension) {
    double largest = 0.0;
    for (std::uint64_t id = 0; id < balls.count; ++id) {
        if (balls.has(id, chosen)) largest = larger(balls.energy(id, dimension), largest);
    }
    return largest;
}

}  // namespace carom
