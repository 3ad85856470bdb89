#pragma once

#include <cmath>
#include <string_view>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/key.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/restitution.hpp"

// The contact of elastic spheres, with damping whose restitution depends neither on the speed nor on the masses, that
// never pulls.
//
//   F = max(0, k_n delta^(3/2) + gamma_n d(delta)/dt),   gamma_n = alpha sqrt(k_n m_e) delta^(1/4),
//   alpha = sqrt(5) zeta
//
// Symbols and signs as in linear_spring.hpp; k_n [force/length^(3/2)], the same for all pairs (for spheres of Young's
// modulus E, Poisson's ratio nu and the effective radius R it is (2/3) E / (1 - nu^2) sqrt(R)). Energy stored:
// (2/5) k_n delta^(5/2).
//
// With y = (2 / sqrt(5)) delta^(5/4) instead of delta, speed and y obey the damped linear oscillator (Antypov & Elliott
// 2011):
//
//   v dv/dy + 2 zeta w0 v + w0^2 y = 0,   w0 = sqrt(k_n / m_e),
//
// and F = 0 where that oscillator's force is. So the restitution is that of restitution.hpp. Only time differs: a
// contact that begins at the speed v lasts
//
//   t = (4/5)^(3/5) (m_e^2 / (k_n^2 v))^(1/5) I(zeta),   I = integral over the contact of u^(-1/5) d(theta),
//
// u(theta) = exp(-zeta theta) sin(sqrt(1 - zeta^2) theta) / sqrt(1 - zeta^2), theta = w0 t of the oscillator; without
// damping I = B(2/5, 1/2) and t = 3.2181 (m_e^2 / (k_n^2 v))^(1/5).
//
// Source: Hertz 1881; Tsuji, Tanaka & Ishida 1992 (the damping); Antypov & Elliott, EPL 94 (2011) 50004 (its alpha,
// here with the cut at zero force). Valid while delta is far below the radii. Limits: zeta = 0 conserves energy; k_n to
// infinity is the hard contact, with errors of order k_n^(-2/5).

namespace carom {

inline constexpr Key kHertzSpringKeys[] = {
    {.name = "stiffness",
     .type = KeyType::kNumberOrAuto,
     .bounds = kPositive,
     .fallback = "\"auto\"",
     .help = "hertz: [force/length^1.5]"},
    {.name = "wall_stiffness", .bounds = kPositive, .fallback = "stiffness", .help = "hertz: [force/length^1.5]"},
};

template <class Real>
struct HertzSpring {
    static constexpr Kind kKind{
        "hertz", kHertzSpringKeys,
        "force goes as the overlap to the power 1.5, as of elastic spheres, with the damping that "
        "gives every contact its `restitution`"};
    static constexpr std::string_view kStiffnessUnit = "N/m^1.5";
    static constexpr std::string_view kForceOfStiffness = "stiffness times diameter^1.5";
    static constexpr double kSqrtFive = 2.2360679774997897;

    Real k_n;           ///< stiffness [force/length^(3/2)]
    Real alpha_sqrt_k;  ///< alpha sqrt(k_n)

    static HertzSpring make(const ContactTerms& terms) {
        return {static_cast<Real>(terms.stiffness),
                static_cast<Real>(kSqrtFive * terms.damping_ratio * std::sqrt(terms.stiffness))};
    }

    CAROM_HD Real force(Real overlap) const { return k_n * overlap * square_root(overlap); }

    CAROM_HD Real force(Real overlap, Real overlap_rate, Real reduced_mass) const {
        const Real root = square_root(overlap);
        const Real gamma_n = alpha_sqrt_k * square_root(reduced_mass) * square_root(root);
        return larger(fused(gamma_n, overlap_rate, k_n * overlap * root), Real(0));
    }

    /// With distance_epsilon as LinearSpring::energy:
    ///     U(s) = k_n ((2/5) s^(5/2) - epsilon (integral to s of s^(3/2) / (R - s))),  R = reach, the latter expanded.
    CAROM_HD double energy(Real overlap, Real reach, Real epsilon) const {
        const double s = static_cast<double>(overlap);
        const double power = s * square_root(s);
        double result = 0.4 * static_cast<double>(k_n) * s * power;
        if (epsilon > Real(0)) {
            const double ratio = s / static_cast<double>(reach);
            double series = 0.0;
            for (int term = 7; term >= 0; --term) series = (series + 1.0 / (static_cast<double>(term) + 2.5)) * ratio;
            result = result - static_cast<double>(k_n) * static_cast<double>(epsilon) * power * series;
        }
        return result;
    }

