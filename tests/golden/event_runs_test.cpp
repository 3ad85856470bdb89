// Whole event-driven runs against lists of events computed with 40 digits.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/events_gas.hpp"

namespace carom::event_runs_test {

using nlohmann::json;
using test::EventsScene;

json golden(const std::string& name) { return json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/" + name)); }

Vector3 vector3(const json& list) {
    Vector3 result{};
    for (std::size_t axis = 0; axis < list.size(); ++axis) result[axis] = list[axis];
    return result;
}

EventsScene scene_of(const json& s) {
    EventsScene scene(s["dim"], vector3(s["L"]));
    if (!s["g"].is_null()) scene.setup.gravity = vector3(s["g"]);
    scene.setup.restitution = scene.setup.wall_restitution = s["e"];
    scene.setup.friction = scene.setup.wall_friction = s["mu"];
    if (scene.setup.friction > 0.0) scene.setup.simultaneous = SimultaneousLaw::kSequential;
    for (const json& ball : s["balls"]) {
        const Vector3 spin = ball["w"].is_array() ? vector3(ball["w"]) : Vector3{0.0, 0.0, ball["w"]};
        scene.add(ball["r"], ball["m"], vector3(ball["x"]), vector3(ball["v"]), spin, s["kr2"]);
    }
    return scene;
}

class GoldenEvents : public testing::TestWithParam<int> {};

TEST_P(GoldenEvents, ComeInTheSameOrderAtTheSameTimes) {
    const json s = golden("events.json")["scenes"].at(GetParam());
    SCOPED_TRACE(s["id"].get<std::string>());
    const EventsScene scene = scene_of(s);
    const auto engine = scene.engine();
    std::vector<LoggedImpact> log;
    engine->set_log([&](const LoggedImpact& impact) { log.push_back(impact); });
    ASSERT_TRUE(engine->advance(s["out"]["T"], ~0ULL));
    const json& events = s["out"]["events"];
    ASSERT_GE(log.size(), events.size());
    double worst = 0.0;
    for (std::size_t k = 0; k < events.size(); ++k) {
        const json& event = events[k];
        SCOPED_TRACE("event " + std::to_string(k));
        ASSERT_EQ(log[k].what == LoggedImpact::What::kWall, event["type"] == "wall");
        ASSERT_EQ(log[k].i, event["i"].get<std::uint32_t>());
        ASSERT_EQ(log[k].j, event["j"].get<std::uint32_t>());
        // PHYSICS: the errors grow with every collision; a plain double precision run's own error sets the scale.
        const double deviation = event["f64_time_dev"];
        EXPECT_NEAR(log[k].time, event["t"].get<double>(), std::max(1.0e-11, 100.0 * deviation));
        const double tolerance = std::max(1.0e-10, 1000.0 * deviation);
        for (int axis = 0; axis < scene.dimension(); ++axis) {
            EXPECT_NEAR(log[k].velocity_i[axis], event["v_i"][axis].get<double>(), tolerance);
            if (log[k].what == LoggedImpact::What::kBall) {
                EXPECT_NEAR(log[k].velocity_j[axis], event["v_j"][axis].get<double>(), tolerance);
            }
        }
        if (event.contains("w_i") && event["w_i"].is_number()) {
            EXPECT_NEAR(log[k].spin_i[2], event["w_i"].get<double>(), tolerance);
        }
        worst = std::max(worst, std::abs(log[k].time - event["t"].get<double>()));
    }
    RecordProperty("worst_time_error", std::to_string(worst));
    const Totals totals = engine->totals();
    EXPECT_NEAR(totals.energy(), s["out"]["E_T"].get<double>(), 1.0e-7);
    EXPECT_LT(engine->statistics().virial_defect(), 1.0e-9);
}

INSTANTIATE_TEST_SUITE_P(Scenes, GoldenEvents, testing::Range(0, 6));

/// Pins touched, by number, and the order of the collisions.
struct Throw {
    std::set<int> felled;
    std::vector<std::pair<int, int>> order;
};

Throw throw_ball(const json& deck, const json& variant, double y, double psi) {
    EventsScene scene(2, {1000.0, 1000.0, 0.0}, Face::kOpen);
    scene.setup.restitution = std::stod(variant["e"].get<std::string>());
    // The variant that always sticks: friction without limit.
    const bool sticks = variant["law"] == "stick";
    scene.setup.friction = sticks ? 1.0e9 : std::stod(variant["mu"].get<std::string>());
    if (scene.setup.friction > 0.0) scene.setup.simultaneous = SimultaneousLaw::kSequential;
    const json& geometry = deck["geometry"];
    const double r_ball = geometry["r_ball"];
    const double r_pin = geometry["r_pin"];
    scene.setup.box.min = {-500.0, -500.0, 0.0};
    const double angle = psi * M_PI / 180.0;
    const double speed = deck["speed"];
    scene.add(r_ball, deck["m_ball"], {-(r_ball + r_pin), y, 0.0},
              {speed * std::cos(angle), speed * std::sin(angle), 0.0});
    for (int pin = 1; pin <= 10; ++pin) {
        scene.add(r_pin, deck["m_pin"], vector3(geometry["pins"][std::to_string(pin)]), {});
    }
    const auto engine = scene.engine();
    Throw result;
    engine->set_log([&](const LoggedImpact& impact) {
        if (!impact.is_contact()) return;
        result.order.emplace_back(impact.i, impact.j);
        if (impact.i > 0) result.felled.insert(static_cast<int>(impact.i));
        if (impact.j > 0) result.felled.insert(static_cast<int>(impact.j));
    });
    engine->advance(60.0, ~0ULL);
    return result;
}

class Pinfall : public testing::TestWithParam<int> {};

TEST_P(Pinfall, IsGoldenInAllCells) {
    const json deck = golden("pinfall.json");
    const json& variant = deck["variants"].at(GetParam());
    SCOPED_TRACE(variant["id"].get<std::string>());
    for (std::size_t row = 0; row < deck["y"].size(); ++row) {
        for (std::size_t column = 0; column < deck["psi_deg"].size(); ++column) {
            SCOPED_TRACE("position " + std::to_string(row) + ", angle " + std::to_string(column));
            const Throw thrown = throw_ball(deck, variant, deck["y"][row], deck["psi_deg"][column]);
            EXPECT_EQ(thrown.felled, variant["felled"][row][column].get<std::set<int>>());
            if (!variant["float64_same_sequence"][row][column].get<bool>()) continue;
            const auto order = variant["collision_order"][row][column].get<std::vector<std::pair<int, int>>>();
            EXPECT_EQ(thrown.order, order);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, Pinfall, testing::Range(0, 4));

}  // namespace carom::event_runs_test
