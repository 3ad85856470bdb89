#pragma once

#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

// Where a ball is. Each axis has a period P (a length), and a position is stored as an unsigned phase: the
// position modulo P, in units of P / 2^32 (single precision) or P / 2^64, of which the low 12 bits stay zero
// (double precision: 52 bits). So a difference of two positions is an exact integer, a periodic wrap costs nothing,
// and accuracy does not depend on where in the box one is.
//
// The host, frames and checkpoints hold positions as doubles in the user's coordinates, and such a double must lead
// back to the same integer. In double precision there may be no room for that: origin + integer * quantum is itself
// rounded, by more than a quantum far from zero. So there positions are kept to multiples of 2^grain quanta.
//
// On a periodic axis of length L, P = L / m with a whole m; on others P is a power of two and the box is padded.
// Two balls are only ever compared when they are known to be closer than P / 2. Which period a ball is in
// follows from an anchor nearby, its cell at the last sort: its `wide` position counts quanta from the frame's
// origin without wrapping at P.

namespace carom {

template <class Real>
struct Phase;

template <>
struct Phase<float> {
    using Stored = std::uint32_t;
    using Difference = std::int32_t;
    static constexpr int kBits = 32;  // that hold the position
    static constexpr int kShift = 0;  // low bits that stay zero
};

template <>
struct Phase<double> {
    using Stored = std::uint64_t;
    using Difference = std::int64_t;
    static constexpr int kBits = 52;
    static constexpr int kShift = 12;
};

template <class Real, int Dim>
struct Coordinates {
    using Stored = typename Phase<Real>::Stored;
    using Difference = typename Phase<Real>::Difference;
    static constexpr int kShift = Phase<Real>::kShift;

    Vec<Real, Dim> unit;            ///< P / 2^(bits of Stored): length of one unit of a stored difference
    Vec<double, Dim> quantum;       ///< P / 2^kBits: what wide positions count [length]
    Vec<std::int32_t, Dim> grain;   ///< positions are multiples of 2^grain quanta; 0 in single precision
    Vec<double, Dim> resolution;    ///< 2^grain quanta: the smallest step of a position [length]
    Vec<double, Dim> origin;        ///< user coordinate of wide position 0 [length]
    Vec<std::int64_t, Dim> extent;  ///< quanta around a periodic axis; 0 where the axis is not periodic

    /// From a to b [length]. Exact up to the rounding of one integer to Real and one product.
    CAROM_HD Vec<Real, Dim> displacement(const Vec<Stored, Dim>& a, const Vec<Stored, Dim>& b) const {
        Vec<Real, Dim> result;
        for (int axis = 0; axis < Dim; ++axis) {
            result[axis] = static_cast<Real>(static_cast<Difference>(b[axis] - a[axis])) * unit[axis];
        }
        return result;
    }

    CAROM_HD static Stored narrow(std::int64_t wide) {
        return static_cast<Stored>(static_cast<std::uint64_t>(wide) << kShift);
    }

    /// The wide position of a phase that is less than half a period from `anchor`.
    CAROM_HD static std::int64_t widen(Stored phase, std::int64_t anchor) {
        return anchor + (static_cast<std::int64_t>(static_cast<Difference>(phase - narrow(anchor))) >> kShift);
    }

    /// Brings a wide position on a periodic axis into [0, extent) and returns how many faces it had crossed.
    CAROM_HD std::int32_t wrap(int axis, std::int64_t& wide) const {
        if (extent[axis] == 0 || (wide >= 0 && wide < extent[axis])) return 0;  // a division takes long
        std::int64_t crossings = wide / extent[axis];
        if (wide - crossings * extent[axis] < 0) --crossings;
        wide -= crossings * extent[axis];
        return static_cast<std::int32_t>(crossings);
    }

    CAROM_HD double position(int axis, std::int64_t wide) const {
        return origin[axis] + static_cast<double>(wide) * quantum[axis];
    }

    /// The nearest wide position; inverse of position() to the bit where the resolution is at least 8 roundings of the
    /// double, or where both are powers of two and the double is exact.
    CAROM_HD std::int64_t from_position(int axis, double position_) const {
        return nearest_integer((position_ - origin[axis]) / resolution[axis]) * (std::int64_t{1} << grain[axis]);
    }

    /// Moves a phase by `steps` of the resolution, rounded to whole ones; |steps| <= 2^30 (single), 2^(50 - grain).
    CAROM_HD static Stored moved(Stored phase, Real steps, std::int32_t grain_) {
        if constexpr (kShift == 0) {
            return phase + static_cast<Stored>(nearest_integer32(steps));
        } else {
            return phase + (static_cast<Stored>(nearest_integer51(steps)) << (kShift + grain_));
        }
    }
};

}  // namespace carom
