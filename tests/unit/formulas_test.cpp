#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/drift.hpp"
#include "kernels/physics/first_root.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/linear_spring.hpp"
#include "kernels/physics/path_length.hpp"
#include "kernels/physics/restitution.hpp"
#include "kernels/physics/shared_flow.hpp"
#include "kernels/physics/viscosity.hpp"

// The first time at which a quartic falls below zero, and the contact times that rest on it.

namespace carom::formulas_test {

/// t - root times t - root ..., as coefficients.
std::vector<double> product(const std::vector<double>& roots, double leading) {
    std::vector<double> c{leading};
    for (double root : roots) {
        c.insert(c.begin(), 0.0);
        for (std::size_t k = 0; k + 1 < c.size(); ++k) c[k] -= root * c[k + 1];
    }
    c.resize(5, 0.0);
    return c;
}

TEST(FirstRoot, IsTheFirstFallBelowZeroAndNoOther) {
    EXPECT_NEAR(first_fall_below_zero(product({1, 2, 3, 4}, 1).data(), kNeverTouch), 1.0, 1e-13);
    EXPECT_NEAR(first_fall_below_zero(product({-1, 2, 3, 4}, -1).data(), kNeverTouch), 2.0, 1e-12);
    EXPECT_NEAR(first_fall_below_zero(product({-3, -2, -1, 0.5}, -1).data(), kNeverTouch), 0.5, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({-4, -3, -2, -1}, 1).data(), kNeverTouch), kNeverTouch);
    EXPECT_NEAR(first_fall_below_zero(product({7}, -1).data(), kNeverTouch), 7.0, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({}, 1).data(), kNeverTouch), kNeverTouch);
}

TEST(FirstRoot, LeavesATouchThatSeparatesAlone) {
    EXPECT_NEAR(first_fall_below_zero(product({0, 3}, -1).data(), kNeverTouch), 3.0, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({0, -3}, 1).data(), kNeverTouch), kNeverTouch);
    EXPECT_EQ(first_fall_below_zero(product({0, 3}, 1).data(), kNeverTouch), 0.0);
}

TEST(FirstRoot, AgreesWithSmallStepsOnRandomQuartics) {
    std::mt19937_64 generator(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int trial = 0; trial < 2000; ++trial) {
        double c[5] = {};
        for (double& value : c) value = uniform(generator);
        c[0] = std::abs(c[0]);
        const double found = first_fall_below_zero(c, kNeverTouch);
        const double step = 1e-3;
        double first = kNeverTouch;
        for (double t = 0.0; t < 12.0 && first == kNeverTouch; t += step) {
            if (first_root::value(c, 4, t + step) < 0.0) first = t;
        }
        if (first == kNeverTouch) {
            EXPECT_GT(found, 11.9) << "trial " << trial;
        } else if (found < first - step) {  // a fall shorter than a step
            EXPECT_LT(first_root::value(c, 4, found + 1e-5), 1e-12) << "trial " << trial;
        } else {
            EXPECT_NEAR(found, first, 2 * step) << "trial " << trial;
        }
    }
}

TEST(CollisionTime, OfACurvedPathPutsTheBallOnTheSphere) {
    std::mt19937_64 generator(11);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    int hits = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const bool inside = trial % 2 == 0;
        const double reach = inside ? 3.0 : 0.7;
        const Vec<double, 3> d = {{uniform(generator), uniform(generator), (inside ? 0.0 : 1.5) + uniform(generator)}};
        const Vec<double, 3> v = {{uniform(generator), uniform(generator), uniform(generator)}};
        const Vec<double, 3> a = {{0.0, 0.3, -1.0}};
        if (!inside && dot(d, d) < reach * reach) continue;
        const double t = curved_sphere_time(d, v, a, reach, inside, false);
        if (t == kNeverTouch) {
            EXPECT_FALSE(inside) << "what falls inside a sphere must reach it";
            continue;
        }
        ++hits;
        const Vec<double, 3> at = d + t * v + (0.5 * t * t) * a;
        EXPECT_NEAR(std::sqrt(dot(at, at)), reach, 1e-12) << "trial " << trial;
    }
    EXPECT_GT(hits, 250);
}

