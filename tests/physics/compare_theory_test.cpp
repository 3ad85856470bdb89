#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "host/compare/force_audit.hpp"
#include "tests/support/compare_scene.hpp"

// The proof that springs go to the event-driven answer, and that it can fail: each fault below is put into the spring
// solver alone, behind the back of the comparison.

namespace carom::test::compare_theory_test {

using testing::HasSubstr;

constexpr const char* kTwoBalls = R"(
[scene]
dimension = 2
[box]
size = [10.0, 6.0]
[run]
until = 4.0
backend = "cpu"
[[ball]]
radius = 0.5
mass = 1.0
position = [2.0, 3.5]
velocity = [1.5, 0.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 3.0]
)";

constexpr const char* kGas = R"(
[scene]
dimension = 2
seed = 3
[box]
size = [24.0, 24.0]
boundary = ["periodic", "wall"]
[run]
until = 1.0
backend = "cpu"
[[fill]]
count = 250
radius = 0.5
mass = 1.0
temperature = 1.0
)";

/// As overrides of a scene.
std::vector<std::string> all_laws() {
    std::vector<std::string> laws;
    for (const Kind& law : ContactLaws::kKinds) laws.push_back("spring.law=\"" + std::string(law.name) + "\"");
    return laws;
}

Findings converged(const std::string& text, const CompareContext& context,
                   const std::vector<std::string>& overrides = {}) {
    Convergence result;
    return convergence_section(prepared(text, overrides), context, result);
}

TEST(Convergence, OfTwoBallsAndOfAGasIsShown) {
    for (const std::string& law : all_laws()) {
        for (const char* text : {kTwoBalls, kGas}) {
            const Findings findings = converged(text, right_springs(), {law});
            for (const char* name : {"time step", "forces", "window", "order", "limit"}) {
                EXPECT_EQ(verdict(findings, name), Verdict::kGood) << law << " " << name << "\n" << words(findings);
            }
        }
    }
}

TEST(Convergence, HoldsWithDampingGravityAndUnequalBalls) {
    for (const std::string& law : all_laws()) {
        const Findings damped = converged(kTwoBalls, right_springs(), {"physics.restitution=0.6", law});
        EXPECT_TRUE(damped.good()) << words(damped);
    }
    const Findings falling = converged(kTwoBalls, right_springs(), {"physics.gravity=[0.1,-0.3]"});
    EXPECT_TRUE(falling.good()) << words(falling);
}

/// A scene of few balls: x, y, v_x, v_y, radius and mass of each.
std::string few(const std::vector<std::array<double, 6>>& balls) {
    std::string text = "scene.dimension = 2\nbox.size = [8.0, 8.0]\nrun = { until = 10.0, backend = \"cpu\" }\n";
    for (const auto& [x, y, v_x, v_y, radius, mass] : balls) {
        text += fmt::format("[[ball]]\nposition = [{}, {}]\nvelocity = [{}, {}]\nradius = {}\nmass = {}\n", x, y, v_x,
                            v_y, radius, mass);
    }
    return text;
}

/// In a thin gas balls that hard ones miss are met at the end of long paths, which make anything of a step; soon after
/// the first collisions there are few of these.
TEST(Convergence, HoldsStepsAgainstTheFirstCollisions) {
    const std::string thin =
        "scene.dimension = 2\nbox = { size = [62.67, 62.67], boundary = \"periodic\" }\n"
        "run = { until = 20.0, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 100\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n";
    for (const auto& [stiffness, seed] : {std::pair("2000", "107"), std::pair("20000", "134")}) {
        const Findings findings = converged(
            thin, right_springs(), {std::string("spring.stiffness=") + stiffness, std::string("scene.seed=") + seed});
        EXPECT_EQ(verdict(findings, "time step"), Verdict::kGood) << words(findings);
    }
}

