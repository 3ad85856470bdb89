#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/core/transcendental.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/viscosity.hpp"

// What the ways of balls have in common because flows carry them: fluctuating hydrodynamics (Landau and Lifshitz, Fluid
// Mechanics, chapter XVII in the first edition) of hard balls of one size in a box. Host only: nothing here reaches a
// state.
//
// In equilibrium each wave of the flow, of wave vector k, has T / (m n V) of its velocity squared. Shear, d - 1 of each
// k, is forgotten as exp(-nu k^2 t), sound, one of each, as the real part of exp(z t), z = -Gamma k^2 + i c k. So the
// ways of two balls over a time t, the second of which begins s after the first, have in common along an axis
//
//   sum over k of T / (m n V) f(z; t, s) exp(i k r),    f the integral of exp(z |u - v|) over both ways,
//
// r the distance of the two. Each moves through the wave meanwhile, which leaves of the square of that the mean of
// exp(-k^2 W), W between two times on a way, the mean square of a ball's way along an axis. Of Gaussian ways the
// variance of the sum of the squares holds twice the sum of the squares of all that two have in common: with Parseval's
// theorem (T / m)^2 / (n V) sum f^2 / d beside W^2. Waves shorter than a diameter or a mean free path are left out.
//
// No number is fitted. Of seven gases that docs/physics.md lists, disks and spheres, packing fractions of 0.1 to 0.5,
// errors that know of it are within a quarter of the true ones.

namespace carom {

/// f of two ways of length 1, the second of which begins so much later: the integral of exp(z |u - v|) over both, its
/// real part. \param z  real or complex, of a real part of 0 or less
template <class Number>
double ways_in_common(Number z, double later) {
    // (exp(z x) - 1 - z x) / z^2, whose second derivative is exp(z x); its first terms where they would cancel.
    const auto twice = [z](double x) {
        const Number p = z * x;
        if (std::abs(p) < 0.02) return x * x * (0.5 + p * (1.0 / 6.0 + p * (1.0 / 24.0 + p / 120.0)));
        return (std::exp(p) - 1.0 - p) / (z * z);
    };
    if (later < 1.0) return std::real(twice(1.0 + later) + twice(1.0 - later) - 2.0 * twice(later));
    const Number once = 1.0 + z * twice(1.0);  // the integral of exp(z x) from 0 to 1
    return std::real(once * once * std::exp(z * (later - 1.0)));
}

/// What flows add to the variance of a mean of squares of ways.
class SharedFlow {
public:
    /// \param size    of the box, of length 0 along axes that it has not [diameters]
    /// \param walled  whether walls, which are smooth, bound it along each axis: waves of a half fit there too, and no
    ///                flow goes through
    SharedFlow(int dimension, double packing_fraction, const std::array<double, 3>& size,
               const std::array<bool, 3>& walled)
        : dimension_(dimension), number_density_(packing_fraction / shell_volume(dimension, 0.0, 0.5)) {
        const double z = hard_compressibility(dimension, packing_fraction);
        const double chi = contact_value(dimension, z, packing_fraction);
        diffusion_ = enskog_diffusion(dimension, number_density_, 1.0, chi, 1.0, 1.0);
        viscosity_ = enskog_viscosity(dimension, packing_fraction, 1.0, chi, 1.0, 1.0) / number_density_;
        sound_speed_ = sound_speed(dimension, packing_fraction);
        attenuation_ = sound_attenuation(dimension, packing_fraction, 1.0, 1.0, 1.0);
        // What is shorter than a diameter, or than balls fly freely, is no flow.
        gather(size, walled, 2.0 * kPi / std::max(1.0, mean_free_path(dimension, z, 1.0)));
    }

    /// How long such a way takes, by Enskog's theory [diameters sqrt(m / T)].
    [[nodiscard]] double time_of(double squared_way) const { return squared_way / (2.0 * diffusion_); }

