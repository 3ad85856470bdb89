// Walls of all shapes, bodies of infinite mass, clusters, collapse, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host/events/events_log.hpp"
#include "host/state/errors.hpp"
#include "tests/support/events_gas.hpp"
#include "tests/support/make_walls.hpp"

namespace carom::events_contacts_test {

using namespace test;
using nlohmann::json;
using testing::HasSubstr;

template <class Error, class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "(nothing was thrown)";
}

Vector3 vector3(const json& list) {
    Vector3 result{};
    for (std::size_t axis = 0; axis < list.size(); ++axis) result[axis] = list[axis];
    return result;
}

/// A cluster of multi_contact.json as a scene: touching balls in a wide open box, walls as planes.
EventsScene cluster_scene(const json& c) {
    EventsScene scene(c["dim"], {200.0, 200.0, c["dim"] == 3 ? 200.0 : 0.0}, Face::kOpen);
    scene.setup.box.min = {-100.0, -100.0, -100.0};
    scene.setup.restitution = scene.setup.wall_restitution = c["e"];
    for (const json& w : c["walls"]) {
        scene.setup.walls.push_back(plane_wall(vector3(w["n"]), w["c"]));
    }
    for (const json& b : c["bodies"]) scene.add(b["r"], b["m"], vector3(b["x"]), vector3(b["v"]));
    return scene;
}

TEST(EventsClusters, OfTouchingBallsEndAsTheLawSays) {
    const json cases = json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/multi_contact.json"))["cases"];
    const std::pair<SimultaneousLaw, const char*> laws[] = {{SimultaneousLaw::kReflect, "reflect"},
                                                            {SimultaneousLaw::kSequential, "sequential"},
                                                            {SimultaneousLaw::kNewton, "newton_lcp"}};
    for (const json& c : cases) {
        for (const auto& [law, name] : laws) {
            // Planes are numbered as the file's order of contacts wants only without them in sequential scenes with two
            // walls and balls: there the order (i, j) is the same too, since walls come after balls.
            SCOPED_TRACE(c["id"].get<std::string>() + " " + name);
            EventsScene scene = cluster_scene(c);
            scene.setup.simultaneous = law;
            const auto engine = scene.engine();
            std::vector<LoggedImpact> log;
            engine->set_log([&](const LoggedImpact& impact) { log.push_back(impact); });
            engine->advance(1e-9, ~0ULL);
            Frame frame;
            engine->frame(frame);
            for (std::size_t id = 0; id < scene.size(); ++id) {
                for (int axis = 0; axis < scene.dimension(); ++axis) {
                    EXPECT_NEAR(frame.velocity[axis][id], c["out"][name]["v"][id][axis].get<double>(), 1e-9)
                        << "ball " << id << ", axis " << axis;
                }
            }
            for (std::size_t k = 1; k < log.size(); ++k) {
                if (log[k].time != log[k - 1].time || log[k].what != log[k - 1].what) continue;
                EXPECT_LE(std::pair(log[k - 1].i, log[k - 1].j), std::pair(log[k].i, log[k].j));
            }
        }
    }
}

TEST(EventsClusters, FormInFlightWhenContactsMeet) {
    // The mirror-symmetric double hit of a flying ball: both contacts at one instant, so symmetry stays to the bit's
    // neighbourhood, which one contact after the other would break.
    EventsScene scene(2, {20.0, 20.0, 0.0});
    scene.add(0.5, 1.0, {3.0, 10.0, 0.0}, {2.0, 0.0, 0.0});
    scene.add(0.5, 1.0, {10.0, 10.5, 0.0}, {});
    scene.add(0.5, 1.0, {10.0, 9.5, 0.0}, {});
    const auto engine = scene.engine();
    engine->advance(3.5, ~0ULL);
    Frame frame;
    engine->frame(frame);
    EXPECT_NEAR(frame.velocity[1][0], 0.0, 1e-12);
    EXPECT_NEAR(frame.velocity[0][1], frame.velocity[0][2], 1e-12);
    EXPECT_NEAR(frame.velocity[1][1], -frame.velocity[1][2], 1e-12);
    EXPECT_GT(frame.velocity[1][1], 0.1);
    EXPECT_EQ(engine->statistics().clusters, 1u);
}