TEST(CollisionTime, OfTwoThatHaveJustMetIsNeverNowByRoundingAlone) {
    const Vec<double, 2> d = {{-0.5, 0.0}};
    const Vec<double, 2> closing = {{1e-17, 0.0}};
    const Vec<double, 2> none = {{0.0, 0.0}};
    for (const double bend : {-1.0, 1.0}) {  // apart, together
        const Vec<double, 2> a = {{bend, 0.0}};
        EXPECT_EQ(curved_sphere_time(d, closing, a, 0.5, false, false), 0.0);
        EXPECT_EQ(curved_sphere_time(d, closing, a, 0.5, false, true), bend < 0.0 ? kNeverTouch : 0.0);
        EXPECT_EQ((round_wall_time<true>(d, closing, a, 0.5, false, true)), bend < 0.0 ? kNeverTouch : 0.0);
    }
    EXPECT_EQ((round_wall_time<false>(d, closing, none, 0.5, false, false)), 0.0);
    EXPECT_EQ((round_wall_time<false>(d, closing, none, 0.5, false, true)), kNeverTouch);
    // From inside the sphere it comes back, across or along.
    EXPECT_NEAR((round_wall_time<false>(d, 1e17 * closing, none, 0.5, true, true)), 1.0, 1e-15);
    EXPECT_EQ((round_wall_time<false>(d, {{-1e-17, 1.0}}, none, 0.5, true, true)), 0.0);
}

TEST(CollisionTime, WithoutGravityIsTheLimitOfTheCurvedOne) {
    const Vec<double, 2> d = {{0.3, -0.2}};
    const Vec<double, 2> v = {{0.7, 0.4}};
    const Vec<double, 2> a = {{0.0, -1e-9}};
    EXPECT_NEAR(inside_sphere_time(d, v, 2.0), curved_sphere_time(d, v, a, 2.0, true, false), 1e-7);
    const Vec<double, 2> far = {{-3.0, 0.1}};
    const Vec<double, 2> fast = {{2.0, 0.0}};
    const double pair = pair_time<double, 2>(far, fast, 0.5, 0.0, kNeverTouch).time;
    EXPECT_NEAR(pair, curved_sphere_time(far, fast, a, 0.5, false, false), 1e-7);
}

TEST(CollisionTime, OfAPairIsThatOfTouchingAndThoseThatPassByNeverDo) {
    constexpr double kReach = 0.6;
    const Vec<double, 2> rate = {{2.0, 0.0}};
    for (const double aside : {0.0, 0.3, 0.599, 0.601, 5.0}) {
        const Vec<double, 2> apart = {{-3.0, aside}};
        const double time = pair_time<double, 2>(apart, rate, kReach, 0.0, kNeverTouch).time;
        if (aside < kReach) {
            const Vec<double, 2> then = apart + time * rate;
            EXPECT_NEAR(std::sqrt(dot(then, then)), kReach, 1e-13);
            EXPECT_LT(then[0], 0.0) << "they have gone through each other";
        } else {
            EXPECT_EQ(time, kNeverTouch) << "at " << aside;
        }
        EXPECT_EQ((pair_time<double, 2>(apart, -1.0 * rate, kReach, 0.0, kNeverTouch).time), kNeverTouch);
    }
}

TEST(CollisionTime, OfAPlaneIsTheFirstTimeAtHeightZero) {
    const double height = 0.7;
    for (const double acceleration : {-0.9, 0.0, 0.1}) {
        const double time = plane_time(height, -0.8, acceleration);
        EXPECT_NEAR(height - 0.8 * time + 0.5 * acceleration * time * time, 0.0, 1e-15) << acceleration;
        EXPECT_LE(acceleration * time, 0.8) << "the second time";
    }
    EXPECT_EQ(plane_time(height, 0.8, 0.0), kNeverTouch);
    EXPECT_EQ(plane_time(height, -0.8, 0.5), kNeverTouch) << "turns back before";
}

TEST(CollisionTime, FourAtOnceHaveTheBitsOfOne) {
    std::mt19937_64 generator(13);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    int meet = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        alignas(32) double d[3][4], v[3][4], time[4];
        for (auto& row : d) {
            for (double& x : row) x = uniform(generator);
        }
        for (auto& row : v) {
            for (double& x : row) x = uniform(generator);
        }
        const Vec<Lanes, 3> dd = {{Lanes::load(d[0]), Lanes::load(d[1]), Lanes::load(d[2])}};
        const Vec<Lanes, 3> vv = {{Lanes::load(v[0]), Lanes::load(v[1]), Lanes::load(v[2])}};
        pair_time<Lanes, 3>(dd, vv, Lanes::filled(0.6), Lanes::filled(0.0), Lanes::filled(kNeverTouch))
            .time.store(time);
        for (int k = 0; k < 4; ++k) {
            const Vec<double, 3> one = {{d[0][k], d[1][k], d[2][k]}};
            const Vec<double, 3> rate = {{v[0][k], v[1][k], v[2][k]}};
            const double alone = pair_time<double, 3>(one, rate, 0.6, 0.0, kNeverTouch).time;
            EXPECT_EQ(alone, time[k]);
            meet += alone < kNeverTouch ? 1 : 0;
        }
    }
    EXPECT_GT(meet, 100);
}

