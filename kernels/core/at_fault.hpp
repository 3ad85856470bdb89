#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

// Why a number does not fit: which of the quantities that it is a product of takes it out of range.

namespace carom {

/// A quantity that a scene gives, or that follows from it.
enum class Cause : std::uint8_t {
    kNone,
    kBallRadius,
    kBallMass,
    kBoxSize,
    kBoxMin,
    kTimeStep,
    kStiffness,
    kWallStiffness,
    kDamping,
    kMaxOverlap,
    kDesignSpeed,  ///< that of balls, of heat, of a fall or of walls
    kBallSpeed,
    kTemperature,
    kGravity,
    kWallSpeed,
};

/// A quantity, and the power of it that a product goes as.
struct Factor {
    Cause cause = Cause::kNone;
    double value = 0.0;
    double power = 1.0;
};

/// A quantity that does not fit, and what it is.
struct AtFault {
    Cause cause = Cause::kNone;
    double value = 0.0;
};

/// Of a product that is out of range, the factor that takes it farthest away from 1.
inline AtFault at_fault(std::initializer_list<Factor> factors) {
    double product = 0.0;  // powers of two
    for (const Factor& factor : factors) product += factor.power * std::log2(factor.value);
    AtFault worst;
    double farthest = -std::numeric_limits<double>::infinity();
    for (const Factor& factor : factors) {
        const double away = (product < 0.0 ? -factor.power : factor.power) * std::log2(factor.value);
        if (!(away > farthest)) continue;
        farthest = away;
        worst = {factor.cause, factor.value};
    }
    return worst;
}

}  // namespace carom