/// Spheres of which one pair alone is between contacts at a time: k is raised until there are more.
TEST(Convergence, DoesNotJudgeByTwoBallsOfAHundred) {
    const std::string dense =
        "scene.dimension = 3\nbox = { size = [6.4, 6.4, 6.4], boundary = \"periodic\" }\nspring.stiffness = 2000\n"
        "run = { until = 20.0, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 100\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n";
    for (const auto& [seed, raised] : {std::pair("201", 16.0), std::pair("205", 64.0)}) {
        Convergence result;
        const Findings findings =
            convergence_section(prepared(dense, {std::string("scene.seed=") + seed}), right_springs(), result);
        EXPECT_TRUE(findings.good()) << words(findings);
        EXPECT_EQ(verdict(findings, "limit"), Verdict::kGood) << words(findings);
        ASSERT_FALSE(result.rows.empty());
        EXPECT_GE(result.rows.back().met, 8U);
        EXPECT_EQ(result.raised, raised);
    }
}

/// Springs that all are still on the way to a collision that hard balls have had agree with each other, not with these.
TEST(Convergence, LeavesOutBallsThatAreLateForACollision) {
    const std::string late = few({
        {2.5, 3.076, -2.263, -0.505, 0.3, 10},
        {4.293, 4.794, 1.405, 0.89, 0.5, 1},
        {0.721, 2.086, 1.044, -0.353, 0.3, 10},
        {3.341, 2.019, -0.93, -1.082, 0.5, 10},
        {3.237, 5.828, 0.559, -0.26, 0.3, 1},
        {5.733, 1.757, 0.114, 1.214, 0.5, 10},
        {4.715, 6.947, -0.324, -0.254, 0.5, 1},
        {5.455, 3.217, -0.995, 0.191, 0.3, 1},
    });
    Convergence result;
    const Findings findings =
        convergence_section(prepared(late, {"box.boundary=\"periodic\""}), right_springs(), result);
    EXPECT_TRUE(findings.good()) << words(findings);
    EXPECT_EQ(result.rows.back().agreeing, result.rows.back().linear);
    EXPECT_EQ(result.raised, 1.0);
}

/// A heavy ball is in its contact with a wall, or with another one, for longer than the shortest contact there is.
TEST(Convergence, WaitsForTheContactsOfHeavyBalls) {
    const std::string wall = few({{2, 3, -1, 0, 0.5, 16}, {5, 7, 0, 0, 0.5, 1}});
    const std::string pair = few({{4, 3, 1, 0, 0.5, 16}, {6, 3.2, 0, 0, 0.5, 16}, {5, 7, 0, 0, 0.5, 1}});
    for (const std::string& text : {wall, pair}) {
        const Findings findings = converged(text, right_springs(), {"spring.stiffness=10000", "run.until=3"});
        EXPECT_EQ(verdict(findings, "limit"), Verdict::kGood) << words(findings);
        EXPECT_THAT(words(findings), HasSubstr("after one collision"));
    }
}

/// Of four balls one encounter that all springs have alone, or miss, is of half.
TEST(Convergence, GoesToStifferSpringsWhereFewBallsDoNotAgree) {
    const std::string four =
        "scene.dimension = 3\nbox = { size = [2.5, 2.5, 2.5], boundary = \"periodic\" }\n"
        "spring.stiffness = 14116.473246111225\nscene.seed = 236\nrun = { until = 9.5, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 4\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n";
    Convergence result;
    const Findings findings = convergence_section(prepared(four), right_springs(), result);
    EXPECT_TRUE(findings.good()) << words(findings);
    EXPECT_GT(result.raised, 1.0);
    EXPECT_TRUE(result.apart);
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState&) { scene.physics.restitution = 0.99; });
    EXPECT_EQ(verdict(converged(four, wrong), "limit"), Verdict::kBad) << "at every stiffness";
}