TEST(EventsClusters, NewtonsCradlePassesTheBlowOn) {
    EventsScene scene(2, {40.0, 4.0, 0.0});
    scene.add(0.5, 1.0, {5.0, 2.0, 0.0}, {1.0, 0.0, 0.0});
    for (int k = 0; k < 4; ++k) scene.add(0.5, 1.0, {10.0 + k, 2.0, 0.0}, {});
    const auto engine = scene.engine();
    engine->advance(10.0, ~0ULL);
    Frame frame;
    engine->frame(frame);
    for (int id = 0; id < 4; ++id) EXPECT_NEAR(frame.velocity[0][id], 0.0, 1e-14);
    EXPECT_NEAR(frame.velocity[0][4], 1.0, 1e-14);
}

TEST(EventsWalls, OfACircleKeepEnergyAndTheBallsIn) {
    for (const double g : {0.0, -2.0}) {
        EventsScene scene(2, {10.0, 10.0, 0.0});
        scene.setup.gravity = {0.0, g, 0.0};
        const Vector3 center{5.0, 5.0, 0.0};
        scene.setup.walls = {sphere_wall(center, 4.0), sphere_wall(center, 0.7, "outside")};
        scene.add(0.3, 1.0, {7.0, 5.0, 0.0}, {0.3, 1.1, 0.0});
        scene.add(0.2, 0.5, {3.0, 5.0, 0.0}, {-0.5, 0.4, 0.0});
        scene.add(0.2, 0.5, {3.0, 6.0, 0.0}, {0.2, 0.9, 0.0});
        const auto engine = scene.engine();
        const double energy = engine->totals().energy();
        Frame frame;
        for (int k = 1; k <= 200; ++k) {
            engine->advance(0.5 * k, ~0ULL);
            engine->frame(frame);
            for (std::size_t id = 0; id < 3; ++id) {
                const double r = std::hypot(frame.position[0][id] - 5.0, frame.position[1][id] - 5.0);
                const double radius = scene.state.balls.species_of(id).radius;
                ASSERT_LE(r, 4.0 - radius + 1e-12);
                ASSERT_GE(r, 0.7 + radius - 1e-12);
            }
        }
        EXPECT_NEAR(engine->totals().energy(), energy, 1e-11);
        EXPECT_GT(engine->statistics().wall_collisions, 50u);
        EXPECT_GT(engine->tallies().wall_impulse[6], 1.0);
        EXPECT_GT(engine->tallies().wall_impulse[7], 0.1);
        EXPECT_LT(engine->statistics().virial_defect(), 1e-11);
    }
}

TEST(EventsWalls, OpenFacesLetBallsOut) {
    EventsScene scene(2, {10.0, 10.0, 0.0}, Face::kOpen);
    scene.add(0.5, 1.0, {5.0, 5.0, 0.0}, {1.0, 0.0, 0.0});
    scene.add(0.5, 1.0, {5.0, 8.0, 0.0}, {0.0, 0.1, 0.0});
    const auto engine = scene.engine();
    engine->advance(5.4, ~0ULL);
    EXPECT_EQ(engine->tallies().balls_left, 0u) << "not wholly outside yet";
    engine->advance(5.6, ~0ULL);
    EXPECT_EQ(engine->tallies().balls_left, 1u);
    Frame frame;
    engine->frame(frame);
    EXPECT_EQ(frame.gone[0], 1);
    EXPECT_TRUE(std::isnan(frame.position[0][0]));
    EXPECT_EQ(engine->totals().balls, 1u);
    EXPECT_LT(engine->statistics().virial_defect(), 1e-14);
}

