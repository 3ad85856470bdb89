#include <cmath>
#include <random>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/boundaries.hpp"
#include "tests/support/kinds.hpp"

// What every registered shape of a wall owes: its gap is a distance, and a ball that a scene throws at it turns back
// where the gap is the ball's radius, by either solver and on every processor.

namespace carom::test::wall_shape_test {

constexpr double kRadius = 0.1;  // of the ball that is thrown

class ShapeInAScene : public KindInAScene {
protected:
    /// A box of edge 10 around the origin with nothing in it but the wall; for each side of it that there is a scene.
    [[nodiscard]] std::vector<std::string> scenes() const {
        std::vector<std::string> texts;
        for (const std::string& lines : required_lines("wall", kind(), dimension())) {
            texts.push_back(of_dimension(dimension(), R"(
[scene]
dimension = <2|3>
[box]
min = [-5.0, -5.0<|, -5.0>]
size = [10.0, 10.0<|, 10.0>]
boundary = ["open", "open"<|, "open">]
[spring]
max_overlap = 0.004
[output]
every = 0
[[wall]]
shape = ")") + kind() + "\"\n" +
                            lines);
        }
        return texts;
    }
    /// f(wall, scene) for each; a shape that is of space alone is refused in the plane.
    template <class F>
    void with_walls(const F& f) const {
        const int least =
            WallShapes<3>::with_type(shape_number(kind()), []<class Shape>() { return Shape::kLeastDimension; });
        for (const std::string& text : scenes()) {
            SCOPED_TRACE(text);
            if (dimension() < least) {
                EXPECT_THROW(parse_scene(text, "test.toml", {}), InputError);
                continue;
            }
            const Scene scene = parse_scene(text, "test.toml", {});
            ASSERT_EQ(scene.walls.size(), 1U);
            if (dimension() == 2) {
                f(make_boundary<2>(scene.walls[0], WallNumber::entry(0)), text);
            } else {
                f(make_boundary<3>(scene.walls[0], WallNumber::entry(0)), text);
            }
        }
    }
};

template <int Dim>
WallGap<Dim> gap_at(const Boundary<Dim>& wall, const Vec<double, Dim>& place) {
    return wall.gap(place - wall.reference, 0.0);
}

template <int Dim>
Vec<double, Dim> anywhere(std::mt19937_64& random, double edge) {
    Vec<double, Dim> place;
    for (int axis = 0; axis < Dim; ++axis) place[axis] = std::uniform_real_distribution<double>(-edge, edge)(random);
    return place;
}

/// A ball near the wall that flies onto it at an angle, and what must come of that.
template <int Dim>
struct Throw {
    Vec<double, Dim> from, velocity;
    double time = 0.0;  ///< at which it touches
    Vec<double, Dim> after;

