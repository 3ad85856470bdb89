#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "host/plot/letters.hpp"
#include "host/scene/load.hpp"
#include "host/viewer/chart.hpp"
#include "host/window/charts.hpp"
#include "host/window/view.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom::live_parts_test {

double width(const Distribution& d) { return d.most / static_cast<double>(d.counted.size()); }
double area(const std::vector<double>& density, double bin) {
    return bin * std::accumulate(density.begin(), density.end(), 0.0);
}

/// Balls whose velocities and heights are quantiles of the laws: what is counted is then the law, but for the bins.
struct Ideal {
    explicit Ideal(int dimension)
        : scene(parse_scene(dimension == 2 ? "[scene]\ndimension = 2\n[box]\nsize = [10, 8]\n"
                                             "[physics]\ngravity = [0, -1.5]\n"
                                           : "[scene]\ndimension = 3\n[box]\nsize = [10, 10, 8]\n"
                                             "[physics]\ngravity = [0, 0, -1.5]\n",
                            "test.toml")) {
        balls.dimension = dimension;
        balls.species_table.push_back({.name = "a", .radius = 0.1, .mass = kMass});
        balls.species.assign(kCount, 0);
        frame.resize(dimension, kCount);
        std::vector<double> speeds(kCount);
        for (std::size_t id = 0; id < kCount; ++id) {
            const double share = (static_cast<double>(id) + 0.5) / kCount;
            double low = 0.0;
            double high = 10.0;
            for (int k = 0; k < 60; ++k) {
                const double middle = 0.5 * (low + high);
                (maxwell_speed_share(dimension, middle) < share ? low : high) = middle;
            }
            frame.velocity[0][id] = low * std::sqrt(kTemperature / kMass);
            const double scale_height = kTemperature / (kMass * 1.5);
            frame.position[dimension - 1][id] = -scale_height * std::log1p(share * std::expm1(-8.0 / scale_height));
        }
    }

    static constexpr std::size_t kCount = 20000;
    static constexpr double kMass = 2.0;
    static constexpr double kTemperature = 3.0;
    Scene scene;
    Balls balls;
    Frame frame;
};

TEST(SpeedDistribution, MeetsMaxwellAndBoltzmannsLaw) {
    for (const int dimension : {2, 3}) {
        const Ideal gas(dimension);
        const Distribution d = speed_distribution(gas.balls, gas.frame);
        ASSERT_EQ(d.theory.size(), d.counted.size());
        EXPECT_NEAR(area(d.counted, width(d)), 1.0, 0.003);  // up to the few beyond the axis
        EXPECT_NEAR(area(d.theory, width(d)), 1.0, 0.005);
        // The middle of a bin against its mean: second derivative times width^2 / 24, and one ball at either edge.
        const double most = *std::max_element(d.theory.begin(), d.theory.end());
        for (std::size_t bin = 0; bin < d.counted.size(); ++bin)
            EXPECT_NEAR(d.counted[bin], d.theory[bin], 0.02 * most);
    }
}

TEST(HeightDistribution, MeetsTheBarometricFormula) {
    for (const int dimension : {2, 3}) {
        const Ideal gas(dimension);
        const Distribution d = height_distribution(gas.scene, gas.balls, gas.frame);
        ASSERT_EQ(d.theory.size(), d.counted.size());
        EXPECT_DOUBLE_EQ(d.most, 8.0);
        EXPECT_NEAR(area(d.counted, width(d)), 1.0, 1e-9);
        for (std::size_t bin = 0; bin < d.counted.size(); ++bin) {
            EXPECT_NEAR(d.counted[bin], d.theory[bin], 0.02 * d.theory[0]);
        }
    }
}

TEST(HeightDistribution, HasNoTheoryWithoutGravity) {
    Ideal gas(2);
    gas.scene.physics.gravity = {};
    EXPECT_TRUE(height_distribution(gas.scene, gas.balls, gas.frame).theory.empty());
}

TEST(BarometricDensity, IsNormalAndFallsByEInAScaleHeight) {
    double sum = 0.0;
    constexpr int kSteps = 10000;
    constexpr double kTop = 3.0;
    for (int k = 0; k < kSteps; ++k) sum += barometric_density((k + 0.5) * kTop / kSteps, kTop) * kTop / kSteps;
    EXPECT_NEAR(sum, 1.0, 1e-7);  // midpoint rule: (top / steps)^2 / 24
    EXPECT_NEAR(barometric_density(0.5, kTop) / barometric_density(1.5, kTop), std::exp(1.0), 1e-14);
    EXPECT_EQ(barometric_density(-0.1, kTop), 0.0);
    EXPECT_EQ(barometric_density(3.1, kTop), 0.0);
}

