// Gases of both solvers against stats.json. Springs are hard balls of the soft diameter. Seeds are fixed; each test
// says how often it would fail by chance.

#include "tests/support/gas_reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "host/run/observe.hpp"
#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "tests/support/driven_run.hpp"

namespace carom::gas_reference_test {

using namespace test;
using nlohmann::json;

constexpr double kStiffness = 1e4;
constexpr double kStep = 7.4e-4;  // a thirtieth of a contact

std::string vector(int dimension, double x, double last) {
    return dimension == 2 ? fmt::format("[{:.17g}, {:.17g}]", x, last)
                          : fmt::format("[{:.17g}, {:.17g}, {:.17g}]", x, x, last);
}

/// Balls of diameter and mass 1 at temperature 1.
std::string scene(const std::string& solver, int dimension, const std::string& box, int count,
                  const std::string& more) {
    return fmt::format(
        "[scene]\ndimension = {}\nseed = 11\n[spring]\nstiffness = {}\ndt = {}\n[run]\nsolver = \"{}\"\n"
        "backend = \"cpu\"\nuntil = 1e6\n[box]\n{}\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = {}\n"
        "temperature = 1.0\n{}",
        dimension, kStiffness, kStep, solver, box, count, more);
}

/// The averages of a run, after some time without samples.
class AveragedRun {
public:
    AveragedRun(const std::string& text, double until) : run_(text), averages_(run_.scene(), {}) {
        averages_.start(run_.solver());
        while (averages_.next() <= until) {
            run_.to(averages_.next());
            averages_.take(run_.solver());
        }
    }
    AverageTable table(std::size_t k) { return averages_.tables()[k]; }

private:
    DrivenRun run_;
    RunAverages averages_;
};

using Case = std::pair<int, double>;  // dimension, packing fraction

class SpringFluid : public testing::TestWithParam<Case> {};

/// At 4 standard errors, and what is left of second order in the softness: ten tests fail once in 1,600.
TEST_P(SpringFluid, PressesAsHardBallsOfTheSoftDiameter) {
    const auto [d, phi] = GetParam();
    const int count = d == 2 ? 256 : 216;
    const double diameter = 1.0 - SoftContact({}, kStiffness).soft_diameter_loss(1.0);
    const double volume = count * (d == 2 ? M_PI / 4.0 : M_PI / 6.0) * std::pow(diameter, d) / phi;
    const double edge = std::pow(volume, 1.0 / d);
    const std::string box =
        fmt::format("size = {}\nboundary = [{}]", vector(d, edge, edge),
                    d == 2 ? "\"periodic\", \"periodic\"" : "\"periodic\", \"periodic\", \"periodic\"");
    // A sample falls into each contact.
    AveragedRun run(scene("spring", d, box, count,
                          "[[observe]]\nname = \"z\"\nkind = \"compressibility\"\nevery = 0.0111\nfrom = 20.0\n"
                          "[[observe]]\nname = \"t\"\nkind = \"temperature\"\nevery = 0.111\nfrom = 20.0\n"),
                    d == 2 ? 420.0 : 320.0);
    const AverageTable z = run.table(0);
    // T of the d (N - 1) degrees of freedom; contacts hold some of the energy that all began with.
    const double degrees = (count - 1.0) / count;
    const double temperature = run.table(1).values[0] / degrees;
    const double loss = SoftContact({}, kStiffness).soft_diameter_loss(temperature);
    const double truly = phi * std::pow((1.0 - loss) / diameter, d);
    const double expected =
        compressibility_of(fluid(d, phi), count) + hard_compressibility(d, truly) - hard_compressibility(d, phi);
    constexpr double kSecondOrder = 10.0;
    EXPECT_NEAR((z.values[0] - 1.0) * degrees, expected - 1.0,
                4.0 * z.errors[0] + (0.0012 + kSecondOrder * loss * loss) * (expected - 1.0));
    EXPECT_LT(z.errors[0], 0.01 * (expected - 1.0));
    EXPECT_GT(loss * d, 0.02);  // without the correction one sees it
}

INSTANTIATE_TEST_SUITE_P(Disks, SpringFluid,
                         testing::Values(Case{2, 0.1}, Case{2, 0.2}, Case{2, 0.35}, Case{2, 0.5}, Case{2, 0.6}));
INSTANTIATE_TEST_SUITE_P(Spheres, SpringFluid,
                         testing::Values(Case{3, 0.05}, Case{3, 0.1}, Case{3, 0.2}, Case{3, 0.3}, Case{3, 0.4}));

class FewBalls : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Solvers, FewBalls, testing::Values("events", "spring"));

