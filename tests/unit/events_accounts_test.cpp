// Balls in flight and what is counted of them, without an engine: against sums and integrals done the long way.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/events/accounts.hpp"
#include "host/events/flying_balls.hpp"
#include "kernels/core/random.hpp"

namespace carom::events_accounts_test {

/// In (-1, 1).
double draw(std::uint64_t k, int number) {
    return 2.0 * random_words(5, k, RandomPurpose::kShake, static_cast<std::uint64_t>(number)).uniform(0) - 1.0;
}

template <int Dim>
Vec<double, Dim> drawn(std::uint64_t k, int number) {
    Vec<double, Dim> result;
    for (int axis = 0; axis < Dim; ++axis) result[axis] = draw(k, 3 * number + axis);
    return result;
}

/// Kinds: light, heavier, of infinite mass.
Balls some_balls(int dimension, std::size_t count) {
    Balls balls;
    balls.dimension = dimension;
    balls.species_table = {{"a", 0.5, 1.0, 0.3, ""}, {"b", 0.7, 2.5, 0.5, ""}, {"c", 0.2, INFINITY, 0.1, ""}};
    balls.resize(count);
    for (std::size_t id = 0; id < count; ++id) balls.species[id] = id % 11 == 10 ? 2 : id % 2;
    return balls;
}

template <int Dim, bool Gravity>
FlyingBalls<Dim, Gravity> flying(std::size_t count, const Vec<double, Dim>& gravity) {
    FlyingBalls<Dim, Gravity> balls(some_balls(Dim, count), gravity, true);
    for (Slot i = 0; i < count; ++i) {
        for (int axis = 0; axis < Dim; ++axis) {
            balls.hot(i).position[axis] = 5.0 + 4.0 * draw(i, axis);
            balls.hot(i).velocity[axis] = draw(i, 3 + axis);
            balls.image(i)[axis] = static_cast<int>(i) % 5;
        }
        balls.hot(i).time = 0.5 * draw(i, 6);
        ImpactBody<Dim> body = balls.body(i);
        for (int k = 0; k < balls.kTurns; ++k) body.spin[k] = draw(i, 7 + k);
        balls.set_body(i, body);
        balls.set_gone(i, i % 13 == 12);
    }
    return balls;
}

template <int Dim, bool Gravity>
void look_and_move(const Vec<double, Dim>& gravity) {
    auto balls = flying<Dim, Gravity>(50, gravity);
    for (Slot i = 0; i < balls.count(); ++i) {
        const Flight<Dim> seen = balls.at(i, 1.25);
        balls.move(i, 1.25);
        for (int axis = 0; axis < Dim; ++axis) {
            EXPECT_EQ(balls.position(i)[axis], seen.position[axis]);
            EXPECT_EQ(balls.velocity(i)[axis], seen.velocity[axis]);
        }
        EXPECT_EQ(balls.hot(i).time, 1.25);
        EXPECT_EQ(balls.hot(i).radius, balls.body(i).radius);
    }
}

TEST(FlyingBalls, AreSeenWhereTheyMoveTo) {
    look_and_move<2, false>({{0.0, 0.0}});
    look_and_move<3, false>({{0.0, 0.0, 0.0}});
    look_and_move<2, true>({{0.3, -1.0}});
    look_and_move<3, true>({{0.3, -1.0, 0.5}});
}

template <int Dim, bool Gravity>
void compare_totals(const Vec<double, Dim>& gravity) {
    constexpr double kNow = 0.75;
    constexpr double kRounding = 1e-12;  // some 700 terms of order 1
    const auto balls = flying<Dim, Gravity>(701, gravity);
    const Vec<double, Dim> size = Vec<double, Dim>::filled(10.0);
    Totals expected;
    double ways = 0.0;
    double virial = 0.0;
    for (Slot i = 0; i < balls.count(); ++i) {
        if (balls.gone(i)) continue;
        ++expected.balls;
        const auto [place, velocity] = balls.at(i, kNow);
        expected.speed = std::max(expected.speed, std::sqrt(dot(velocity, velocity)));
        if (balls.heavy(i)) continue;
        ++expected.mobile;
        const double mass = 1.0 / balls.inverse_mass(i);
        const ImpactBody<Dim> body = balls.body(i);
        const double inertia = mass * body.radius * body.radius / body.inverse_kr2;
        expected.kinetic += 0.5 * mass * dot(velocity, velocity);
        expected.rotational += 0.5 * inertia * dot(body.spin, body.spin);
        expected.gravitational -= mass * dot(gravity, place);
        const Vec<double, Dim> arm = place - 0.5 * size;
        for (int axis = 0; axis < Dim; ++axis) expected.momentum[axis] += mass * velocity[axis];
        for (int k = Dim == 2 ? 2 : 0; k < 3; ++k) {
            const int a = (k + 1) % 3;
            const int b = (k + 2) % 3;
            expected.angular_momentum[k] +=
                mass * (arm[a] * velocity[b] - arm[b] * velocity[a]) + inertia * body.spin[Dim == 2 ? 0 : k];
        }
        ways += balls.way(i, kNow);
        virial += mass * dot(place, velocity);
    }
    const Totals totals = balls.totals(size, {}, kNow);
    EXPECT_EQ(totals.balls, expected.balls);
    EXPECT_EQ(totals.mobile, expected.mobile);
    EXPECT_NEAR(totals.kinetic, expected.kinetic, kRounding * 1000.0);
    EXPECT_NEAR(totals.rotational, expected.rotational, kRounding * 1000.0);
    EXPECT_NEAR(totals.gravitational, expected.gravitational, kRounding * 10000.0);
    EXPECT_NEAR(totals.speed, expected.speed, kRounding);
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(totals.momentum[k], expected.momentum[k], kRounding * 1000.0);
        EXPECT_NEAR(totals.angular_momentum[k], expected.angular_momentum[k], kRounding * 10000.0);
    }
    EXPECT_EQ(balls.virial(kNow).mobile, expected.mobile);
    EXPECT_NEAR(balls.virial(kNow).sum, virial, kRounding * 10000.0);
    EXPECT_NEAR(balls.ways(kNow, totals.speed), ways, 700.0 * 0x1p-30 * totals.speed * kNow);
    EXPECT_GE(balls.fastest_speed() * (1.0 + kRounding) + std::sqrt(dot(gravity, gravity)) * 1.25, totals.speed);
}

