#include "tests/support/energy_noise.hpp"

#include <random>

namespace carom::test {

namespace {

constexpr int kRows = 32;
constexpr int kCount = 1000;
constexpr double kPackingFraction = 0.5;
constexpr double kPi = 3.14159265358979323846;
constexpr double kBigBox = 10'000.0;       // diameters
constexpr double kPhaseStep = kPi / 50.0;  // h = w0 dt of an isolated pair: "auto" dt

/// Edge of the square that the gas fills [diameters].
double edge() { return std::sqrt(kCount * 0.25 * kPi / kPackingFraction); }

SpringSetup::WallShape plane(int axis, double sign, double at) {
    SpringSetup::WallShape wall;
    wall.normal[static_cast<std::size_t>(axis)] = sign;
    wall.offset = sign * at;
    return wall;
}

}  // namespace

std::string name_of(EnergyNoiseCase::Where where) {
    switch (where) {
        case EnergyNoiseCase::Where::kSmallPeriodic:
            return "small, periodic";
        case EnergyNoiseCase::Where::kSmallWalls:
            return "small, walls";
        case EnergyNoiseCase::Where::kNear:
            return "10^4 diameters, near the origin";
        case EnergyNoiseCase::Where::kFar:
            return "10^4 diameters, far corner";
    }
    return {};
}

EnergyNoise measure_energy_noise(const EnergyNoiseCase& which) {
    using Where = EnergyNoiseCase::Where;
    const bool big = which.where == Where::kNear || which.where == Where::kFar;
    SpringSetup setup =
        lab_setup(2, big ? kBigBox : edge(), which.where == Where::kSmallPeriodic ? Side::kPeriodic : Side::kWall);
    setup.double_precision = !which.single;
    // The design of "auto": overlaps below 1 % of a radius at 5 thermal speeds (m = 1, T = 1, diameter 1).
    const double thermal = 1.0;
    setup.design_speed = 5.0 * thermal;
    setup.stiffness = setup.wall_stiffness = 0.5 * std::pow(setup.design_speed / (0.01 * 0.5), 2.0);
    const double omega = std::sqrt(2.0 * setup.stiffness);
    setup.dt = kPhaseStep / omega;
    double corner = 0.0;
    if (which.where == Where::kNear) setup.walls = {plane(0, -1.0, edge()), plane(1, -1.0, edge())};
    if (which.where == Where::kFar) {
        corner = kBigBox - edge();
        setup.walls = {plane(0, 1.0, corner), plane(1, 1.0, corner)};
    }

    std::mt19937_64 random(which.seed);
    std::normal_distribution<double> normal;
    std::vector<LabBall> balls(kCount);
    const double spacing = edge() / kRows;  // 1.24: a square lattice of 32 x 32, the last 24 places empty
    Triple mean{};
    for (int id = 0; id < kCount; ++id) {
        balls[id].x = {corner + (id % kRows + 0.5) * spacing, corner + (id / kRows + 0.5) * spacing, 0.0};
        for (int axis = 0; axis < 2; ++axis) mean[axis] += (balls[id].v[axis] = normal(random)) / kCount;
    }
    double kinetic = 0.0;
    for (auto& ball : balls) {
        for (int axis = 0; axis < 2; ++axis) {
            ball.v[axis] -= mean[axis];
            kinetic += 0.5 * ball.v[axis] * ball.v[axis];
        }
    }
    const double rescale = thermal / std::sqrt(kinetic / kCount);
    for (auto& ball : balls) {
        for (int axis = 0; axis < 2; ++axis) ball.v[axis] *= rescale;
    }

    // Kinetic theory: nu = (4 / sqrt pi) (Z - 1) sqrt(kT/m) / sigma a ball, Z(0.5) of Luding and Strauss.
    constexpr double phi = kPackingFraction;
    const double g =
        (1.0 - 7.0 * phi / 16.0) / ((1.0 - phi) * (1.0 - phi)) - phi * phi * phi / (128.0 * std::pow(1.0 - phi, 4));
    const double nu = 4.0 / std::sqrt(kPi) * 2.0 * phi * g;
    const double time = static_cast<double>(which.steps) * setup.dt;
    EnergyNoise noise;
    noise.collisions = 0.5 * kCount * nu * time;
    noise.sd = 0.15 * kPhaseStep * kPhaseStep * std::sqrt(noise.collisions) * 2.0 / (2.0 * kCount);

    SpringLab lab(setup, balls);
    const auto energy = [&] {
        const SpringTotals totals = lab.totals();
        return totals.kinetic + totals.spring;
    };
    const double start = energy();
    constexpr std::uint64_t kLooks = 200;
    const std::uint64_t between = std::max<std::uint64_t>(1, which.steps / kLooks);
    std::uint64_t looks = 0;
    for (std::uint64_t step = 0; step < which.steps; step += between, ++looks) {
        lab.advance(between);
        if (::testing::Test::HasFatalFailure()) return noise;
        noise.change = (energy() - start) / start;
        noise.rms += noise.change * noise.change;
        noise.largest = std::max(noise.largest, std::abs(noise.change));
    }
    noise.rms = std::sqrt(noise.rms / static_cast<double>(looks));
    return noise;
}

}  // namespace carom::test