/// A ball that has collided once, with one that had four collisions behind it, is off by all that these made of a step.
TEST(Convergence, HoldsStepsAgainstBallsThatMetNobodyBefore) {
    const std::string four =
        "scene.dimension = 2\nbox.size = [10.233, 10.233]\nspring.stiffness = 78892.93479690528\nscene.seed = 33\n"
        "run = { until = 12.0, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 4\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n";
    const Findings findings = converged(four, right_springs());
    EXPECT_EQ(verdict(findings, "time step"), Verdict::kGood) << words(findings);
}

/// Positions far from the origin round by more, and overlaps with them.
TEST(Convergence, KnowsHowPositionsFarAwayRound) {
    const Findings findings = converged(kGas, right_springs(),
                                        {"box.min=[1e5,1e5]", "box.size=[12.3,12.3]", "box.boundary=\"periodic\"",
                                         "fill[0].count=60", "spring.stiffness=20000", "run.precision=\"double\""});
    EXPECT_EQ(verdict(findings, "forces"), Verdict::kGood) << words(findings);
}

/// A glancing collision that all springs miss is one of the reference's alone; the balls beside it still agree.
TEST(Convergence, AllowsForOneGlancingEncounter) {
    const std::string glancing = few({
        {4.858758358992652, 0.924523164660241, 0.5731960200872595, -1.152291588819236, 0.3, 1},
        {4.126915874105424, 4.208322386355825, 0.8807072726251866, -0.9696436096765019, 0.5, 2},
        {4.255026144484322, 5.939790941063631, 0.5993431883228256, 1.0515446709495844, 0.3, 10},
        {3.132313840812494, 5.400514870307538, -0.6773882886286806, 1.0227347544998047, 0.3, 2},
        {6.252489541830593, 1.235532156243606, 0.1954534564948096, -0.29736826183803905, 0.5, 1},
        {6.015764143651665, 3.2874291058723544, -0.059054608522089, 0.42407980172086385, 0.3, 1},
        {4.177932741560607, 7.290943964565451, -0.524486858872768, 0.2027122894485249, 0.5, 10},
        {4.900425463227949, 2.121955277643767, -0.28733372039479704, 0.38516774446741503, 0.5, 1},
    });
    CompareContext context = right_springs();
    context.work = 1.5e9;
    Convergence result;
    const PreparedScene run = prepared(glancing, {"box.boundary=\"periodic\"", "spring.law=\"hertz\""});
    const Findings findings = convergence_section(run, context, result);
    EXPECT_TRUE(findings.good()) << words(findings);
    EXPECT_LT(result.rows.back().agreeing, result.rows.back().linear);
    EXPECT_EQ(result.raised, 1.0);
}

/// The second-order part of a ball's deviation may be larger than an exponent shows that is 0.5 +- 0.05.
TEST(Convergence, EndsWhereTheRunsNoLongerCloseUp) {
    const std::string thrown = few({
        {5, 8, 0.3, -5, 0.2, 1},
        {2, 8, 0.1, 5, 0.2, 1},
    });
    const PreparedScene run = prepared(thrown, {"box.size=[10.0,10.0]", "physics.gravity=[0.0,-1.0]"});
    CompareContext context = right_springs();
    context.work = 1.5e9;
    Convergence result;
    const Findings findings = convergence_section(run, context, result);
    EXPECT_TRUE(findings.good()) << words(findings);
    EXPECT_EQ(verdict(findings, "order"), Verdict::kGood);
    // Not one for the balls shortly before their first impact.
    EXPECT_NEAR(result.stiffness / result.raised, design_spring(run.scene, run.state.balls).stiffness,
                1e-12 * result.stiffness);
}

/// What a step does to a collision goes by its speed, which may be several times that of most balls.
TEST(Convergence, KnowsHowFastCollisionsAre) {
    const std::string light = few({
        {2.767, 4.269, 2.243, -1.439, 0.5, 10},
        {4.878, 4.516, -0.397, 0.785, 0.5, 10},
        {6.667, 2.643, -0.836, -1.732, 0.3, 1},
        {5.875, 0.801, 0.359, 0.441, 0.3, 10},
        {6.272, 4.982, -0.172, 1.69, 0.5, 2},
    });
    const Findings findings =
        converged(light, right_springs(), {"physics.restitution=0.9", "physics.wall_restitution=0.9"});
    EXPECT_TRUE(findings.good()) << words(findings);
}

