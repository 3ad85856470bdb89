// Impacts, one by one and together, against values computed with 60 digits.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/events/clusters.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"

namespace carom::impacts_test {

using nlohmann::json;

/// Inputs are decimal literals of order 1, so a few roundings; small results of cancellation count absolutely.
constexpr double kTolerance = 1.0e-12;

#define EXPECT_GOLDEN(actual, expected) EXPECT_NEAR(actual, expected, kTolerance* std::max(1.0, std::abs(expected)))

/// A copy: what a range-for takes from a temporary would be gone.
json cases_of(const std::string& name, const std::string& list) {
    json cases = json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/" + name)).at(list);
    EXPECT_GT(cases.size(), 2u) << "a test without cases says nothing";
    return cases;
}

template <int Dim>
Vec<double, Dim> vec(const json& list) {
    Vec<double, Dim> result;
    for (int axis = 0; axis < Dim; ++axis) result[axis] = list.at(axis);
    return result;
}

double inverse(const json& mass) { return mass.is_null() ? 0.0 : 1.0 / mass.get<double>(); }

template <int Dim>
Spin<Dim> spin(const json& value) {
    if constexpr (Dim == 2) {
        return {{value.get<double>()}};
    } else {
        return vec<3>(value);
    }
}

template <int Dim>
ImpactBody<Dim> body(const json& mass, const json& radius, const json& velocity) {
    return {vec<Dim>(velocity), Spin<Dim>::filled(0.0), inverse(mass), radius, 2.0};
}

template <int Dim>
void expect_vec(const Vec<double, Dim>& actual, const json& expected, const char* what) {
    for (int axis = 0; axis < Dim; ++axis) {
        EXPECT_GOLDEN(actual[axis], expected.at(axis).get<double>()) << what << ", axis " << axis;
    }
}

template <int Dim>
Vec<double, Dim> unit(const Vec<double, Dim>& d) {
    return (1.0 / square_root(dot(d, d))) * d;
}

template <int Dim>
void check_binary(const json& c) {
    auto one = body<Dim>(c["m"][0], c["r"][0], c["v"][0]);
    auto two = body<Dim>(c["m"][1], c["r"][1], c["v"][1]);
    const Vec<double, Dim> d = vec<Dim>(c["x"][1]) - vec<Dim>(c["x"][0]);
    const Vec<double, Dim> n = unit(d);
    const double e = c["e"];
    const auto hit = impact(one, two, n, e, 0.0);
    EXPECT_GOLDEN(hit.normal, c["out"]["p"].get<double>());
    EXPECT_GOLDEN(impact_energy_change(one, two, n, hit), c["out"]["dE"].get<double>());
    // The form without a unit normal says the same.
    const double factor =
        impulse_factor(dot(d, two.velocity - one.velocity), dot(d, d), one.inverse_mass + two.inverse_mass, e);
    EXPECT_GOLDEN(factor * std::sqrt(dot(d, d)), c["out"]["p"].get<double>());
    apply_impact(one, two, n, hit);
    expect_vec<Dim>(one.velocity, c["out"]["v"][0], "body 1");
    expect_vec<Dim>(two.velocity, c["out"]["v"][1], "body 2");
}

TEST(Impacts, FrictionlessPairsAreGolden) {
    const json cases = cases_of("binary_frictionless.json", "cases");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["dim"] == 2 ? check_binary<2>(c) : check_binary<3>(c);
    }
}

template <int Dim>
void check_flight(const json& c) {
    const auto x0 = vec<Dim>(c["x"][0]);
    const auto x1 = vec<Dim>(c["x"][1]);
    auto one = body<Dim>(c["m"][0], c["r"][0], c["v"][0]);
    auto two = body<Dim>(c["m"][1], c["r"][1], c["v"][1]);
    const auto found =
        pair_time<double, Dim>(x1 - x0, two.velocity - one.velocity, one.radius + two.radius, 0.0, kNeverTouch);
    EXPECT_GOLDEN(found.time, c["out"]["t_c"].get<double>());
    const auto touch0 = x0 + found.time * one.velocity;
    const auto touch1 = x1 + found.time * two.velocity;
    expect_vec<Dim>(touch0, c["out"]["x_c"][0], "contact 1");
    expect_vec<Dim>(touch1, c["out"]["x_c"][1], "contact 2");
    const auto n = unit(touch1 - touch0);
    apply_impact(one, two, n, impact(one, two, n, c["e"], 0.0));
    expect_vec<Dim>(one.velocity, c["out"]["v"][0], "velocity 1");
    expect_vec<Dim>(two.velocity, c["out"]["v"][1], "velocity 2");
}