    static double power(const ContactTerms& /*terms*/) { return 1.5; }
    static double damping_ratio(const ContactTerms& /*terms*/, double restitution) {
        return damping_ratio_of_restitution(restitution);
    }
    static double stiffness_for(const ContactTerms& /*terms*/, double overlap, double speed, double m_e) {
        return 1.25 * m_e * speed * speed / (overlap * overlap * std::sqrt(overlap));
    }
    static double largest_overlap(const ContactTerms& terms, double speed, double m_e) {
        return raised(1.25 * m_e * speed * speed / terms.stiffness, 0.4);
    }
    static double duration(const ContactTerms& terms, double speed, double m_e) {
        constexpr double kFactor = 0.87468965915462245;  // (4/5)^(3/5)
        const double ratio = m_e / terms.stiffness;
        return kFactor * raised(ratio * ratio / speed, 0.2) * phase_integral(terms.damping_ratio);
    }
    static double slope(const ContactTerms& terms, double overlap, double overlap_rate, double m_e) {
        const double elastic = 1.5 * terms.stiffness * std::sqrt(overlap);
        if (overlap_rate == 0.0 || terms.damping_ratio == 0.0) return elastic;
        const double gamma_n = kSqrtFive * terms.damping_ratio * std::sqrt(terms.stiffness * m_e * std::sqrt(overlap));
        return elastic + 0.25 * gamma_n * std::abs(overlap_rate) / overlap;
    }
    static double strongest_force(const ContactTerms& terms, double overlap, double speed, double m_e) {
        const double gamma_n = kSqrtFive * terms.damping_ratio * std::sqrt(terms.stiffness * m_e * std::sqrt(overlap));
        return terms.stiffness * overlap * std::sqrt(overlap) + 10.0 * gamma_n * speed;
    }
    static double soft_diameter_loss(const ContactTerms& terms, double temperature) {
        constexpr double kGamma = 0.88726381750307529;  // of 7/5
        return kGamma * raised(2.5 * temperature / terms.stiffness, 0.4);
    }

private:
    static double raised(double x, double exponent) { return exponential(exponent * natural_log(x)); }

    /// sin(sqrt(-z)) / sqrt(-z), continued through z = 0 (1 there) as sinh(sqrt(z)) / sqrt(z).
    static double sine_ratio(double z) {
        constexpr double kSmall = 1e-2;  // the first term of the series left out is below 3e-16
        if (z < kSmall && z > -kSmall) return 1.0 + z / 6.0 * (1.0 + z / 20.0 * (1.0 + z / 42.0 * (1.0 + z / 72.0)));
        const double root = std::sqrt(std::abs(z));
        if (z > 0.0) return (exponential(root) - exponential(-root)) / (2.0 * root);
        return sine_cosine_of_turns(root / (2.0 * kPi)).sine / root;
    }

    /// I(zeta), to 1e-6: by the trapezoidal rule in s, theta = theta_end P(s), where P' goes as (s (1 - s))^4, so that
    /// u^(-1/5) is smooth at both ends.
    static double phase_integral(double zeta) {
        constexpr int kIntervals = 64;
        const double end = 2.0 * damped_half_phase(zeta);
        double sum = 0.0;
        for (int k = 1; k < kIntervals; ++k) {
            const double s = static_cast<double>(k) / kIntervals;
            const double rest = 1.0 - s;
            const double s5 = s * s * s * s * s;
            const double theta = end * s5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + s * 70.0))));
            const double u =
                theta * exponential(-zeta * theta) * sine_ratio((zeta - 1.0) * (zeta + 1.0) * theta * theta);
            const double weight = 630.0 * s * s * s * s * rest * rest * rest * rest;
            sum = sum + weight * raised(u, -0.2);
        }
        return end * sum / kIntervals;
    }
};

}  // namespace carom