TEST(Convergence, FindsAStepThatIsTooLong) {
    const PreparedScene run = prepared(kGas);
    const double dt = run.plan->time_of_step(1);
    // 50 steps a contact at first.
    const Findings long_step = converged(kGas, right_springs(), {"spring.dt=" + std::to_string(12.5 * dt)});
    EXPECT_EQ(verdict(long_step, "time step"), Verdict::kBad) << words(long_step);
    const Findings allowed = converged(kGas, right_springs(), {"spring.dt=" + std::to_string(2.0 * dt)});
    EXPECT_EQ(verdict(allowed, "time step"), Verdict::kGood) << words(allowed);
}

TEST(Convergence, FindsAStiffnessThatIsOffByAPercent) {
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState&) { *scene.spring.stiffness *= 1.01; });
    for (const char* text : {kTwoBalls, kGas}) {
        const Findings findings = converged(text, wrong);
        EXPECT_EQ(verdict(findings, "forces"), Verdict::kBad) << words(findings);
    }
}

TEST(Convergence, FindsADashpotThatShouldNotBe) {
    // One percent of the speed: e = 0.99 instead of 1.
    const CompareContext wrong = wrong_springs(
        [](Scene& scene, SolverState&) { scene.physics.restitution = scene.physics.wall_restitution = 0.99; });
    for (const char* text : {kTwoBalls, kGas}) {
        const Findings findings = converged(text, wrong);
        EXPECT_EQ(verdict(findings, "limit"), Verdict::kBad) << words(findings);
        EXPECT_EQ(verdict(findings, "forces"), Verdict::kBad) << words(findings);
    }
}

TEST(Convergence, FindsBallsOfTheWrongSize) {
    // One part in a thousand: contacts late by that, whatever the stiffness.
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState& state) {
        for (Species& species : scene.species) species.radius *= 0.999;
        for (Species& species : state.balls.species_table) species.radius *= 0.999;
    });
    const Findings findings = converged(kGas, wrong);
    EXPECT_EQ(verdict(findings, "limit"), Verdict::kBad) << words(findings);
}

TEST(Convergence, FindsAWallThatIsTooSoft) {
    const CompareContext wrong =
        wrong_springs([](Scene& scene, SolverState&) { *scene.spring.wall_stiffness *= 0.99; });
    const Findings findings = converged(kGas, wrong);
    EXPECT_EQ(verdict(findings, "forces"), Verdict::kBad) << words(findings);
}

TEST(ForceAudit, SeesOnlyRoundingInEveryKindOfScene) {
    std::vector<std::vector<std::string>> kinds{
        {},
        {"physics.restitution=0.5", "physics.gravity=[0.0,-2.0]"},
        {"box.boundary=[\"periodic\",\"periodic\"]", "spring.damping=3.0"},
        {"spring.distance_epsilon=1e-3"},
        {"spring.integrator=\"symplectic_euler\"", "physics.gravity=[0.0,-2.0]"},
    };
    for (const std::string& law : all_laws()) {
        kinds.push_back({law});
        kinds.push_back({law, "physics.restitution=0.5", "physics.wall_restitution=0.3"});
    }
    for (const std::vector<std::string>& kind : kinds) {
        std::vector<std::string> overrides = kind;
        overrides.emplace_back("run.precision=\"double\"");
        overrides.emplace_back("spring.stiffness=2000.0");  // long contacts, so that there are many
        const PreparedScene run = prepared(kGas, overrides);
        const SpringDesign design = design_spring(run.scene, run.state.balls);
        const auto solver = make_spring_of(run.scene, run.state, 1);
        ForceAudit audit;
        const CompareContext context = right_springs();
        for (int look = 1; look <= 20; ++look) {
            context.advance(*solver, 30.0 * look * design.dt);
            audit_step(*solver, run.scene, design, context, audit);
        }
        EXPECT_GT(audit.pair_contacts, 20u);
        EXPECT_EQ(audit.wall_contacts > 0, kind.empty() || !kind.front().starts_with("box.boundary"));
        EXPECT_LE(audit.worst, audit.rounding) << kind.size();
        EXPECT_LT(audit.rounding, 1e-6);
    }
}

