#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/run/solver_plan.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "tests/support/spring_lab.hpp"

// The level-6 algorithm, step by step: symplectic Euler, 1e-6 added to each distance between balls, walls of the same
// stiffness, in double precision.

namespace carom::test::spring_seed_test {

/// Relative to the largest coordinate or speed of the state, over 1000 steps. carom's positions are
/// rounded to 2^-52 of a period (2e-13 lengths here) where the listing's are doubles.
constexpr double kRelative = 1.0e-9;
/// The energies: their own scale, and twice the state's tolerance, as they are squares.
constexpr double kEnergyRelative = 2.0 * kRelative;

nlohmann::json golden() {
    std::ifstream file(CAROM_GOLDEN_DIR "/spring_seed_trajectory.json");
    return nlohmann::json::parse(file);
}

double largest_of(const nlohmann::json& state, int begin) {
    double largest = 0.0;
    for (const auto& ball : state) {
        for (int k = begin; k < begin + 2; ++k) largest = std::max(largest, std::abs(ball[k].get<double>()));
    }
    return largest;
}

class SeedTrajectory : public ::testing::TestWithParam<int> {};

TEST_P(SeedTrajectory, IsFollowedOverAllItsSteps) {
    const auto scene = golden()["cases"].at(GetParam());
    SpringSetup setup = lab_setup(2, 0.0, Side::kWall);
    setup.box_size = {scene["w"], scene["h"], 0.0};
    setup.double_precision = true;
    setup.symplectic_euler = true;
    setup.distance_epsilon = 1.0e-6;
    setup.stiffness = setup.wall_stiffness = scene["k"];
    setup.dt = scene["dt"];
    std::vector<LabBall> balls;
    for (const auto& ball : scene["balls"]) {
        balls.push_back({{ball["x"], ball["y"], 0.0}, {ball["v_x"], ball["v_y"], 0.0}, ball["r"], ball["m"]});
    }
    SpringLab lab(setup, balls);

    std::map<int, nlohmann::json> recorded;
    for (const auto& [step, record] : scene["out"]["steps_recorded"].items()) recorded[std::stoi(step)] = record;
    ASSERT_EQ(recorded.rbegin()->first, scene["steps"].get<int>());
    for (const auto& [step, record] : recorded) {
        ASSERT_NO_FATAL_FAILURE(lab.advance(static_cast<std::uint64_t>(step) - lab.engine().step()));
        const auto& state = record["state"];
        const auto now = lab.look();
        const double length = largest_of(state, 0);
        const double speed = largest_of(state, 2);
        for (std::size_t id = 0; id < now.size(); ++id) {
            for (int axis = 0; axis < 2; ++axis) {
                EXPECT_NEAR(now[id].x[axis], state[id][axis], kRelative * length) << "step " << step << ", ball " << id;
                EXPECT_NEAR(now[id].v[axis], state[id][2 + axis], kRelative * speed)
                    << "step " << step << ", ball " << id;
            }
        }
        const Totals totals = lab.totals();
        const double kinetic = record["kinetic"];
        const double spring = record["spring"];
        EXPECT_NEAR(totals.kinetic, kinetic, kEnergyRelative * (kinetic + spring)) << "step " << step;
        EXPECT_NEAR(totals.spring, spring, kEnergyRelative * (kinetic + spring)) << "step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(Golden, SeedTrajectory, ::testing::Range(0, 3),
                         [](const auto& which) { return std::string("case") + std::to_string(which.param); });

/// The same numbers through the scene file that comes with the program: what a user gets.
TEST(LevelSixScene, FollowsTheSeedTrajectory) {
    const auto golden_case = golden()["cases"].at(0);
    const Scene scene = load_scene(CAROM_SOURCE_DIR "/scenes/level6.toml");
    SolverState start;
    start.balls = make_balls(scene);
    const auto solver = make_plan(scene, start, 1)->make_solver(start, "");
    std::map<int, nlohmann::json> recorded;
    for (const auto& [step, record] : golden_case["out"]["steps_recorded"].items()) recorded[std::stoi(step)] = record;
    for (const auto& [step, record] : recorded) {
        const double time = step * golden_case["dt"].get<double>();
        while (!solver->advance_to(time, 10.0)) {
        }
        ASSERT_EQ(solver->step(), static_cast<std::uint64_t>(step));
        Frame frame;
        solver->request_frame(frame);
        solver->finish_frame(frame);
        const auto& state = record["state"];
        ASSERT_EQ(frame.size(), state.size());
        for (std::size_t id = 0; id < frame.size(); ++id) {
            for (int axis = 0; axis < 2; ++axis) {
                EXPECT_NEAR(frame.position[axis][id], state[id][axis], kRelative * largest_of(state, 0)) << step;
                EXPECT_NEAR(frame.velocity[axis][id], state[id][2 + axis], kRelative * largest_of(state, 2)) << step;
            }
        }
    }
}

}  // namespace carom::test::spring_seed_test