TEST(EventsWalls, AreBouncedOffUnderGravityAtTheGoldenPlace) {
    const json drops = json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/wall_bounce.json"))["drops"];
    for (const json& drop : drops) {
        EventsScene scene(3, {4.0, 4.0, 8.0});
        scene.setup.gravity = {0.0, 0.0, -drop["g"].get<double>()};
        scene.setup.wall_restitution = drop["e"];
        scene.add(drop["r"], 1.0, {2.0, 2.0, drop["z0"]}, {});
        const auto engine = scene.engine();
        engine->advance(drop["T"], ~0ULL);
        Frame frame;
        engine->frame(frame);
        EXPECT_NEAR(frame.position[2][0], drop["out"]["z_T"].get<double>(), 1e-12);
        EXPECT_NEAR(frame.velocity[2][0], drop["out"]["vz_T"].get<double>(), 1e-11);
    }
}

TEST(EventsHeavyBodies, KeepTheirVelocity) {
    for (const double g : {0.0, -1.0}) {
        EventsScene scene(2, {10.0, 10.0, 0.0}, Face::kPeriodic);
        scene.setup.box.faces[1] = {Face::kWall, Face::kWall};
        scene.setup.gravity = {0.0, g, 0.0};
        scene.add(1.0, INFINITY, {5.0, 5.0, 0.0}, {0.5, 0.0, 0.0});
        for (int k = 0; k < 6; ++k) scene.add(0.3, 1.0, {1.0 + 1.3 * k, 1.5 + 0.2 * k, 0.0}, {1.0 - 0.4 * k, 0.7, 0.0});
        scene.add(0.5, INFINITY, {2.0, 8.6, 0.0}, {});  // they pass through each other, and may reach into walls
        scene.add(0.5, INFINITY, {2.5, 9.0, 0.0}, {});
        const auto engine = scene.engine();
        engine->advance(50.0, ~0ULL);
        Frame frame;
        engine->frame(frame);
        EXPECT_EQ(frame.velocity[0][0], 0.5);
        EXPECT_EQ(frame.velocity[1][0], 0.0);
        EXPECT_EQ(frame.velocity[0][7], 0.0);
        EXPECT_GT(engine->statistics().ball_collisions, 20u);
        EXPECT_LT(engine->statistics().virial_defect(), 1e-11);
        EXPECT_LT(engine->statistics().worst_overlap, 1e-12);
    }
}

TEST(EventsHeavyBodies, CannotBeTurnedByAWall) {
    EventsScene scene(2, {10.0, 10.0, 0.0});
    scene.add(1.0, INFINITY, {5.0, 5.0, 0.0}, {0.5, 0.0, 0.0});
    const auto engine = scene.engine();
    EXPECT_THAT(message_of<SimulationError>([&] { engine->advance(50.0, ~0ULL); }),
                HasSubstr("ball 0 of infinite mass reaches the wall at x-max at time 10"));
}

/// Three balls in a row whose middle one loses its energy in ever shorter turns: collapse for e < 7 - 4 sqrt(3).
EventsScene collapsing_row() {
    EventsScene scene(2, {40.0, 4.0, 0.0});
    scene.setup.restitution = 0.05;
    scene.add(0.5, 1.0, {10.0, 2.0, 0.0}, {1.0, 0.0, 0.0});
    scene.add(0.5, 1.0, {15.0, 2.0, 0.0}, {0.0, 0.0, 0.0});
    scene.add(0.5, 1.0, {20.0, 2.0, 0.0}, {-1.0, 0.0, 0.0});
    return scene;
}