TEST(SpringLimit, OfACradleIsTheGoldenOne) {
    const nlohmann::json data =
        nlohmann::json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/spring_limit.json"));
    const nlohmann::json& cradle = data["cases"][0];
    ASSERT_EQ(cradle["id"], "cradle3");
    constexpr const char* kCradle = R"(
[scene]
dimension = 2
[box]
size = [20.0, 4.0]
[run]
until = 1.0
backend = "cpu"
[[ball]]
radius = 0.5
mass = 1.0
position = [6.0, 2.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [7.0, 2.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [8.0, 2.0]
)";
    Convergence result;
    const Findings findings = convergence_section(prepared(kCradle), right_springs(), result);
    EXPECT_EQ(verdict(findings, "spring limit"), Verdict::kGood) << words(findings);
    EXPECT_EQ(verdict(findings, "limit"), Verdict::kNone) << "no rigid law is held against springs here";
    // The event-driven answer is (0, 0, 1); the golden limit is that far from it.
    double squares = 0.0;
    double most = 0.0;
    for (std::size_t ball = 0; ball < 3; ++ball) {
        const double off = std::abs(cradle["out"]["v"][ball][0].get<double>() - (ball == 2 ? 1.0 : 0.0));
        squares += off * off;
        most = std::max(most, off);
    }
    ASSERT_FALSE(result.rows.empty());
    const Deviation& limit = result.rows.back().limit;
    constexpr double kStepError = 1e-4;  // h^2 / 8 at 200 steps a contact is 3e-5; several contacts
    EXPECT_NEAR(limit.max_v, most, kStepError);
    EXPECT_NEAR(limit.rms_v, std::sqrt(squares / 3.0), kStepError);
}

TEST(Convergence, IsNotClaimedWhereThereIsNothingToCompare) {
    const Findings still = converged(kTwoBalls, right_springs(), {"run.until=0.1"});
    EXPECT_TRUE(still.checks.empty());
    EXPECT_NE(words(still).find("nothing touches"), std::string::npos);
    const Findings dashpot = converged(kTwoBalls, right_springs(), {"spring.damping=2.0"});
    EXPECT_TRUE(dashpot.checks.empty());
    EXPECT_NE(words(dashpot).find("spring.damping is a number"), std::string::npos);
    EXPECT_NE(not_comparable(parse_scene(kTwoBalls, "t", {"run.solver=events", "physics.friction=0.1"})), "");
    EXPECT_EQ(not_comparable(parse_scene(kTwoBalls, "t", {})), "");
}

// Statistics of a gas by `compare`: a fixed seed each; a check of a right gas fails by chance once in 16,000.

constexpr const char* kEvenGas = R"(
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
    for (const std::string& law : all_laws()) {
        const Findings periodic = statistics(kEvenGas, right_springs(), {law});
        EXPECT_TRUE(periodic.good()) << law << "\n" << words(periodic);
        for (const char* name : {"speeds", "equipartition", "energy", "pressure", "equation of state", "collision rate",
                                 "kinetic theory", "displacement", "spring energy"}) {
            EXPECT_EQ(verdict(periodic, name), Verdict::kGood) << law << " " << name << "\n" << words(periodic);
        }
    }
}