TEST(FlyingBalls, AddUpToTheirTotals) {
    compare_totals<2, false>({{0.0, 0.0}});
    compare_totals<3, false>({{0.0, 0.0, 0.0}});
    compare_totals<2, true>({{0.3, -1.0}});
    compare_totals<3, true>({{0.3, -1.0, 0.5}});
}

// Ids are the user's, slots are memory's: whatever the order in memory, what is told by id has the same bits.
TEST(FlyingBalls, ShowTheSameBitsInAnyOrder) {
    auto balls = flying<3, true>(60, {{0.0, 0.0, -1.0}});
    Box box;
    box.dimension = 3;
    box.size = {10.0, 10.0, 10.0};
    box.faces = {{{Face::kPeriodic, Face::kPeriodic}, {Face::kWall, Face::kWall}, {Face::kPeriodic, Face::kPeriodic}}};
    Frame before;
    Frame after;
    balls.show(before, box, 0.5);
    const Totals totals = balls.totals({{10.0, 10.0, 10.0}}, {}, 0.5);
    std::vector<Slot> order(60);
    for (Slot i = 0; i < 60; ++i) order[i] = (i * 7 + 3) % 60;
    balls.sort(order);
    EXPECT_EQ(balls.id(0), 3u);
    for (Slot i = 0; i < 60; ++i) EXPECT_EQ(balls.slots()[balls.id(i)], i);
    EXPECT_TRUE(std::isnan(balls.hot(60).radius)) << "nobody stays behind the last";
    balls.show(after, box, 0.5);
    EXPECT_EQ(state_hash(before), state_hash(after));
    EXPECT_EQ(before.image, after.image);
    EXPECT_EQ(before.gone, after.gone);
    EXPECT_EQ(balls.totals({{10.0, 10.0, 10.0}}, {}, 0.5).kinetic, totals.kinetic);
}