TEST(InelasticCollapse, IsDetectedAndExplainedOrAvoided) {
    // A row of three with e this small would need no end of collisions; clusters within 1e-9 of a radius end it, so the
    // ball on a floor is the case that time cannot pass.
    EventsScene floor(2, {4.0, 4.0, 0.0});
    floor.setup.gravity = {0.0, -10.0, 0.0};
    floor.setup.wall_restitution = 0.5;
    floor.add(0.5, 1.0, {2.0, 2.0, 0.0}, {});
    const auto engine = floor.engine();
    EXPECT_THAT(message_of<SimulationError>([&] { engine->advance(10.0, ~0ULL); }),
                testing::AllOf(HasSubstr("inelastic collapse at time 1.64316"), HasSubstr("ball 0 and wall 2"),
                               HasSubstr("cutoff_speed")));
    floor.setup.cutoff_speed = 1e-3;
    const auto cut = floor.engine();
    EXPECT_TRUE(cut->advance(2.0, ~0ULL));
    EXPECT_GT(cut->statistics().elastic_by_cutoff, 100u);
    Frame frame;
    cut->frame(frame);
    EXPECT_NEAR(frame.position[1][0], 0.5, 1e-6);
    floor.setup.cutoff_speed = 0.0;
    floor.setup.tc = 1e-3;
    const auto timed = floor.engine();
    EXPECT_TRUE(timed->advance(2.0, ~0ULL));
    EXPECT_GT(timed->statistics().elastic_by_tc, 100u);
}

/// Balls of radius 0.5 and mass 2 that lie on the floor of a box: two side by side, one of them with a third on it, and
/// a fourth in a corner.
EventsScene lying_pile() {
    EventsScene pile(2, {4.0, 4.0, 0.0});
    pile.setup.gravity = {0.0, -10.0, 0.0};
    pile.setup.restitution = pile.setup.wall_restitution = 0.5;
    pile.setup.cutoff_speed = 1e-2;
    pile.add(0.5, 2.0, {0.75, 0.5, 0.0}, {});
    pile.add(0.5, 2.0, {1.75, 0.5, 0.0}, {});
    pile.add(0.5, 2.0, {0.75, 1.5, 0.0}, {});
    pile.add(0.5, 2.0, {3.5, 0.5, 0.0}, {});
    return pile;
}

TEST(LyingBalls, StayWhereTheyAreAndWeighOnTheFloorWhatTheyWeigh) {
    for (const auto law : {SimultaneousLaw::kReflect, SimultaneousLaw::kSequential, SimultaneousLaw::kNewton}) {
        EventsScene pile = lying_pile();
        pile.setup.simultaneous = law;
        const auto engine = pile.engine();
        constexpr double kTime = 2.0;
        ASSERT_TRUE(engine->advance(kTime, 1'000'000));
        Frame frame;
        engine->frame(frame);
        for (std::size_t id = 0; id < pile.size(); ++id) {
            for (int axis = 0; axis < 2; ++axis) {
                EXPECT_NEAR(frame.position[axis][id], pile.state.balls.position[axis][id], 1e-3) << id;
            }
        }
        const double weight = 4 * 2.0 * 10.0;
        EXPECT_NEAR(engine->tallies().wall_impulse[2] / kTime / weight, 1.0, 0.002);
        EXPECT_LT(engine->totals().kinetic, 4 * 0.5 * 2.0 * 1e-4);  // all slower than the cut-off speed
        EXPECT_LT(engine->statistics().virial_defect(), 1e-9);
    }
}

TEST(LyingBalls, SlideUntilTheyRoll) {
    // Coulomb friction turns a sliding sphere until its surface rests on the floor: v = v0 / (1 + kr2) = 5/7 v0, after
    // t = 2 v0 / (7 mu g) for a solid sphere; from then on it rolls.
    EventsScene table(3, {40.0, 4.0, 4.0});
    table.setup.gravity = {0.0, 0.0, -10.0};
    table.setup.wall_friction = 0.2;
    table.setup.wall_restitution = 0.5;
    table.setup.simultaneous = SimultaneousLaw::kSequential;
    table.setup.cutoff_speed = 1e-2;
    table.add(0.5, 1.0, {1.0, 2.0, 0.5}, {7.0, 0.0, 0.0});
    const auto engine = table.engine();
    const double until = 2.0 * 7.0 / (7.0 * 0.2 * 10.0);
    Frame frame;
    engine->advance(0.5 * until, ~0ULL);
    engine->frame(frame);
    EXPECT_NEAR(frame.velocity[0][0], 6.0, 0.01);  // v0 - mu g t
    engine->advance(1.5 * until, ~0ULL);
    engine->frame(frame);
    EXPECT_NEAR(frame.velocity[0][0], 5.0, 0.01);
    EXPECT_NEAR(frame.spin[1][0], 5.0 / 0.5, 0.02);
    engine->advance(3.0 * until, ~0ULL);
    engine->frame(frame);
    EXPECT_NEAR(frame.velocity[0][0], 5.0, 0.01);
    EXPECT_LT(engine->statistics().virial_defect(), 1e-9);
}