TEST(GasStatistics, BetweenWallsHoldTheWallsAgainstTheStressAcrossThem) {
    // Long and narrow, walls along one axis, or along two of unlike lengths: the stress is not the same along all axes.
    for (const char* boundary : {"\"wall\",\"periodic\"", "\"wall\",\"wall\""}) {
        const Findings narrow = statistics(kEvenGas, right_springs(),
                                           {"box.size=[6.0,200.0]", std::string("box.boundary=[") + boundary + "]"});
        EXPECT_EQ(verdict(narrow, "wall pressure"), Verdict::kGood) << boundary << words(narrow);
    }
    const Findings walls = statistics(kEvenGas, right_springs(), {"box.boundary=[\"wall\",\"periodic\"]"});
    EXPECT_TRUE(walls.good()) << words(walls);
    EXPECT_EQ(verdict(walls, "wall pressure"), Verdict::kGood) << words(walls);
    EXPECT_EQ(verdict(walls, "equation of state"), Verdict::kNone);
}

/// Soft walls let balls 0.06 diameters nearer than hard balls of the soft diameter come, whose box is larger for it.
TEST(GasStatistics, TakeSoftWallsForNoSmallerPressure) {
    const Findings soft = statistics(
        "scene.dimension = 3\nbox.size = [17.5, 17.5, 17.5]\nspring = { stiffness = 1000, wall_stiffness = 250 }\n"
        "run = { until = 20.0, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 205\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n",
        right_springs(), {"scene.seed=35"});
    EXPECT_EQ(verdict(soft, "pressure"), Verdict::kGood) << words(soft);
}

/// The mean mass times the mean square speed is 2,500 times the temperature of these.
TEST(GasStatistics, AreOfMassesAsUnlikeAsTheyMayBe) {
    const Findings unlike = statistics(
        "scene.dimension = 2\nbox = { size = [28.0, 28.0], boundary = \"periodic\" }\n"
        "spring.stiffness = 1000\nrun = { until = 5.0, backend = \"cpu\" }\n[[fill]]\ncount = 100\n"
        "radius = 0.5\nmass = 0.01\ntemperature = 1.0\n[[fill]]\ncount = 100\nradius = 0.5\n"
        "mass = 100.0\ntemperature = 1.0\n",
        right_springs());
    EXPECT_EQ(verdict(unlike, "pressure"), Verdict::kGood) << words(unlike);
}

/// In a period of 2.1 diameters disks have 1.2 times the pressure of the bulk.
TEST(GasStatistics, HoldNoTheoryOfTheBulkAgainstANarrowBox) {
    const Findings narrow = statistics(
        "scene.dimension = 2\nbox = { size = [187.0, 2.1], boundary = \"periodic\" }\n"
        "run = { until = 3.0, backend = \"cpu\" }\n"
        "[[fill]]\ncount = 200\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n",
        right_springs());
    EXPECT_TRUE(narrow.good()) << words(narrow);
    EXPECT_EQ(verdict(narrow, "pressure"), Verdict::kGood);
    EXPECT_EQ(verdict(narrow, "collision rate"), Verdict::kGood);
    EXPECT_THAT(words(narrow), HasSubstr("a side of the box is less than 5 diameters"));
}

TEST(GasStatistics, FindBallsOfTheWrongSize) {
    // Three percent: (Z - 1) off by some ten, its standard error is about one.
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState& state) {
        for (Species& species : scene.species) species.radius *= 0.97;
        for (Species& species : state.balls.species_table) species.radius *= 0.97;
    });
    const Findings findings = statistics(kEvenGas, wrong);
    EXPECT_EQ(verdict(findings, "pressure"), Verdict::kBad) << words(findings);
    EXPECT_EQ(verdict(findings, "equation of state"), Verdict::kBad) << words(findings);
    EXPECT_EQ(verdict(findings, "collision rate"), Verdict::kBad) << words(findings);
}