/// Point masses in a field that kick each other, walls, and thermostats, with the accounts that an engine would keep.
template <int Dim>
class Kicks {
public:
    explicit Kicks(bool forgetful) : accounts_(7, gravity()), forgetful_(forgetful) {
        for (std::uint64_t i = 0; i < kCount; ++i) {
            balls_.push_back({drawn<Dim>(i, 0), drawn<Dim>(i, 1)});
            accounts_.enter(mass(i), balls_[i].position, balls_[i].velocity);
        }
    }

    void run(std::uint64_t events) {
        for (std::uint64_t k = 0; k < events; ++k) {
            fly(0.5 + 0.4 * draw(100 + k, 0));
            const auto i = static_cast<std::size_t>(kCount * (0.5 + 0.5 * draw(100 + k, 1)));
            const std::size_t j = (i + 1 + k % (kCount - 1)) % kCount;
            const Vec<double, Dim> impulse = drawn<Dim>(100 + k, 4);
            if (k % 3 == 0) {
                const Vec<double, Dim> d = balls_[j].position - balls_[i].position;
                push(i, -1.0 * impulse);
                push(j, impulse);
                accounts_.pair(d, impulse);
            } else if (k % 3 == 1) {
                push(i, impulse);
                accounts_.wall(6, (1.0 / std::sqrt(dot(impulse, impulse))) * impulse, balls_[i].position, impulse);
                pushed_ += std::sqrt(dot(impulse, impulse));
            } else if (k % 2 == 0) {
                push(i, impulse);
                accounts_.thermostat(balls_[i].position, (1.0 / mass(i)) * impulse, 1.0 / mass(i), 0.0);
            } else {
                balls_[i].position[0] += 20.0;
                if (!forgetful_) accounts_.jump(20.0, balls_[i].velocity[0], 1.0 / mass(i));
            }
            if (k % 40 == 39) {
                accounts_.begin_epoch(now_, 0.0);
                now_ = 0.0;
            }
        }
    }

    /// The end of the run, with sum r . p as it is then.
    [[nodiscard]] EventsStatistics statistics() const {
        EventsStatistics result = accounts_.statistics(now_, elapsed_);
        for (std::size_t i = 0; i < kCount; ++i) {
            result.virial_now += mass(i) * dot(balls_[i].position, balls_[i].velocity);
        }
        return result;
    }
    [[nodiscard]] double twice_kinetic_time() const { return twice_kinetic_time_; }
    [[nodiscard]] double pushed() const { return pushed_; }
    [[nodiscard]] const Tallies& tallies() const { return accounts_.tallies(); }

private:
    static constexpr std::size_t kCount = 9;
    static double mass(std::size_t i) { return 1.0 + 0.5 * static_cast<double>(i % 3); }
    static Vec<double, Dim> gravity() {
        Vec<double, Dim> g = Vec<double, Dim>::filled(0.0);
        g[1] = -0.1;
        return g;
    }

    void fly(double time) {
        now_ += time;
        elapsed_ += time;
        for (std::size_t i = 0; i < kCount; ++i) {
            auto& [position, velocity] = balls_[i];
            // Simpson's rule is exact for a parabola.
            const Vec<double, Dim> middle = velocity + (0.5 * time) * gravity();
            const Vec<double, Dim> end = velocity + time * gravity();
            twice_kinetic_time_ +=
                mass(i) * time / 6.0 * (dot(velocity, velocity) + 4.0 * dot(middle, middle) + dot(end, end));
            position = position + time * velocity + (0.5 * time * time) * gravity();
            velocity = end;
        }
    }
    void push(std::size_t i, const Vec<double, Dim>& impulse) {
        const Vec<double, Dim> before = balls_[i].velocity;
        balls_[i].velocity = before + (1.0 / mass(i)) * impulse;
        accounts_.change(now_, mass(i), before, balls_[i].velocity);
    }