TEST(InelasticCollapse, OfARowOfBallsEnds) {
    const EventsScene scene = collapsing_row();
    const auto engine = scene.engine();
    EXPECT_TRUE(engine->advance(30.0, 1000000));
    EXPECT_LT(engine->totals().kinetic, 0.5);
}

TEST(EventsInput, OfOverlappingBallsIsRefusedByName) {
    EventsScene scene(2, {10.0, 10.0, 0.0}, Face::kPeriodic);
    scene.add(0.5, 1.0, {5.0, 5.0, 0.0}, {});
    scene.add(0.5, 1.0, {0.2, 5.0, 0.0}, {});
    scene.add(0.5, 1.0, {9.9, 5.5, 0.0}, {});
    EXPECT_THAT(message_of<InputError>([&] { static_cast<void>(scene.engine()); }),
                HasSubstr("balls 1 and 2 overlap by 0.416905"));
}

TEST(EventsInput, FrictionWithASimultaneousLawThatHasNoneIsRefused) {
    EventsScene scene(2, {10.0, 10.0, 0.0});
    scene.setup.friction = 0.1;
    EXPECT_THAT(message_of<InputError>([&] { static_cast<void>(scene.engine()); }),
                HasSubstr("physics.simultaneous = \"sequential\""));
}

TEST(EventsLogFile, ReadsBackToTheSameNumbers) {
    const std::string path = testing::TempDir() + "carom_events_log_test.csv";
    EventsScene scene(2, {10.0, 10.0, 0.0});
    scene.setup.friction = 0.3;
    scene.setup.simultaneous = SimultaneousLaw::kSequential;
    scene.add(0.5, 1.0, {3.0, 5.0, 0.0}, {1.0 / 3.0, 0.1, 0.0});
    scene.add(0.5, 1.0, {6.0, 5.2, 0.0}, {-0.7, 0.0, 0.0});
    const auto engine = scene.engine();
    std::vector<LoggedImpact> seen;
    {
        EventsLog log(path, 2);
        engine->set_log([&](const LoggedImpact& impact) {
            log.write(impact);
            seen.push_back(impact);
        });
        engine->advance(20.0, ~0ULL);
        log.flush();
    }
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "time,kind,i,j,vx_i,vy_i,w_i,vx_j,vy_j,w_j");
    ASSERT_GT(seen.size(), 3u);
    for (const LoggedImpact& impact : seen) {
        ASSERT_TRUE(std::getline(file, line));
        std::vector<std::string> cells;
        std::stringstream stream(line + ",");
        for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
        ASSERT_EQ(cells.size(), 10u);
        EXPECT_EQ(std::stod(cells[0]), impact.time);
        EXPECT_EQ(cells[1], impact.what == LoggedImpact::What::kWall ? "wall" : "ball");
        EXPECT_EQ(std::stoul(cells[2]), impact.i);
        EXPECT_EQ(std::stoul(cells[3]), impact.j);
        EXPECT_EQ(std::stod(cells[4]), impact.velocity_i[0]);
        EXPECT_EQ(std::stod(cells[6]), impact.spin_i[2]);
        if (impact.what == LoggedImpact::What::kWall) {
            EXPECT_EQ(cells[7] + cells[8] + cells[9], "");
        } else {
            EXPECT_EQ(std::stod(cells[8]), impact.velocity_j[1]);
        }
    }
    EXPECT_FALSE(std::getline(file, line));
    std::remove(path.c_str());
}

}  // namespace carom::events_contacts_test