/// Near where disks freeze they collide more often for as long as they happen to stand closer: of independent
/// collisions the error would be 1.3 times smaller in the mean here.
TEST(GasStatistics, KnowThatCollisionsOfDenseBallsAreNotIndependent) {
    std::optional<GasStatistics> gas;
    CompareContext context = right_springs();
    context.work = 1.0e7;
    const Findings findings =
        statistics_section(prepared(kEvenGas, {"box.size=[15.2, 15.2]", "fill[0].count=200"}), context, gas);
    ASSERT_TRUE(gas);
    const Estimate rate = estimate(gas->hard.collision_rate);
    const double counted = 0.5 * 200.0 * rate.mean * gas->plan.block * gas->plan.blocks;
    EXPECT_GT(rate.error, 1.1 * rate.mean / std::sqrt(counted)) << words(findings);
    bool told = false;
    for (const Check& check : findings.checks) {
        for (const auto& [name, value] : check.figures) {
            if (check.name == "kinetic theory" && name == "error") told = value == rate.error;
        }
    }
    EXPECT_TRUE(told) << words(findings);
    EXPECT_EQ(verdict(findings, "collision rate"), Verdict::kGood) << words(findings);
}

/// A share among the axes has the error of a share: of 400 disks in S snapshots 1 / sqrt(400 S), and a little more.
TEST(GasStatistics, HaveTheErrorOfAShare) {
    std::optional<GasStatistics> gas;
    const Findings findings = statistics_section(prepared(kEvenGas), right_springs(), gas);
    ASSERT_TRUE(gas);
    for (const Check& check : findings.checks) {
        if (check.name != "equipartition") continue;
        for (const auto& [name, value] : check.figures) {
            if (name != "error") continue;
            EXPECT_NEAR(value, 1.15 / std::sqrt(400.0 * double(gas->spring.snapshots)), 1e-12);
        }
    }
    EXPECT_NEAR(gas->spring.axis_share[0] + gas->spring.axis_share[1], 2.0, 1e-12);
}

TEST(GasStatistics, FindAGasThatCools) {
    const CompareContext wrong = wrong_springs([](Scene& scene, SolverState&) { scene.physics.restitution = 0.999; });
    const Findings findings = statistics(kEvenGas, wrong);
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
    const Findings findings = statistics(kEvenGas, wrong);
    EXPECT_EQ(verdict(findings, "speeds"), Verdict::kBad) << words(findings);
}

TEST(GasStatistics, DoNotWaitForBallsThatHardlyEverCollide) {
    const auto rows = [](const char* velocity) {
        std::string text =
            "scene.dimension = 2\nbox = { size = [30.0, 30.0], boundary = \"periodic\" }\nrun.until = 1.0\n"
            "spring = { stiffness = 1.0e4 }\n";
        for (int k = 0; k < 225; ++k) {
            text += fmt::format("[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [{}, {}]\nvelocity = {}\n",
                                1 + 2 * (k % 15), 1 + 2 * (k / 15), velocity);
        }
        return text;
    };
    const std::string between = "[[ball]]\nradius = 0.1\nmass = 1.0\nposition = [2.0, 2.0]\nvelocity = [1.0, 0.0]\n";
    for (const std::string& scene : {rows("[1.0, 0.3]"), rows("[0.0, 0.0]") + between}) {
        EXPECT_THAT(words(statistics(scene, right_springs())),
                    HasSubstr("not compared: the balls hardly ever collide"));
    }
}

TEST(GasStatistics, AreNotClaimedForWhatIsNoGas) {
    const auto why = [](const std::vector<std::string>& overrides) {
        const PreparedScene run = prepared(kEvenGas, overrides);
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
    const double independent = std::sqrt(1.0 / 19.0);  // were each a draw of its own
    EXPECT_LT(estimate(alternating).error, 0.1 * independent);
    EXPECT_NEAR(estimate(alternating).mean, 0.0, 1e-12);
    EXPECT_GT(estimate(slow).error, 1.5 * independent);
    EXPECT_LT(estimate(slow).error, 3.0 * independent);
}

}  // namespace carom::test::compare_theory_test