    Throw(const Boundary<Dim>& wall, std::mt19937_64& random) {
        WallGap<Dim> gap;
        do {
            from = anywhere<Dim>(random, 4.5);
            gap = gap_at(wall, from);
            from = from - (gap.distance - 2.0 * kRadius) * gap.normal;
        } while (gap.distance < 0.0 || !inside(from) || std::abs(gap_at(wall, from).distance - 2.0 * kRadius) > 1e-12);
        velocity = anywhere<Dim>(random, 0.3);
        velocity = velocity - (1.0 + dot(velocity, gap.normal)) * gap.normal;
        double late = 0.0;
        while (gap_at(wall, from + late * velocity).distance > kRadius) late += 1e-3;
        double early = late - 1e-3;
        for (int k = 0; k < 60; ++k) {
            time = 0.5 * (early + late);
            (gap_at(wall, from + time * velocity).distance > kRadius ? early : late) = time;
        }
        const auto normal = gap_at(wall, from + time * velocity).normal;
        after = velocity - 2.0 * dot(velocity, normal) * normal;
    }
    static bool inside(const Vec<double, Dim>& place) {
        for (int axis = 0; axis < Dim; ++axis) {
            if (std::abs(place[axis]) > 4.0) return false;
        }
        return true;
    }
    [[nodiscard]] std::string scene(const std::string& wall, const std::string& solver) const {
        const auto list = [](const Vec<double, Dim>& v) {
            std::string text = "[";
            for (int axis = 0; axis < Dim; ++axis) text += (axis == 0 ? "" : ", ") + fmt::format("{:.17e}", v[axis]);
            return text + "]\n";
        };
        return wall + fmt::format("[[ball]]\nradius = {}\nmass = 2.0\n", kRadius) + "position = " + list(from) +
               "velocity = " + list(velocity) +
               fmt::format("[run]\nsolver = \"{}\"\nuntil = {:.17e}\n", solver, 1.5 * time) +
               "precision = \"double\"\nbackend = \"cpu\"\n";
    }
};

/// Contacts of soft balls last 50 steps, h = pi / 50, with an error of h^2 / 8 of the speed; and while one lasts, the
/// normal of a curved wall turns, by duration (1e-3) times speed (0.5 along the wall) over the wall's radius (3),
/// twice.
constexpr double kSoft = 5e-4 + 4e-4;

template <int Dim>
void expect_throws_to_return(const Boundary<Dim>& wall, const std::string& text) {
    std::mt19937_64 random(2);
    for (int k = 0; k < 3; ++k) {
        const Throw<Dim> ball(wall, random);
        for (const std::string solver : {"events", "spring"}) {
            for (const Processor& processor : usual_processors()) {
                if (solver == "events" && processor.name != "cpu1") continue;  // it knows no others
                SCOPED_TRACE(solver + " on " + processor.name);
                DrivenRun run(ball.scene(text, solver), {}, processor);
                run.to(run.solver().reachable_time(0.98 * ball.time));
                for (int axis = 0; axis < Dim; ++axis) {
                    EXPECT_NEAR(run.frame().velocity[axis][0], ball.velocity[axis], 1e-15) << "before it touches";
                }
                run.to(run.solver().reachable_time(1.1 * ball.time));
                for (int axis = 0; axis < Dim; ++axis) {
                    EXPECT_NEAR(run.frame().velocity[axis][0], ball.after[axis], solver == "events" ? 1e-11 : kSoft);
                }
            }
        }
    }
}

TEST_P(ShapeInAScene, TurnsABallBackWhereItsGapSays) {
    with_walls([](const auto& wall, const std::string& text) { expect_throws_to_return(wall, text); });
}

TEST_P(ShapeInAScene, IsTheSameForTheProgramAndOnEachProcessor) {
    with_walls([]<int Dim>(const Boundary<Dim>& wall, const std::string& text) {
        std::mt19937_64 random(3);
        const Throw<Dim> ball(wall, random);
        for (const std::string solver : {"events", "spring"}) expect_same_run(ball.scene(text, solver));
    });
}

/// Whether the two faces of the box across `axis` are on the same side of the wall, place by place: it then does not
/// reach the seam between them, or meets itself there.
template <int Dim>
bool meets_itself(const Boundary<Dim>& wall, int axis) {
    std::mt19937_64 random(5);
    for (int k = 0; k < 2000; ++k) {
        Vec<double, Dim> place = anywhere<Dim>(random, 5.0);
        place[axis] = -5.0;
        const bool before = gap_at(wall, place).distance > 0.0;
        place[axis] = 5.0;
        if (before != (gap_at(wall, place).distance > 0.0)) return false;
    }
    return true;
}

TEST_P(ShapeInAScene, GoesThroughASeamWhereItMeetsItselfThere) {
    with_walls([]<int Dim>(const Boundary<Dim>& wall, const std::string& text) {
        for (int axis = 0; axis < Dim; ++axis) {
            std::string seamed = text;
            std::size_t at = seamed.find("boundary = [");
            for (int face = 0; face <= axis; ++face) at = seamed.find("\"open\"", at + 1);
            seamed.replace(at, 6, "\"periodic\"");
            if (meets_itself(wall, axis)) {
                EXPECT_NO_THROW(parse_scene(seamed, "test.toml", {})) << seamed;
            } else {
                EXPECT_THROW(parse_scene(seamed, "test.toml", {}), InputError) << seamed;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Registered, ShapeInAScene, each_kind_of("wall"), name_of_kind);

}  // namespace carom::test::wall_shape_test