/// The same by many straight pieces, extrapolated to infinitely many.
template <int Dim>
double by_pieces(const Vec<double, Dim>& v, const Vec<double, Dim>& g, double dt, int pieces) {
    const auto sum = [&](int n) {
        const double piece = dt / n;
        double length = 0.0;
        for (int k = 0; k < n; ++k) {
            const Vec<double, Dim> mean = v + ((k + 0.5) * piece) * g;
            length += piece * std::sqrt(dot(mean, mean));
        }
        return length;
    };
    return (4.0 * sum(2 * pieces) - sum(pieces)) / 3.0;
}

TEST(PathLength, OfAStraightFlightIsSpeedTimesTime) {
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 2>{3.0, 4.0}, Vec<double, 2>{0.0, 0.0}, 2.0), 10.0);
    EXPECT_EQ(path_length(Vec<double, 2>{0.0, 0.0}, Vec<double, 2>{0.0, -9.81}, 0.0), 0.0);
}

TEST(PathLength, OfAFallAndOfAThrowStraightUp) {
    const Vec<double, 3> g{0.0, 0.0, -10.0};
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 0.0}, g, 3.0), 45.0);
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 2.0), 10.0) << "5 up and 5 down";
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 1.0), 5.0);
    EXPECT_DOUBLE_EQ(path_length(Vec<double, 3>{0.0, 0.0, 10.0}, g, 3.0), 25.0);
}

TEST(PathLength, OfAParabolaIsThatOfManyStraightPieces) {
    const Vec<double, 2> g{1.0, -3.0};
    for (const double across : {1e-3, 0.1, 1.0, 30.0, 1000.0}) {
        for (const double up : {-5.0, 0.0, 0.3, 4.0}) {
            for (const double dt : {1e-3, 0.1, 1.0, 2.5}) {
                const Vec<double, 2> v{across, up};
                const double expected = by_pieces(v, g, dt, 200000);
                EXPECT_NEAR(path_length(v, g, dt), expected, 1e-6 * expected) << across << " " << up << " " << dt;
            }
        }
    }
}

nlohmann::json golden() {
    std::ifstream file(CAROM_GOLDEN_DIR "/spring_binary.json");
    return nlohmann::json::parse(file);
}

TEST(KineticTheory, EnergiesOfOneBallHaveTheMomentsOfItsComponents) {
    // Gaussian components of variance 0.75 about the flow (0.3, 0.4), a quarter of the mass; and one between walls.
    const auto second = [](double variance, double u) {
        return 3.0 * variance * variance + 6.0 * variance * u * u + u * u * u * u;
    };
    const double evenly = (std::pow(0.3, 4) + std::pow(0.4, 4)) / (0.25 * 0.25);
    const EnergyMoments both = energy_moments(2, 2, 3.0, 1.0, 0.25, 0.25, evenly);
    EXPECT_DOUBLE_EQ(both.first, 0.5 * (0.75 + 0.09 + 0.75 + 0.16));
    EXPECT_DOUBLE_EQ(both.second, 0.5 * (second(0.75, 0.3) + second(0.75, 0.4)));
    const EnergyMoments one = energy_moments(2, 1, 3.0, 1.0, 0.25, 0.09, 1.0);
    EXPECT_DOUBLE_EQ(one.first, 0.5 * (0.75 + 0.09 + 1.0));
    EXPECT_DOUBLE_EQ(one.second, 0.5 * (second(0.75, 0.3) + 3.0));
}

TEST(Diffusion, WaysOfAllBallsAsOneScatterTogether) {
    // 5 ways of variance 3, each two of which have a covariance of 1.2: the variance of a sum of squares of Gaussian
    // numbers is twice the sum of the squares of all covariances.
    const double together = (5.0 * 3.0 + 20.0 * 1.2) / (5.0 * 3.0);
    EXPECT_DOUBLE_EQ(1.0 + variance_as_one(together, 5.0), (5.0 * 9.0 + 20.0 * 1.44) / (5.0 * 9.0));
    EXPECT_EQ(variance_as_one(1.0, 5.0), 0.0);
    EXPECT_EQ(variance_as_one(1.0, 1.0), 0.0) << "one ball alone";
}