TEST(Impacts, FlightsThatEndInAnImpactAreGolden) {
    const json cases = cases_of("binary_frictionless.json", "flight");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["x"][0].size() == 2 ? check_flight<2>(c) : check_flight<3>(c);
    }
}

template <int Dim>
void check_wall(const json& c) {
    auto ball = body<Dim>(c["m"], c["r"], c["v"]);
    ImpactBody<Dim> wall = {Vec<double, Dim>::filled(0.0), Spin<Dim>::filled(0.0), 0.0, 0.0, 0.0};
    const Vec<double, Dim> n = -1.0 * vec<Dim>(c["wall"]["n"]);
    const auto hit = impact(ball, wall, n, c["e"], 0.0);
    EXPECT_GOLDEN(hit.normal, c["out"]["p"].get<double>());
    EXPECT_GOLDEN(impact_energy_change(ball, wall, n, hit), c["out"]["dE"].get<double>());
    apply_impact(ball, wall, n, hit);
    expect_vec<Dim>(ball.velocity, c["out"]["v"], "ball");
}

TEST(Impacts, WallBouncesAreGolden) {
    const json cases = cases_of("wall_bounce.json", "cases");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["dim"] == 2 ? check_wall<2>(c) : check_wall<3>(c);
    }
}

TEST(Impacts, BouncesUnderGravityComeAtTheGoldenTimes) {
    const json cases = cases_of("wall_bounce.json", "drops");
    for (const json& drop : cases) {
        SCOPED_TRACE(drop["id"].get<std::string>());
        const double g = drop["g"];
        double height = drop["h"];
        double speed = 0.0;
        double time = 0.0;
        for (std::size_t k = 0; k < drop["out"]["bounce_times"].size(); ++k) {
            const double flight = plane_time(height, speed, -g);
            time += flight;
            speed = drop["e"].get<double>() * (g * flight - speed);
            height = 0.0;
            EXPECT_GOLDEN(time, drop["out"]["bounce_times"][k].get<double>());
            EXPECT_GOLDEN(speed, drop["out"]["speed_after_bounce"][k].get<double>());
        }
    }
}

template <int Dim>
void check_friction(const json& c) {
    auto one = body<Dim>(c["m"][0], c["r"][0], c["v"][0]);
    auto two = body<Dim>(c["m"][1], c["r"][1], c["m"][1].is_null() ? json{0.0, 0.0, 0.0} : c["v"][1]);
    one.spin = spin<Dim>(c["w"][0]);
    one.inverse_kr2 = 1.0 / c["kr2"][0].get<double>();
    if (!c["m"][1].is_null()) {
        two.spin = spin<Dim>(c["w"][1]);
        two.inverse_kr2 = 1.0 / c["kr2"][1].get<double>();
    }
    const auto n = vec<Dim>(c["n"]);
    const auto hit = impact(one, two, n, c["e"], c["mu"]);
    EXPECT_GOLDEN(hit.normal, c["out"]["pn"].get<double>());
    expect_vec<Dim>(hit.tangential, c["out"]["pt"], "tangential impulse");
    EXPECT_GOLDEN(impact_energy_change(one, two, n, hit), c["out"]["dE"].get<double>());
    expect_vec<Dim>(slip_velocity(one, two, n), c["out"]["slip_before"], "slip before");
    apply_impact(one, two, n, hit);
    expect_vec<Dim>(slip_velocity(one, two, n), c["out"]["slip_after"], "slip after");
    expect_vec<Dim>(one.velocity, c["out"]["v"][0], "velocity 1");
    const Spin<Dim> w = spin<Dim>(c["out"]["w"][0]);
    for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k) EXPECT_GOLDEN(one.spin[k], w[k]);
    if (c["m"][1].is_null()) return;
    expect_vec<Dim>(two.velocity, c["out"]["v"][1], "velocity 2");
    const Spin<Dim> w2 = spin<Dim>(c["out"]["w"][1]);
    for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k) EXPECT_GOLDEN(two.spin[k], w2[k]);
}

