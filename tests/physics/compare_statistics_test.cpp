#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/compare_scene.hpp"

// Statistics of a gas by `compare`: a fixed seed each; a check of a right gas fails by chance once in 16,000.

namespace carom::test {
namespace {

constexpr const char* kGas = R"(
[scene]
dimension = 2
seed = 5
[box]
size = [30.0, 30.0]
boundary = ["periodic", "periodic"]
[spring]
max_overlap = 0.05
[run]
until = 1.0
backend = "cpu"
[[fill]]
count = 400
radius = 0.5
mass = 1.0
speed = 1.4142135623730951
)";

Findings statistics(const std::string& text, const CompareContext& context,
                    const std::vector<std::string>& overrides = {}) {
    std::optional<GasStatistics> gas;
    return statistics_section(prepared(text, overrides), context, gas);
}

TEST(GasStatistics, OfARightGasAreGood) {
    const Findings periodic = statistics(kGas, right_springs());
    EXPECT_TRUE(periodic.good()) << words(periodic);
    for (const char* name : {"speeds", "equipartition", "energy", "pressure", "equation of state", "collision rate",
                             "kinetic theory", "displacement", "spring energy"}) {
        EXPECT_EQ(verdict(periodic, name), Verdict::kGood) << name << "\n" << words(periodic);
    }
}

TEST(GasStatistics, BetweenWallsHoldTheWallsAgainstTheVirial) {
    const Findings walls = statistics(kGas, right_springs(), {"box.boundary=[\"wall\",\"periodic\"]"});
    EXPECT_TRUE(walls.good()) << words(walls);
    EXPECT_EQ(verdict(walls, "wall pressure"), Verdict::kGood) << words(walls);
    EXPECT_EQ(verdict(walls, "equation of state"), Verdict::kNone);
}

TEST(GasStatistics, FindBallsOfTheWrongSize) {
    // Three percent: (Z - 1) off by some ten, its standard error is about one.
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState& state) {
        for (Species& species : scene.species) species.radius *= 0.97;
        for (Species& species : state.balls.species_table) species.radius *= 0.97;
    });
    const Findings findings = statistics(kGas, wrong);
    EXPECT_EQ(verdict(findings, "pressure"), Verdict::kBad) << words(findings);
    EXPECT_EQ(verdict(findings, "equation of state"), Verdict::kBad) << words(findings);
    EXPECT_EQ(verdict(findings, "collision rate"), Verdict::kBad) << words(findings);
}

TEST(GasStatistics, FindAGasThatCools) {
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState&) { scene.physics.restitution = 0.999; });
    const Findings findings = statistics(kGas, wrong);
    EXPECT_EQ(verdict(findings, "energy"), Verdict::kBad) << words(findings);
}

TEST(GasStatistics, FindSpeedsThatAreNotMaxwells) {
    // Every second ball is four times as heavy as it says, so it is half as fast as it should be.
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState& state) {
        Species heavy = scene.species.front();
        heavy.mass *= 4.0;
        scene.species.push_back(heavy);
        state.balls.species_table.push_back(heavy);
        for (std::size_t ball = 0; ball < state.balls.size(); ball += 2) {
            state.balls.species[ball] = static_cast<std::uint32_t>(state.balls.species_table.size() - 1);
        }
    });
    const Findings findings = statistics(kGas, wrong);
    EXPECT_EQ(verdict(findings, "speeds"), Verdict::kBad) << words(findings);
}

TEST(GasStatistics, AreNotClaimedForWhatIsNoGas) {
    const auto why = [](const std::vector<std::string>& overrides) {
        const PreparedScene run = prepared(kGas, overrides);
        return no_gas(run.scene, run.state.balls);
    };
    EXPECT_EQ(why({}), "");
    EXPECT_NE(why({"fill[0].count=100"}), "");
    EXPECT_NE(why({"physics.restitution=0.9"}), "");
    EXPECT_NE(why({"box.boundary=[\"wall\",\"wall\"]", "physics.gravity=[0.0,-1.0]"}), "");
    EXPECT_NE(why({"box.boundary=[\"open\",\"wall\"]"}), "");
}

TEST(Estimate, SeesWhatIsRememberedBeyondABlock) {
    std::vector<double> alternating;
    std::vector<double> slow;
    for (int k = 0; k < 20; ++k) {
        alternating.push_back(k % 2 == 0 ? 1.0 : -1.0);
        slow.push_back(k / 4 % 2 == 0 ? 1.0 : -1.0);
    }
    // Single blocks: sqrt(20 / (20 * 19)).
    EXPECT_NEAR(estimate(alternating).error, std::sqrt(1.0 / 19.0), 1e-12);
    EXPECT_NEAR(estimate(alternating).mean, 0.0, 1e-12);
    // Five blocks of four: +1, -1, +1, -1, +1 about a mean of 0.2.
    EXPECT_NEAR(estimate(slow).error, std::sqrt((3.0 * 0.64 + 2.0 * 1.44) / 20.0), 1e-12);
}

}  // namespace
}  // namespace carom::test