/// The energy fixed: m v_x^2 / (2 E) is Beta distributed, so the kurtosis of a component is 3 D / (D + 2), and the mean
/// speed is not Maxwell's. At 4 standard errors from 40 stretches, two numbers of up to 12 gases: once in 250.
TEST_P(FewBalls, HaveTheVelocitiesOfAFixedEnergy) {
    const std::string solver = GetParam();
    for (const json& row : stats()["finite_N"]) {
        const int d = row["d"];
        const int count = row["N"];
        if (count > (solver == "events" ? 30 : 10)) continue;  // ever nearer to Maxwell's
        const bool walls = row["kind"].get<std::string>().starts_with("walls");
        const double edge = std::pow(count * (d == 2 ? M_PI / 4.0 : M_PI / 6.0) / 0.2, 1.0 / d) + (walls ? 1.0 : 0.0);
        const std::string face = walls ? "\"wall\"" : "\"periodic\"";
        std::string faces = face;
        for (int axis = 1; axis < d; ++axis) faces += ", " + face;
        DrivenRun run(
            scene(solver, d, fmt::format("size = {}\nboundary = [{}]", vector(d, edge, edge), faces), count, ""));
        const int stretches = 40;
        const int samples = solver == "events" ? 250 : 50;  // of each, about a collision per ball apart
        double moments[2][2] = {};                          // kurtosis and mean speed: sum and sum of squares
        double time = 20.0;
        for (int stretch = 0; stretch < stretches; ++stretch) {
            double fourth = 0.0, second = 0.0, speeds = 0.0;
            for (int sample = 0; sample < samples; ++sample) {
                run.to(time += 1.0);
                const Frame& frame = run.frame();
                for (int id = 0; id < count; ++id) {
                    double squared = 0.0;
                    for (int axis = 0; axis < d; ++axis) {
                        const double v = frame.velocity[axis][id];
                        squared += v * v;
                        fourth += v * v * v * v;
                    }
                    second += squared;
                    speeds += std::sqrt(squared);
                }
            }
            const double of_components = 1.0 / (samples * count * d);
            const double mean_square = second * of_components;
            const double found[2] = {
                fourth * of_components / (mean_square * mean_square),
                // kT = 2 E / D
                speeds / (samples * count) / std::sqrt(second / samples / row["dof"].get<double>())};
            for (int k = 0; k < 2; ++k) {
                moments[k][0] += found[k] / stretches;
                moments[k][1] += found[k] * found[k] / stretches;
            }
        }
        const char* names[2] = {"kurtosis_vx", "mean_speed_over_sqrt_kT_m"};
        for (int k = 0; k < 2; ++k) {
            const double mean = moments[k][0];
            const double error = std::sqrt((moments[k][1] - mean * mean) / (stretches - 1));
            EXPECT_NEAR(mean, row[names[k]].get<double>(), 4.0 * error) << names[k] << " of " << row;
            EXPECT_LT(error, 0.02 * mean) << names[k] << " of " << row;
        }
    }
}

class Columns : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Solvers, Columns, testing::Values("events", "spring"));

/// The atmospheres of stats.json, in diameters and temperatures: within 3 % of local density at the heights that it
/// gives, from 2 diameters on to where a twentieth of the bottom's density is left, beside 4 standard errors; some 20
/// heights: once in 800.
TEST_P(Columns, HaveTheProfileOfLocalDensity) {
    const std::string solver = GetParam();
    for (const json& column : stats()["column_cases"]) {
        const int d = column["d"];
        const double sigma = column["sigma"];
        const double ell = column["out"]["ell"].get<double>() / sigma;
        if (solver == "spring" && column["id"] != "atm2d-dense") continue;  // the others are thin, and slow
        const double width = column["W"].get<double>() / sigma;
        const double height = 10.0 * ell;
        const std::string boundary =
            d == 2 ? "[\"periodic\", [\"wall\", \"open\"]]" : "[\"periodic\", \"periodic\", [\"wall\", \"open\"]]";
        const int bins = 400;
        AveragedRun run(
            scene(solver, d, fmt::format("size = {}\nboundary = {}", vector(d, width, height), boundary), column["N"],
                  fmt::format("arrangement = \"atmosphere\"\n[physics]\ngravity = {}\n"
                              "[[observe]]\nname = \"n\"\nkind = \"density\"\naxis = \"{}\"\nbins = {}\nevery = 2.0\n"
                              "from = {}\n[[observe]]\nname = \"t\"\nkind = \"temperature\"\nevery = 2.0\nfrom = {}\n",
                              vector(d, 0.0, -1.0 / ell), d == 2 ? "y" : "z", bins, ell, ell)),
            (solver == "spring" ? 8.0 : 20.0) * ell);
        const AverageTable n = run.table(0);
        const double temperature = run.table(1).values[0];
        EXPECT_NEAR(temperature, 1.0, 0.02);  // it starts as it ends
        const double ball = d == 2 ? M_PI / 4.0 : M_PI / 6.0;
        int looked_at = 0;
        for (std::size_t k = 0; k < column["out"]["z"].size(); ++k) {
            const double z = column["out"]["z"][k].get<double>() / sigma;
            const double phi = column["out"]["phi"][k];
            if (z < 2.0 || phi < 0.05 * column["out"]["phi_bottom"].get<double>()) continue;
            // A slice's mean, half a slice to either side; z counts from the lowest place of a centre.
            const auto bin = static_cast<std::size_t>((z + 0.5) / height * bins);
            const double load = column["out"]["load"];
            const double bottom = bottom_packing(d, load / temperature);
            const double expected = phi * local_packing(d, bottom, (n.x[bin] - 0.5) / ell / temperature) /
                                    local_packing(d, bottom_packing(d, load), z / ell);
            EXPECT_NEAR(n.values[bin] * ball, expected, 0.03 * expected + 4.0 * n.errors[bin] * ball)
                << column["id"] << ", height " << z;
            EXPECT_LT(n.errors[bin] * ball, 0.08 * expected) << column["id"] << ", height " << z;
            ++looked_at;
        }
        EXPECT_GE(looked_at, 5) << column["id"];
    }
}

}  // namespace carom::gas_reference_test