/// Two spheres, one before the other.
TEST(BallAt, IsTheNearestThatIsSeen) {
    const Scene scene = parse_scene("[scene]\ndimension = 3\n[box]\nsize = [10, 10, 10]\n", "test.toml");
    const Camera camera(scene, Viewport{.width = 800, .height = 600});
    const Vector3& back = camera.back();
    Balls balls;
    balls.dimension = 3;
    balls.species_table = {Species{.radius = 1.0, .mass = 1.0}};
    balls.resize(2);
    Frame frame;
    frame.resize(3, 2);
    double along = 0.0;  // of the box's middle, on the way to the eye
    for (int axis = 0; axis < 3; ++axis) {
        frame.position[axis] = {5.0 - 3.0 * back[axis], 5.0 + 3.0 * back[axis]};
        along += 5.0 * back[axis];
    }
    const PicturePlace middle = camera.project({5.0, 5.0, 5.0});
    const auto seen = [&](const std::vector<ClipPlane>& clips) {
        return ball_at(frame, balls, camera, clips, middle.x, middle.y);
    };
    EXPECT_EQ(seen({}), std::optional<std::size_t>(1));
    EXPECT_EQ(seen({{{}, 1.0}, {back, along}}), std::optional<std::size_t>(0));  // the half at the eye is cut off
    EXPECT_EQ(seen({{back, along - 4.0}}), std::nullopt);
    EXPECT_EQ(ball_at(frame, balls, camera, {}, 5.0, 5.0), std::nullopt);
}

/// In perspective what lies behind the eye would be seen through it.
TEST(BallAt, IsNoneBehindTheEye) {
    const Scene scene = parse_scene("[scene]\ndimension = 3\n[box]\nsize = [10, 10, 10]\n", "test.toml");
    Camera camera(scene, Viewport{.width = 800, .height = 600});
    camera.set_perspective(true);
    Balls balls;
    balls.dimension = 3;
    balls.species_table = {Species{.radius = 1.0, .mass = 1.0}};
    balls.resize(1);
    Frame frame;
    frame.resize(3, 1);
    const PicturePlace middle = camera.project({5.0, 5.0, 5.0});
    const auto seen = [&](double towards_eye) {
        for (int axis = 0; axis < 3; ++axis) frame.position[axis] = {5.0 + towards_eye * camera.back()[axis]};
        return ball_at(frame, balls, camera, {}, middle.x, middle.y).has_value();
    };
    EXPECT_TRUE(seen(0.1 * camera.distance()));
    EXPECT_FALSE(seen(1.5 * camera.distance()));
}

TEST(RateMeter, CountsTimesNotRatios) {
    RateMeter pictures;
    pictures.add(1.0, 0.2);
    EXPECT_EQ(pictures.rate(), 0.0);  // too little to say
    for (int k = 0; k < 50; ++k) {
        pictures.add(1.0, 0.01);
        pictures.add(1.0, 0.19);
    }
    EXPECT_NEAR(pictures.rate(), 10.0, 1.0);  // the mean of 1 / dt would be 53; the last one weighs a little more
    for (int k = 0; k < 50; ++k) pictures.add(1.0, 0.1);
    pictures.add(0.0, 5.0);
    EXPECT_LT(pictures.rate(), 0.1);  // what was more than a second ago is forgotten
    pictures.forget();
    EXPECT_EQ(pictures.rate(), 0.0);
}

TEST(OutlineOf, KeepsTheExtremesOfEachColumnInTheOrderOfTime) {
    std::vector<double> x;
    std::vector<double> y;
    constexpr int kRows = 100000;
    for (int k = 0; k < kRows; ++k) {
        x.push_back(0.01 * k);
        y.push_back(std::sin(1e-4 * k));
    }
    y[51234] = 7.0;
    y[51235] = -7.0;
    y[70000] = std::nan("");
    const auto outline = outline_of(x, y, 100);
    EXPECT_LE(outline.size(), 2u * 102u);
    EXPECT_EQ(outline.front().first, 0.0);
    EXPECT_EQ(outline.back().first, x.back());
    EXPECT_TRUE(std::ranges::is_sorted(outline, {}, &std::pair<double, double>::first));
    EXPECT_EQ(std::ranges::count(outline, std::pair{512.34, 7.0}), 1);
    EXPECT_EQ(std::ranges::count(outline, std::pair{512.35, -7.0}), 1);
    EXPECT_TRUE(std::ranges::all_of(outline, [](const auto& point) { return std::isfinite(point.second); }));
    EXPECT_EQ(outline_of(std::vector{2.0}, std::vector{3.0}, 100),
              (std::vector<std::pair<double, double>>{{2.0, 3.0}}));
}

TEST(OutlineOf, BreaksWhereRowsHaveNoValue) {
    const double none = std::nan("");
    const auto outline = outline_of(std::vector{0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0},
                                    std::vector{none, 1.0, 2.0, none, none, 5.0, 6.0, none}, 100);
    ASSERT_EQ(outline.size(), 6u);
    for (const std::size_t k : {2u, 5u}) EXPECT_TRUE(std::isnan(outline[k].second)) << k;
    for (const std::size_t k : {0u, 1u, 3u, 4u}) EXPECT_EQ(outline[k].second, outline[k].first) << k;
    EXPECT_EQ(outline[3].first, 5.0);
    Figure figure;
    figure.curves.push_back({.x = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}, .y = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}});
    const auto lines_of = [&] {
        LineList lines;
        add_chart(lines, figure, {.right = 300.0f, .bottom = 200.0f}, kDarkTheme, 1.0f, std::nullopt);
        return lines.lines().size();
    };
    const std::size_t whole = lines_of();
    figure.curves[0].y[3] = none;
    EXPECT_EQ(lines_of(), whole - 2);
}

