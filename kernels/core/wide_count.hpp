#pragma once

#include <cstdint>

#include "kernels/core/portability.hpp"

namespace carom {

/// An integer of 95 bits to count small steps in for ever: the sum of any number of 64-bit terms, in any order.
struct WideCount {
    std::int64_t high = 0;  ///< times 2^32
    std::int64_t low = 0;   ///< 0 to 2^32 - 1 between additions

    CAROM_HD void add(std::int64_t term) {
        constexpr std::int64_t kBase = std::int64_t{1} << 32;
        const std::int64_t upper = term >> 32;
        low += term - upper * kBase;
        const std::int64_t carry = low >> 32;
        low -= carry * kBase;
        high += upper + carry;
    }

    /// To double, rounded twice.
    [[nodiscard]] CAROM_HD double value() const {
        return static_cast<double>(high) * 4294967296.0 + static_cast<double>(low);
    }
};

}  // namespace carom
