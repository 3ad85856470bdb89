#pragma once

#include <bit>
#include <cstdint>

#include "kernels/core/arithmetic.hpp"

// Logarithm, exponential, sine, cosine and arc tangent of doubles from + - * / sqrt, fma and integer operations
// only, each correctly rounded, so that every processor and compiler gives the same bits (those of libm differ
// between machines). Used where such a function reaches the state: initial velocities, derived constants.
//
// Method and coefficients: FDLIBM 5.3 (Copyright 1993 Sun Microsystems, Inc.; freely granted for use, copying,
// modification and distribution with this notice): argument reduction, then minimax polynomials (Remez).
// Accuracy: within 1 ulp each, arc_cosine within 2 (the tests hold them to that against long double).

namespace carom {

constexpr double kPi = 3.14159265358979323846;

namespace transcendental {

constexpr double kLn2High = 6.93147180369123816490e-01;  // its low 21 bits are zero: products with |k| < 2^20 are exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInfinity = std::bit_cast<double>(0x7ff0000000000000ULL);
constexpr double kNaN = std::bit_cast<double>(0x7ff8000000000000ULL);

/// 2^exponent for -1022 <= exponent <= 1023.
CAROM_HD double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// sin(x + y) for |x| <= pi / 4, y the part of the argument below x's last bit.
CAROM_HD double sine_near_zero(double x, double y) {
    const double z = x * x;
    const double v = z * x;
    const double r =
        8.33333333332248946124e-03 +
        z * (-1.98412698298579493134e-04 +
             z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01);
}

/// cos(x + y), as sine_near_zero.
CAROM_HD double cosine_near_zero(double x, double y) {
    const double z = x * x;
    const double zz = z * z;
    const double r =
        z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
        zz * zz * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const double half = 0.5 * z;
    const double w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * r - x * y));
}

}  // namespace transcendental

/// Natural logarithm; -infinity at 0, NaN below.
CAROM_HD double natural_log(double x) {
    namespace t = transcendental;
    if (!(x > 0.0)) return x == 0.0 ? -t::kInfinity : t::kNaN;
    if (x == t::kInfinity) return x;
    int exponent = 0;
    if (x < 2.2250738585072014e-308) {  // subnormal
        x *= 18014398509481984.0;       // 2^54
        exponent = -54;
    }
    // x = 2^exponent * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2)
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    exponent += static_cast<int>(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
    if (bits >= 0x3ff6a09e667f3bcdULL) {
        bits -= 0x0010000000000000ULL;
        exponent += 1;
    }
    const double f = std::bit_cast<double>(bits) - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double w = z * z;
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double half_square = 0.5 * f * f;
    const double k = static_cast<double>(exponent);
    return k * t::kLn2High - ((half_square - (s * (half_square + (even + odd)) + k * t::kLn2Low)) - f);
}

/// e^x; 0 and infinity beyond the range of doubles (results below 2^-1022 are rounded twice).
CAROM_HD double exponential(double x) {
    namespace t = transcendental;
    if (x != x) return x;
    if (x > 709.782712893383973096) return t::kInfinity;
    if (x < -745.13321910194110842) return 0.0;
    const double k = static_cast<double>(nearest_integer(x * 1.44269504088896338700));
    const double high = x - k * t::kLn2High;
    const double low = k * t::kLn2Low;
    const double r = high - low;
    const double z = r * r;
    const double c = r - z * (1.66666666666666019037e-01 +
                              z * (-2.77777777770155933842e-03 +
                                   z * (6.61375632143793436117e-05 +
                                        z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));
    const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    const int exponent = static_cast<int>(k);
    if (exponent > 1023) return y * 2.0 * t::power_of_two(exponent - 1);
    if (exponent < -1022) return y * t::power_of_two(exponent + 1022) * t::power_of_two(-1022);
    return y * t::power_of_two(exponent);
}

struct SineCosine {
    double sine;
    double cosine;
};

/// Sine and cosine of 2 pi turns, for |turns| < 2^50; exact at multiples of a quarter turn.
CAROM_HD SineCosine sine_cosine_of_turns(double turns) {
    constexpr double kTwoPiHigh = 6.28318530717958623200;
    constexpr double kTwoPiLow = 2.44929359829470635446e-16;
    const std::int64_t quarter = nearest_integer(4.0 * turns);
    const double rest = turns - 0.25 * static_cast<double>(quarter);  // exact
    const double x = kTwoPiHigh * rest;
    const double y = fused(kTwoPiHigh, rest, -x) + kTwoPiLow * rest;
    const double s = transcendental::sine_near_zero(x, y);
    const double c = transcendental::cosine_near_zero(x, y);
    switch (static_cast<unsigned>(quarter) & 3U) {
        case 0:
            return {s, c};
        case 1:
            return {c, 0.0 - s};
        case 2:
            return {0.0 - s, 0.0 - c};
        default:
            return {0.0 - c, s};
    }
}

/// Arc tangent.
CAROM_HD double arc_tangent(double x) {
    const double magnitude = x < 0.0 ? -x : x;
    if (x != x) return x;
    if (magnitude > 1.0e17) return x < 0.0 ? -0.5 * kPi : 0.5 * kPi;
    double high = 0.0;  // arc tangent of the reference point that the argument is reduced to, in two parts
    double low = 0.0;
    double reduced = magnitude;
    if (magnitude >= 2.4375) {
        high = 1.57079632679489655800e+00;
        low = 6.12323399573676603587e-17;
        reduced = -1.0 / magnitude;
    } else if (magnitude >= 1.1875) {
        high = 9.82793723247329054082e-01;  // of 3/2
        low = 1.39033110312309984516e-17;
        reduced = (magnitude - 1.5) / (1.0 + 1.5 * magnitude);
    } else if (magnitude >= 0.6875) {
        high = 7.85398163397448278999e-01;  // of 1
        low = 3.06161699786838301793e-17;
        reduced = (magnitude - 1.0) / (magnitude + 1.0);
    } else if (magnitude >= 0.4375) {
        high = 4.63647609000806093515e-01;  // of 1/2
        low = 2.26987774529616870924e-17;
        reduced = (2.0 * magnitude - 1.0) / (2.0 + magnitude);
    }
    const double z = reduced * reduced;
    const double w = z * z;
    const double odd = z * (3.33333333333329318027e-01 +
                            w * (1.42857142725034663711e-01 +
                                 w * (9.09088713343650656196e-02 +
                                      w * (6.66107313738753120669e-02 +
                                           w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
    const double even =
        w *
        (-1.99999999998764832476e-01 +
         w * (-1.11111104054623557880e-01 +
              w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
    const double result = high - ((reduced * (odd + even) - low) - reduced);
    return x < 0.0 ? -result : result;
}

/// Arc cosine for -1 <= x <= 1.
CAROM_HD double arc_cosine(double x) {
    if (x <= -1.0) return kPi;
    return 2.0 * arc_tangent(square_root((1.0 - x) / (1.0 + x)));
}

/// Area hyperbolic cosine for x >= 1; loses digits below about 1 + 1e-8.
CAROM_HD double area_cosine(double x) { return natural_log(x + square_root((x - 1.0) * (x + 1.0))); }

}  // namespace carom