TEST(History, ForgetsWhatWasLaterAndReachesBackToTheStart) {
    History history(2);
    const auto add = [&](double time, double a, double b) { history.add(time, std::array{a, b}); };
    for (const double time : {0.0, 1.0, 2.0, 3.0}) add(time, 1.0, 2.0);
    add(1.5, 5.0, 6.0);  // a kick was undone
    ASSERT_EQ(history.times().size(), 3u);
    EXPECT_EQ(history.times()[1], 1.0);
    EXPECT_EQ(history.column(1)[2], 6.0);
    add(1.5, 7.0, 8.0);  // kicked while it stands
    ASSERT_EQ(history.times().size(), 3u);
    EXPECT_EQ(history.column(1)[2], 8.0);
    for (int k = 2; k < 100000; ++k) add(k, k, -k);
    EXPECT_LE(history.times().size(), 4001u);
    EXPECT_EQ(history.times().front(), 0.0);
    EXPECT_EQ(history.times().back(), 99999.0);
    EXPECT_EQ(history.column(0).back(), 99999.0);
    ASSERT_EQ(history.column(1).size(), history.times().size());
    for (std::size_t k = 3; k < history.times().size(); ++k) ASSERT_EQ(history.column(1)[k], -history.times()[k]);
}

TEST(Ticks, AreRoundNumbersThatCanBeTold) {
    const auto texts = [](double low, double high, int most = 4, bool logarithmic = false) {
        std::vector<std::string> all;
        for (const auto& [value, text] : ticks_of(low, high, most, logarithmic).marks) all.push_back(text);
        return all;
    };
    EXPECT_EQ(texts(0.0, 1.0), (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
    EXPECT_EQ(texts(-3.1, 7.2), (std::vector<std::string>{"-2", "0", "2", "4", "6"}));
    EXPECT_EQ(texts(106212.0, 106214.0),
              (std::vector<std::string>{"106212", "106212.5", "106213", "106213.5", "106214"}));
    EXPECT_EQ(texts(-2.0, 3.0, 4, true), (std::vector<std::string>{"1e-2", "1e0", "1e2"}));
    // What differs in the last digits alone is told from a common number.
    const Ticks close = ticks_of(1000000.00001, 1000000.00009, 4, false);
    EXPECT_EQ(close.from, "1000000.00002");
    ASSERT_EQ(close.marks.size(), 4u);
    EXPECT_EQ(close.marks[0].second, "0");
    EXPECT_EQ(close.marks[1].second, "2e-05");
    EXPECT_TRUE(texts(1.0, 1.0).empty());
    EXPECT_TRUE(texts(0.0, std::nan("")).empty());
}

TEST(ChartLabels, HaveExponentsWhereThereAreLettersForThem) {
    EXPECT_EQ(chart_label("speed", "m s-1", {}), Letters::there() ? "speed [m·s⁻¹]" : "speed [m s-1]");
    EXPECT_EQ(chart_label("contacts", "", {}), "contacts");
}

TEST(BallHistory, IsTheSpeedAndTheEnergyOfOneBall) {
    const Scene scene = parse_scene("[scene]\ndimension = 2\n[box]\nsize = [10, 10]\n", "test.toml");
    Balls balls;
    balls.dimension = 2;
    balls.species_table = {Species{.radius = 1.0, .mass = 2.0, .radius_of_gyration = 0.5}};
    balls.resize(2);
    Frame frame;
    frame.resize(2, 2);
    BallHistory history;
    history.watch(1);
    for (int k = 0; k < 3; ++k) {
        frame.time = k;
        frame.velocity[0][1] = 3.0 * k;
        frame.velocity[1][1] = 4.0 * k;
        frame.spin[2][1] = 2.0;
        history.add(balls, frame);
    }
    const Figure speed = history.speed(scene);
    ASSERT_EQ(speed.curves.size(), 1u);
    EXPECT_EQ(speed.curves[0].x, (std::vector<double>{0.0, 1.0, 2.0}));
    EXPECT_EQ(speed.curves[0].y, (std::vector<double>{0.0, 5.0, 10.0}));
    EXPECT_EQ(speed.y_label, "speed of ball 1");
    const std::vector<double> energy = history.energy(scene).curves[0].y;
    EXPECT_DOUBLE_EQ(energy[0], 0.5 * 2.0 * 0.25 * 4.0);  // of the spin alone
    EXPECT_DOUBLE_EQ(energy[2], 100.0 + 1.0);
    history.watch(1);
    EXPECT_EQ(history.speed(scene).curves[0].x.size(), 3u);
    history.watch(0);
    EXPECT_TRUE(history.speed(scene).curves[0].x.empty());
}

}  // namespace carom::live_parts_test
