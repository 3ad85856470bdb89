// The mean free path of an event-driven run against the paths in its log of impacts.

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/events_gas.hpp"

namespace carom {
namespace {

using namespace test;

/// What the log of a run without gravity says: each ball of finite mass flies straight from one entry to its next.
struct LoggedPaths {
    double length = 0.0;
    double ends = 0.0;

    LoggedPaths(const EventsScene& scene, EventsEngine& engine, double until) {
        const Balls& balls = scene.state.balls;
        std::vector<double> speed(balls.size());
        std::vector<double> since(balls.size(), 0.0);
        const auto norm = [](const Vector3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); };
        for (std::size_t id = 0; id < balls.size(); ++id) {
            Vector3 v{};
            for (int axis = 0; axis < scene.dimension(); ++axis) v[axis] = balls.velocity[axis][id];
            speed[id] = norm(v);
        }
        const auto fly = [&](std::uint32_t id, double time, double new_speed) {
            if (std::isinf(balls.species_of(id).mass)) return 0.0;
            length += speed[id] * (time - since[id]);
            since[id] = time;
            speed[id] = new_speed;
            return 1.0;
        };
        engine.set_log([&](const LoggedImpact& impact) {
            ends += fly(impact.i, impact.time, norm(impact.velocity_i));
            if (!impact.wall) ends += fly(impact.j, impact.time, norm(impact.velocity_j));
        });
        engine.advance(until, ~0ULL);
        for (std::uint32_t id = 0; id < balls.size(); ++id) fly(id, until, 0.0);
    }
};

TEST(EventsFreePath, OfACoolingGasIsThatOfItsLog) {
    for (const Face face : {Face::kPeriodic, Face::kWall}) {
        EventsScene scene = lattice_gas(2, 12, 18.0, face, 0.5, 5);
        scene.setup.restitution = 0.85;
        scene.setup.wall_restitution = 0.9;
        const auto engine = scene.engine();
        const LoggedPaths paths(scene, *engine, 60.0);
        ASSERT_GT(paths.ends, 2000.0);
        EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
    }
}

TEST(EventsFreePath, OfABreakCountsTheBallsThatRest) {
    EventsScene scene(2, {20.0, 10.0, 0.0});
    for (int row = 0; row < 5; ++row) {
        for (int k = 0; k <= row; ++k)
            scene.add(0.3, 1.0, {12.0 + 0.61 * row, 5.0 + 0.7 * (k - 0.5 * row), 0.0}, {0.0, 0.0, 0.0});
    }
    scene.add(0.3, 1.0, {3.0, 5.01, 0.0}, {7.0, 0.0, 0.0});
    const auto engine = scene.engine();
    const LoggedPaths paths(scene, *engine, 50.0);
    ASSERT_GT(paths.ends, 100.0);
    EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
}

TEST(EventsFreePath, LeavesOutObstacles) {
    EventsScene scene = lattice_gas(3, 4, 8.0, Face::kPeriodic, 0.5, 9);
    for (std::size_t id = 0; id < scene.size(); id += 2) {
        scene.state.balls.species[id] = 1;
        for (auto& v : scene.state.balls.velocity) v[id] = 0.0;
    }
    scene.state.balls.species_table.push_back(scene.state.balls.species_table[0]);
    scene.state.balls.species_table[1].mass = std::numeric_limits<double>::infinity();
    const auto engine = scene.engine();
    const LoggedPaths paths(scene, *engine, 20.0);
    ASSERT_GT(engine->statistics().heavy_collisions, 100u);
    ASSERT_LT(engine->statistics().heavy_collisions, engine->statistics().ball_collisions);
    EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
}

TEST(EventsFreePath, UnderGravityIsTheLengthOfTheParabolas) {
    // A ball let go at 5 above the floor hops for ever: after the first fall, 10 between two impacts.
    EventsScene scene(2, {10.0, 20.0, 0.0});
    scene.setup.gravity = {0.0, -10.0, 0.0};
    scene.add(1.0, 1.0, {5.0, 6.0, 0.0}, {0.0, 0.0, 0.0});
    const auto engine = scene.engine();
    engine->advance(10.0, ~0ULL);  // impacts at 1, 3, 5, 7, 9; at the top again
    EXPECT_EQ(engine->statistics().wall_collisions, 5u);
    EXPECT_NEAR(engine->statistics().mean_free_path(), 50.0 / 5.0, 1e-7);
}

TEST(EventsFreePath, IsTheSameAfterARestart) {
    const EventsScene scene = lattice_gas(2, 20, 30.0, Face::kPeriodic, 0.5, 3);
    const auto whole = scene.engine();
    whole->advance(3.0, ~0ULL);
    SolverState state;
    whole->save(state);
    const auto resumed = make_events_engine(scene.setup, state);
    whole->advance(40.0, ~0ULL);
    resumed->advance(40.0, ~0ULL);
    EXPECT_EQ(whole->statistics().mean_free_path(), resumed->statistics().mean_free_path());
}

}  // namespace
}  // namespace carom