TEST(Impacts, FrictionAndSpinAreGolden) {
    const json cases = cases_of("friction.json", "cases");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["dim"] == 2 ? check_friction<2>(c) : check_friction<3>(c);
    }
}

template <int Dim>
void expect_law(const Cluster<Dim>& start, SimultaneousLaw law, const json& velocities, const char* what) {
    Cluster<Dim> cluster = start;
    EXPECT_FALSE(resolve_cluster(cluster, law, 0.0).gave_up) << what;
    for (std::size_t k = 0; k < cluster.bodies.size(); ++k) {
        SCOPED_TRACE("body " + std::to_string(k));
        expect_vec<Dim>(cluster.bodies[k].velocity, velocities.at(k), what);
    }
}

template <int Dim>
void check_double(const json& c) {
    Cluster<Dim> cluster;
    for (int k = 0; k < 3; ++k) cluster.bodies.push_back(body<Dim>(c["m"][k], c["r"][k], c["v"][k]));
    for (int k = 1; k < 3; ++k) {
        cluster.contacts.push_back({0, k, unit(vec<Dim>(c["x"][k]) - vec<Dim>(c["x"][0])), c["e"], 0.0});
    }
    const json& out = c["out"];
    expect_law(cluster, SimultaneousLaw::kBilateral, out["seed_formula"], "bilateral");
    expect_law(cluster, SimultaneousLaw::kNewton, out["newton_lcp"], "newton");
    expect_law(cluster, SimultaneousLaw::kReflect, out["reflect"], "reflect");
    expect_law(cluster, SimultaneousLaw::kSequential, out["sequential"], "sequential");
    std::swap(cluster.contacts[0], cluster.contacts[1]);
    expect_law(cluster, SimultaneousLaw::kSequential, out["sequential_reverse"], "sequential, other order");
    expect_law(cluster, SimultaneousLaw::kReflect, out["reflect"], "reflect, other order");
}

TEST(SimultaneousImpacts, OfThreeBallsAreGolden) {
    const json cases = cases_of("double_collision.json", "cases");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["dim"] == 2 ? check_double<2>(c) : check_double<3>(c);
    }
}

template <int Dim>
void check_cluster(const json& c) {
    Cluster<Dim> cluster;
    const int count = static_cast<int>(c["bodies"].size());
    for (const json& b : c["bodies"]) cluster.bodies.push_back(body<Dim>(b["m"], b["r"], b["v"]));
    for (const json& pair : c["contacts"]) {
        const int i = pair[0];
        const int j = pair[1];
        if (j >= count) {
            cluster.contacts.push_back(
                {i, ClusterContact<Dim>::kWall, -1.0 * unit(vec<Dim>(c["walls"][j - count]["n"])), c["e"], 0.0});
        } else {
            const auto d = vec<Dim>(c["bodies"][j]["x"]) - vec<Dim>(c["bodies"][i]["x"]);
            cluster.contacts.push_back({i, j, unit(d), c["e"], 0.0});
        }
    }
    const json& out = c["out"];
    expect_law(cluster, SimultaneousLaw::kBilateral, out["newton"]["v"], "bilateral");
    expect_law(cluster, SimultaneousLaw::kNewton, out["newton_lcp"]["v"], "newton");
    expect_law(cluster, SimultaneousLaw::kReflect, out["reflect"]["v"], "reflect");
    expect_law(cluster, SimultaneousLaw::kSequential, out["sequential"]["v"], "sequential");
    const double before = c["E_before"];
    Cluster<Dim> copy = cluster;
    EXPECT_GOLDEN(before + resolve_cluster(copy, SimultaneousLaw::kReflect, 0.0).energy_change,
                  out["reflect"]["E"].get<double>());
}

TEST(SimultaneousImpacts, OfCradlesRacksAndCornersAreGolden) {
    const json cases = cases_of("multi_contact.json", "cases");
    for (const json& c : cases) {
        SCOPED_TRACE(c["id"].get<std::string>());
        c["dim"] == 2 ? check_cluster<2>(c) : check_cluster<3>(c);
    }
}

}  // namespace carom::impacts_test