TEST(SharedFlow, WaysHaveInCommonWhatOneWaveCarriesThem) {
    // The integral of exp(z |u - v|), u from 0 to 1 and v from `later` to `later` + 1, by the midpoint rule.
    const auto integral = [](std::complex<double> z, double later) {
        constexpr int kSteps = 300;
        std::complex<double> sum = 0.0;
        for (int i = 0; i < kSteps; ++i) {
            for (int j = 0; j < kSteps; ++j) sum += std::exp(z * std::abs(later + static_cast<double>(i - j) / kSteps));
        }
        return sum.real() / (kSteps * kSteps);
    };
    using namespace std::complex_literals;
    for (const std::complex<double> z : {-1e-6 + 0i, -0.015 + 0.01i, -0.3 + 0i, -4.0 + 0i, -0.2 + 3.0i, -2.0 + 11.0i}) {
        for (const double later : {0.0, 0.4, 1.0, 2.5}) {
            EXPECT_NEAR(ways_in_common(z, later), integral(z, later), 1e-4) << z << ' ' << later;
            EXPECT_NEAR(ways_in_common(z.real(), later), ways_in_common(std::complex(z.real()), later), 1e-12);
        }
        EXPECT_NEAR(ways_in_common(z, 1.0 - 1e-9), ways_in_common(z, 1.0), 1e-8) << z;
    }
}

/// The same sum over waves one by one, over pairs of starts one by one, in two boxes: a periodic one, and one of which
/// the first axis lies between walls, where of waves along the second there is sound alone.
TEST(SharedFlow, IsTheSumOverAllWavesOfTheBox) {
    constexpr double kFraction = 0.3;
    constexpr double kWay = 3.0;
    constexpr double kTime = 4.0;
    constexpr double kSpans = 5.0;
    const double n = kFraction / (kPi / 4.0);
    const double chi = contact_value(2, hard_compressibility(2, kFraction), kFraction);
    const double nu = enskog_viscosity(2, kFraction, 1.0, chi, 1.0, 1.0) / n;
    const double gamma = sound_attenuation(2, kFraction, 1.0, 1.0, 1.0);
    const double c = sound_speed(2, kFraction);
    const std::array<double, 3> size{9.0, 14.0, 0.0};
    for (const bool walls : {false, true}) {
        const double x_least = (walls ? 1.0 : 2.0) * kPi / size[0];
        const double y_least = 2.0 * kPi / size[1];
        double flows = 0.0;
        double alone = 0.0;
        constexpr int kStarts = 60;  // apart by a twelfth of a way
        for (int later = 0; later < kStarts; ++later) {
            const double apart = (later + 0.5) / kStarts * kSpans;
            const double weight = 1.0 - apart / kSpans;
            const double overlap = std::max(0.0, 1.0 - apart);
            alone += weight * overlap * overlap;
            for (int i = walls ? 0 : -9; i <= 20; ++i) {
                for (int j = -20; j <= 20; ++j) {
                    const double k2 = i * i * x_least * x_least + j * j * y_least * y_least;
                    if (k2 == 0.0 || k2 > 4.0 * kPi * kPi) continue;
                    const double x = k2 * kWay;
                    const double parted = 2.0 * (x - 1.0 + std::exp(-x)) / (x * x);
                    const double shear = walls && i == 0 ? 0.0 : ways_in_common(-nu * k2 * kTime, apart);
                    const double sound =
                        ways_in_common(std::complex(-gamma * k2 * kTime, c * std::sqrt(k2) * kTime), apart);
                    flows += weight * parted * (shear * shear + sound * sound);
                }
            }
        }
        const double expected = flows / alone * std::pow(kTime, 4) / (kWay * kWay) / (2.0 * n * size[0] * size[1]);
        const SharedFlow flow(2, kFraction, size, {walls, false, false});
        EXPECT_NEAR(flow.share(kWay, kTime, kSpans), expected, 0.02 * expected) << walls;
    }
}