    /// As a share of what independent balls have.
    /// \param squared_way  mean square displacement of a ball along an axis [diameters^2]
    /// \param time         that it takes [diameters sqrt(m / T)]
    /// \param spans        the time over which ways begin, which the mean is over, over how long they are
    [[nodiscard]] double share(double squared_way, double time, double spans) const {
        if (!(squared_way > 0.0)) return 0.0;
        double alone = 0.0;
        double flows = 0.0;
        const auto add = [&](double later, double weight) {
            const double overlap = later < 1.0 ? 1.0 - later : 0.0;
            alone += weight * overlap * overlap;
            for (const Waves& waves : waves_) {
                const double shear = ways_in_common(-viscosity_ * waves.k_squared * time, later);
                const double turns = sound_speed_ * std::sqrt(waves.k_squared) * time;
                const double sound =
                    turns < kManyTurns
                        ? ways_in_common(std::complex(-attenuation_ * waves.k_squared * time, turns), later)
                        : 0.0;
                const double together = near(waves.k_squared * squared_way);
                flows += weight * together * (waves.shear * shear * shear + waves.sound * sound * sound);
            }
        };
        // Pairs of starts by how much later one is, by Gauss's rule: most that ways have in common ends with the first,
        // and what lasts longer is smooth.
        const double first = std::min(1.0, spans);
        for (const auto& [at, weight] : kGauss) {
            const double later = first * at;
            add(later, (1.0 - later / spans) * first * weight);
        }
        for (const auto& [at, weight] : kGauss) {
            if (spans <= 1.0) break;
            const double later = std::pow(spans, at);
            add(later, (1.0 - later / spans) * later * std::log(spans) * weight);
        }
        const double moved = time * time / squared_way;  // (T / m) t^2 over W
        return alone > 0.0 ? moved * moved * flows / (number_density_ * volume_ * dimension_ * alone) : 0.0;
    }

private:
    /// Points and weights between 0 and 1.
    static constexpr std::array<std::array<double, 2>, 5> kGauss{{{0.046910077030668, 0.118463442528095},
                                                                  {0.230765344947158, 0.239314335249683},
                                                                  {0.5, 0.284444444444444},
                                                                  {0.769234655052842, 0.239314335249683},
                                                                  {0.953089922969332, 0.118463442528095}}};
    static constexpr double kManyTurns = 20.0;  // of sound [radians]: nothing is left of its way
    /// Waves of about one length.
    struct Waves {
        double k_squared = 0.0;
        double shear = 0.0;  ///< how many
        double sound = 0.0;
    };
    /// Wave numbers of an axis that are about the same.
    struct Numbers {
        double k_squared = 0.0;
        double count = 0.0;
        bool flat = false;  ///< 0 between walls, through which no flow goes
    };

    /// What is left of a square of what the ways of two balls have in common, since each moves through the wave: the
    /// mean of exp(-k^2 W), W between two times on a way, over all pairs of these. \param x  k^2 W of the whole way
    [[nodiscard]] static double near(double x) {
        return x < 1e-3 ? 1.0 - x / 3.0 : 2.0 * (x - 1.0 + std::exp(-x)) / (x * x);
    }

    /// One by one the first few of an axis, then more and more as one.
    [[nodiscard]] static std::vector<Numbers> numbers_of(double size, bool walled, double largest) {
        constexpr double kOneByOne = 8.0;
        constexpr double kWider = 1.2;
        std::vector<Numbers> numbers;
        const double least = (walled ? kPi : 2.0 * kPi) / size;
        const double last = std::floor(largest / least);
        numbers.push_back({0.0, 1.0, walled});
        for (double from = 1.0; from <= last;) {
            const double to = std::min(last, from < kOneByOne ? from : std::floor(from * kWider));
            const double middle = 0.5 * (from + to) * least;
            numbers.push_back({middle * middle, (walled ? 1.0 : 2.0) * (to - from + 1.0), false});
            from = to + 1.0;
        }
        return numbers;
    }

    void gather(const std::array<double, 3>& size, const std::array<bool, 3>& walled, double largest) {
        constexpr double kMostShorter = 1e5;  // than the longest: in a box as wide as that they add nothing
        constexpr double kOneLength = 0.25;   // of ln(k^2): about the same
        const double longest = *std::max_element(size.begin(), size.end());
        const double least = kPi * kPi / (longest * longest);
        largest = std::min(largest, kMostShorter * kPi / longest);
        for (int axis = 0; axis < dimension_; ++axis) volume_ *= size[axis];
        if (!(least > 0.0)) return;  // beyond the range of numbers
        std::array<std::vector<Numbers>, 3> axes;
        for (int axis = 0; axis < 3; ++axis) {
            axes[axis] = axis < dimension_ ? numbers_of(size[axis], walled[axis], largest)
                                           : std::vector<Numbers>{{0.0, 1.0, false}};
        }
        std::vector<Waves> by_length;
        for (const Numbers& x : axes[0]) {
            for (const Numbers& y : axes[1]) {
                for (const Numbers& z : axes[2]) {
                    const double k_squared = x.k_squared + y.k_squared + z.k_squared;
                    if (k_squared == 0.0 || k_squared > largest * largest) continue;
                    const auto at = static_cast<std::size_t>(std::log(k_squared / least) / kOneLength);
                    if (at >= by_length.size()) by_length.resize(at + 1);
                    const double count = x.count * y.count * z.count;
                    by_length[at].k_squared += count * k_squared;
                    by_length[at].sound += count;
                    by_length[at].shear += count * (dimension_ - 1 - x.flat - y.flat - z.flat);
                }
            }
        }
        for (Waves& waves : by_length) {
            if (waves.sound == 0.0) continue;
            waves.k_squared /= waves.sound;
            waves_.push_back(waves);
        }
    }

    int dimension_;
    double number_density_;  // times a diameter to the d, as all of these: T and m are 1 besides
    double volume_ = 1.0;
    double diffusion_ = 0.0;
    double viscosity_ = 0.0;  // over the density of mass
    double sound_speed_ = 0.0;
    double attenuation_ = 0.0;
    std::vector<Waves> waves_;
};

}  // namespace carom
