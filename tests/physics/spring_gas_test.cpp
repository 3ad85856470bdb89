#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/spring_lab.hpp"

namespace carom::test::spring_gas_test {

struct BlockMean {
    double mean = 0.0;
    double error = 0.0;  ///< standard error, from blocks
};

BlockMean mean_of(const std::vector<double>& blocks) {
    BlockMean result;
    for (const double block : blocks) result.mean += block / static_cast<double>(blocks.size());
    for (const double block : blocks) result.error += (block - result.mean) * (block - result.mean);
    result.error = std::sqrt(result.error / static_cast<double>(blocks.size() * (blocks.size() - 1)));
    return result;
}

/// 100 disks at packing fraction 0.2 in a box with walls.
TEST(SmallGas, HasThePressureOnItsWallsThatItsVirialGives) {
    constexpr int kRows = 10;
    constexpr int kCount = kRows * kRows;
    const double size = std::sqrt(kCount * 0.25 * 3.14159265 / 0.2);
    SpringSetup setup = lab_setup(2, size, Side::kWall);
    // Soft, so that there is something in contact at most looks: the identity below holds for any potential.
    setup.stiffness = setup.wall_stiffness = 500.0;
    setup.dt = 0.1 / std::sqrt(1000.0);
    setup.design_speed = 6.0;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::vector<LabBall> balls(kCount);
    for (int id = 0; id < kCount; ++id) {
        balls[id].x = {(id % kRows + 0.5) * size / kRows, (id / kRows + 0.5) * size / kRows, 0.0};
        balls[id].v = {normal(random), normal(random), 0.0};
    }
    SpringLab lab(setup, balls);
    lab.advance(5'000);  // 16 time units, some 15 collisions a ball

    // The exact identity: 2K + sum r_ij . F_ij + sum r_wall . F_wall = 0 in the mean, and the wall's part
    // is -sum over faces of (distance of the face from the box's centre - radius + overlap ~ 0) times its force. Both
    // sides average over the same run, so what is left is the boundary term d/dt sum r . p of each block.
    constexpr int kBlocks = 40;
    constexpr int kLooks = 250;
    constexpr std::uint64_t kBetween = 8;
    std::vector<double> virial_pressure;
    std::vector<double> wall_pressure;
    std::vector<double> difference;
    const double area = size * size;
    for (int block = 0; block < kBlocks; ++block) {
        double sum = 0.0;
        const auto before = lab.tallies().wall_impulse;
        for (int look = 0; look < kLooks; ++look) {
            const Totals totals = lab.totals();
            sum += (2.0 * totals.kinetic + totals.virial) / (2.0 * area);
            lab.advance(kBetween);
        }
        const auto after = lab.tallies().wall_impulse;
        double force = 0.0;
        for (int face = 0; face < 4; ++face) force += (after[face] - before[face]) / (kLooks * kBetween * setup.dt);
        // 2 A P = sum over faces of F_face (size / 2 - radius): the centre of a ball stops a radius before the face
        wall_pressure.push_back(force * (0.5 * size - 0.5) / (2.0 * area));
        virial_pressure.push_back(sum / kLooks);
        difference.push_back(virial_pressure.back() - wall_pressure.back());
    }
    const BlockMean virial = mean_of(virial_pressure);
    const BlockMean wall = mean_of(wall_pressure);
    const BlockMean apart = mean_of(difference);
    EXPECT_LE(std::abs(apart.mean), 4.0 * apart.error) << virial.mean << " " << wall.mean;
    EXPECT_LE(apart.error, 0.02 * wall.mean) << "or the test says nothing";
    // And it is the gas's pressure: ideal K / A times Z; Z(0.2) = 1.578 of hard disks in bulk (Henderson), less for
    // soft ones (6 % smaller: Z(0.178) = 1.49), more between walls: wide bounds, against factors of 2.
    const double ideal = lab.totals().kinetic / area;
    EXPECT_NEAR(virial.mean / ideal, 1.55, 0.2);
}

}  // namespace carom::test::spring_gas_test