TEST(SharedFlow, IsLittleInThinGasesAndMoreTheLongerTheBox) {
    const SharedFlow thin(3, 0.001, {50.0, 50.0, 50.0}, {});
    EXPECT_LT(thin.share(100.0, thin.time_of(100.0), 10.0), 0.01);
    EXPECT_DOUBLE_EQ(thin.time_of(2.0), 2.0 * thin.time_of(1.0));
    const auto share = [](double length, double width) {
        const SharedFlow flow(2, 0.3, {length, width, 0.0}, {});
        return flow.share(10.0, flow.time_of(10.0), 4.0);
    };
    EXPECT_GT(share(40.0, 5.0), 1.5 * share(40.0, 40.0));
    // Of balls like points in a box: neither long to tell, nor anything.
    const SharedFlow points(3, 1e-6, {1e150, 1e140, 1e150}, {true, false, true});
    EXPECT_EQ(points.share(1.0, 1.0, 10.0), 0.0);
    const SharedFlow beyond(2, 1e-6, {1e160, 1e150, 0.0}, {});
    EXPECT_EQ(beyond.share(1.0, 1.0, 10.0), 0.0);
    EXPECT_EQ(thin.share(0.0, 1.0, 10.0), 0.0) << "at rest";
}

TEST(Diffusion, ADriftIsTheSpeedOfAllAsOne) {
    // 7 balls of mass 0.5 at a speed of 3.
    EXPECT_DOUBLE_EQ(drift_squared(0.5 * 7 * 0.5 * 9.0, 7 * 0.5), 9.0);
}

TEST(KineticTheory, TheTemperatureOfSomeIsThatOfOneOfTwoWhoseMomentumStays) {
    // Two disks fly apart with opposite momenta about a motion of both: each has its own energy for ever.
    constexpr double kMass = 1.0, kOther = 3.0, kSpeed = 3.0, kFlow = 0.5;
    const double other_speed = kMass * kSpeed / kOther;
    const double flow_energy = 0.5 * (kMass + kOther) * kFlow * kFlow;
    const double energy = 0.5 * kMass * kSpeed * kSpeed + 0.5 * kOther * other_speed * other_speed + flow_energy;
    const double share = kMass / (kMass + kOther);
    EXPECT_DOUBLE_EQ(temperature_of_some(2.0 * energy / (2 * 2), 2.0, 1.0, 2.0 * flow_energy / 2, share),
                     kMass * kSpeed * kSpeed / 2);
}

TEST(Drift, OffsetsOfAnyNumberOfStepsAddUpToNextToNothing) {
    // The discrepancy of the golden-ratio sequence: its sums grow as the logarithm of their length at most, by some 0.3
    // for each factor e. Offsets that are off by 1 % of a quantum would miss that after 10^3 steps.
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
        double sum = 0.0;
        for (std::uint64_t n = 0; n < 200'000; ++n) {
            const double offset = drift_offset(first + n);
            ASSERT_GE(offset, -0.5);
            ASSERT_LT(offset, 0.5);
            sum += offset;
            ASSERT_LT(std::abs(sum), 1.0 + 0.3 * std::log(static_cast<double>(n + 1))) << n;
        }
    }
}

TEST(Restitution, DampingRatioIsTheGoldenOne) {
    const auto table = golden()["damping_for_e"];
    ASSERT_FALSE(table.empty());
    for (const auto& row : table) {
        const double zeta = row["zeta_cut"];
        const double e = row["e"];
        // e is known to 1 ulp; where the curve is flat (e near 1: d(ln e) / d(zeta) = -pi) nothing is magnified by more
        // than 100
        EXPECT_NEAR(damping_ratio_of_restitution(e), zeta, 1e-14 + 1e-13 * zeta) << "e = " << e;
        EXPECT_NEAR(restitution_of_damping_ratio(zeta), e, 1e-14) << "zeta = " << zeta;
    }
}

TEST(Restitution, RestitutionAndDurationAreThoseOfTheGoldenContacts) {
    const auto rows = golden()["damped"];
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const double zeta = row["zeta"];
        const double e = row["out"]["e_cut"];
        const double duration = row["out"]["t_cut"];
        EXPECT_NEAR(restitution_of_damping_ratio(zeta), e, 1e-14) << zeta;
        EXPECT_NEAR(contact_duration(row["k"], row["m_eff"], zeta), duration, 1e-14 * duration) << zeta;
    }
}

TEST(Restitution, BranchesMeetSmoothly) {
    EXPECT_NEAR(restitution_of_damping_ratio(1.0), std::exp(-2.0), 1e-15);
    for (const double edge : {1.0 - 5.0e-4, 1.0, 1.0 + 5.0e-4}) {
        const double below = damped_half_phase(edge - 1e-7);
        const double above = damped_half_phase(edge + 1e-7);
        EXPECT_NEAR(below - above, 2e-7 / 3.0, 1e-10) << edge;  // slope -1/3 at 1
    }
    EXPECT_EQ(restitution_of_damping_ratio(0.0), 1.0);
}