    std::vector<Flight<Dim>> balls_;
    Accounts<Dim> accounts_;
    bool forgetful_;
    double now_ = 0.0;
    double elapsed_ = 0.0;
    double twice_kinetic_time_ = 0.0;
    double pushed_ = 0.0;
};

template <int Dim>
void keep_the_identity() {
    Kicks<Dim> kicks(false);
    kicks.run(300);
    const EventsStatistics counted = kicks.statistics();
    EXPECT_LT(counted.virial_defect(), 1e-12);
    EXPECT_NEAR(counted.twice_kinetic_time / kicks.twice_kinetic_time(), 1.0, 1e-12);
    double trace = 0.0;
    for (int axis = 0; axis < Dim; ++axis) trace += counted.collisional_stress[axis];
    EXPECT_NEAR(trace, counted.collisional_virial, 1e-12 * std::abs(trace) + 1e-12);
    EXPECT_EQ(counted.ball_collisions, 100u);
    EXPECT_EQ(counted.wall_collisions, 100u);
    EXPECT_EQ(kicks.tallies().collisions, 200u);
    EXPECT_NEAR(kicks.tallies().wall_impulse[6], kicks.pushed(), 1e-12 * kicks.pushed());

    Kicks<Dim> forgetful(true);
    forgetful.run(300);
    EXPECT_GT(forgetful.statistics().virial_defect(), 1e-6) << "what is not told shows";
}

TEST(Accounts, KeepTheVirialIdentityOfWhateverTheyAreTold) {
    keep_the_identity<2>();
    keep_the_identity<3>();
}

TEST(Accounts, BalanceWhatLeavesWithABall) {
    const Vec<double, 2> g{{0.0, -2.0}};
    Accounts<2> accounts(6, g);
    accounts.enter(3.0, {{1.0, 5.0}}, {{2.0, 0.0}});
    accounts.leave(0.0, 3.0, {{1.0, 5.0}}, {{2.0, 0.0}}, 0.25);
    EXPECT_EQ(*accounts.tallies().lost, 0.5 * 3.0 * 4.0 + 3.0 * 2.0 * 5.0 + 0.25);
    EXPECT_EQ(accounts.tallies().balls_left, 1u);
    EXPECT_EQ(accounts.counted().virial_start, 0.0);
    EXPECT_EQ(accounts.flow().twice_kinetic, 0.0);
    EXPECT_EQ(accounts.flow().mass, 0.0);
    accounts.flow().advance(10.0, g);
    EXPECT_EQ(accounts.flow().twice_kinetic_time, 0.0) << "nothing is left that moves";
}

TEST(ImpactLog, TellsOfTheBallsAskedForInTheOrderOfIds) {
    ImpactLog log;
    EXPECT_FALSE(log.hears(0));
    std::vector<LoggedImpact> heard;
    log.listen([&heard](const LoggedImpact& impact) { heard.push_back(impact); }, {0, 1, 0});
    EXPECT_FALSE(log.hears(0));
    EXPECT_TRUE(log.hears(1));
    const ImpactBody<2> one{{{1.0, 2.0}}, {{3.0}}, 1.0, 0.5, 2.0};
    const ImpactBody<2> two{{{4.0, 5.0}}, {{6.0}}, 1.0, 0.5, 2.0};
    log.pair(0.5, 2, one, 1, two);
    log.wall(0.75, 1, one, 4);
    log.other(LoggedImpact::What::kThermostat, 1.0, 1, two);
    ASSERT_EQ(heard.size(), 3u);
    EXPECT_EQ(heard[0].i, 1u);
    EXPECT_EQ(heard[0].j, 2u);
    EXPECT_EQ(heard[0].velocity_i, (Vector3{4.0, 5.0, 0.0}));
    EXPECT_EQ(heard[0].spin_j, (Vector3{0.0, 0.0, 3.0}));
    EXPECT_EQ(heard[1].what, LoggedImpact::What::kWall);
    EXPECT_EQ(heard[1].j, 4u);
    EXPECT_EQ(heard[2].what, LoggedImpact::What::kThermostat);
    EXPECT_EQ(heard[2].time, 1.0);
}

}  // namespace carom::events_accounts_test