TEST(Restitution, InverseHoldsOverAllRestitutions) {
    for (int thousandth = 10; thousandth <= 1000; ++thousandth) {
        const double e = 1e-3 * thousandth;
        EXPECT_NEAR(restitution_of_damping_ratio(damping_ratio_of_restitution(e)), e, 4e-16 + 2e-15 * e) << e;
    }
}

// The formulas against the motion itself: Runge-Kutta of 4th order until the force is zero.
TEST(Restitution, FormulasAreThoseOfTheMotion) {
    for (const double zeta : {0.05, 0.3, 0.9, 1.0, 1.7}) {
        double x = 0.0;
        double v = 1.0;
        double t = 0.0;
        const double dt = 1.0e-4;
        const auto acceleration = [zeta](double at, double rate) { return -at - 2.0 * zeta * rate; };
        double last_x = x;
        double last_v = v;
        while (x + 2.0 * zeta * v > 0.0 || t == 0.0) {
            last_x = x;
            last_v = v;
            const double a1 = acceleration(x, v);
            const double v2 = v + 0.5 * dt * a1;
            const double a2 = acceleration(x + 0.5 * dt * v, v2);
            const double v3 = v + 0.5 * dt * a2;
            const double a3 = acceleration(x + 0.5 * dt * v2, v3);
            const double v4 = v + dt * a3;
            const double a4 = acceleration(x + dt * v3, v4);
            x += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
            v += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
            t += dt;
        }
        const double force = x + 2.0 * zeta * v;
        const double last_force = last_x + 2.0 * zeta * last_v;
        const double back = force / (force - last_force);  // share of the last step beyond the end
        EXPECT_NEAR(-(v + back * (last_v - v)), restitution_of_damping_ratio(zeta), 1e-8) << zeta;
        EXPECT_NEAR(t - back * dt, contact_duration(1.0, 1.0, zeta), 1e-7) << zeta;
    }
}

/// Root mean square of what velocity Verlet makes of the energy of two balls that meet head-on, as a share of it; w0
/// = 1.
double error_of_meetings(double h) {
    constexpr int kMeetings = 1000;
    double squares = 0.0;
    for (int k = 0; k < kMeetings; ++k) {
        double x = -h * (k + 0.5) / kMeetings;
        double v = 1.0;
        do {
            v -= 0.5 * h * std::max(x, 0.0);
            x += h * v;
            v -= 0.5 * h * std::max(x, 0.0);
        } while (x > 0.0 || v > 0.0);
        squares += (v * v - 1.0) * (v * v - 1.0) / kMeetings;
    }
    return std::sqrt(squares);
}

TEST(EnergyWalk, IsWhatStepsMakeOfTheEnergiesOfContacts) {
    constexpr double pi = 3.14159265358979323846;
    SteppedGas gas{.dt = 1.0, .distance = 1.0, .time = 1e30, .contacts = 1.0, .balls = 1.0};
    for (const double steps : {10.3, 20.1, 50.5, 50.8}) {
        gas.phase = 2.0 * std::sin(0.5 * pi / steps);  // so many for half a period of the steps
        // Energies of approach, exponential about T, have a mean square of 2 T^2; the energy is d T / 2.
        EXPECT_NEAR(energy_walk(gas), std::sqrt(2.0) * error_of_meetings(gas.phase), 0.05 * energy_walk(gas)) << steps;
    }
    gas.phase = pi / 50.0;
    const double fits = energy_walk(gas);
    EXPECT_LT(fits, 0.05 * 0.15 * gas.phase * gas.phase);
    gas.alike = false;
    EXPECT_NEAR(energy_walk(gas), 0.149 * gas.phase * gas.phase, 1e-3 * energy_walk(gas));
    gas.alike = true;
    gas.thermal_speed = 1e6;  // who passes so fast leaves at any part of a step
    EXPECT_NEAR(energy_walk(gas), 0.149 * gas.phase * gas.phase, 1e-3 * energy_walk(gas));
    gas.thermal_speed = 0.0;
    gas.time = 1e-6;  // in a crowd
    EXPECT_NEAR(energy_walk(gas), 0.149 * gas.phase * gas.phase, 1e-3 * energy_walk(gas));
}

}  // namespace carom::formulas_test
