#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/scene/arrange.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"
#include "tests/contract/examples/arrange_in_row.hpp"
#include "tests/support/kinds.hpp"
#include "tests/support/message_of.hpp"

namespace carom::test::arrangement_test {

/// A fill that every arrangement can have: gravity and a temperature are there for those that need them, and what their
/// keys require.
std::string scene_of(int dimension, int count, const std::string& arrangement) {
    const bool flat = dimension == 2;
    return fmt::format(
        "[scene]\ndimension = {}\n[box]\nmin = {}\nsize = {}\n[physics]\ngravity = {}\n[[fill]]\nradius = 0.5\n"
        "mass = 1.0\ntemperature = 1.0\ncount = {}\n{}",
        dimension, flat ? "[-5.0, 2.0]" : "[-5.0, 2.0, 0.0]", flat ? "[12.0, 9.0]" : "[12.0, 9.0, 5.0]",
        flat ? "[0.0, -0.1]" : "[0.0, -0.1, 0.0]", count,
        arrangement.empty() ? ""
                            : fmt::format("arrangement = \"{}\"\n", arrangement) +
                                  required_lines("fill", arrangement, dimension).at(0));
}

/// The balls that a way to arrange them gives.
struct Arranged {
    std::string name;
    std::function<Balls(int dimension, int count)> make;
};

/// Each that is registered, as a scene asks for it, and the example of docs/extending.md.
std::vector<Arranged> all_arrangements() {
    std::vector<Arranged> all;
    for (const ArrangementEntry& entry : arrangements()) {
        const std::string name(entry.kind.name);
        all.push_back({name, [name](int dimension, int count) {
                           return make_balls(parse_scene(scene_of(dimension, count, name), "test"));
                       }});
    }
    all.push_back({"row", [](int dimension, int count) {
                       const Scene scene = parse_scene(scene_of(dimension, count, ""), "test");
                       Balls balls = make_balls(parse_scene(scene_of(dimension, 9, ""), "test"));
                       const auto take = [&](const auto& centers) {
                           for (std::size_t id = 0; id < centers.size(); ++id) {
                               for (int axis = 0; axis < dimension; ++axis)
                                   balls.position[axis][id] = centers[id][axis];
                           }
                       };
                       const ArrangementEntry row = examples::row_arrangement();
                       dimension == 2 ? take(row.disks(scene, 0, {})) : take(row.spheres(scene, 0, {}));
                       return balls;
                   }});
    return all;
}

class ArrangementContract : public testing::TestWithParam<Arranged> {};
INSTANTIATE_TEST_SUITE_P(Each, ArrangementContract, testing::ValuesIn(all_arrangements()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ArrangementContract, BallsLieInTheRegionAndApart) {
    for (const int dimension : {2, 3}) {
        const Box box = parse_scene(scene_of(dimension, 9, ""), "test").box;
        const Balls balls = GetParam().make(dimension, 9);
        ASSERT_EQ(balls.size(), 9U);
        for (std::size_t i = 0; i < balls.size(); ++i) {
            for (int axis = 0; axis < dimension; ++axis) {
                EXPECT_GE(balls.position[axis][i], box.min[axis] + 0.5);
                EXPECT_LE(balls.position[axis][i], box.min[axis] + box.size[axis] - 0.5);
            }
            for (std::size_t j = 0; j < i; ++j) {
                double square = 0.0;
                for (int axis = 0; axis < dimension; ++axis) {
                    const double apart = balls.position[axis][i] - balls.position[axis][j];
                    square += apart * apart;
                }
                EXPECT_GE(square, 1.0) << i << " and " << j << " in " << dimension << "D";
            }
        }
    }
}

TEST_P(ArrangementContract, IsTheSameEachTime) {
    for (const int dimension : {2, 3}) {
        const Balls once = GetParam().make(dimension, 9);
        const Balls again = GetParam().make(dimension, 9);
        for (int axis = 0; axis < dimension; ++axis) EXPECT_EQ(once.position[axis], again.position[axis]);
    }
}

TEST_P(ArrangementContract, RefusesWhatDoesNotFitAndSaysWhere) {
    const std::string error = test::message_of<InputError>([&] { GetParam().make(2, 124); });
    EXPECT_TRUE(error.starts_with("test:12:9: fill[0].count: ")) << error;
}

TEST(Arrangements, EachPlacesTheBallsInAnotherWay) {
    std::set<std::vector<double>> ways;
    for (const Arranged& one : all_arrangements()) {
        EXPECT_TRUE(ways.insert(one.make(2, 9).position[0]).second) << one.name;
    }
}

class ArrangementInAScene : public KindInAScene {
protected:
    /// Balls over a floor, which a profile of heights needs.
    [[nodiscard]] std::string scene(const std::string& arrangement) const {
        return of_dimension(dimension(), R"(
[scene]
dimension = <2|3>
[box]
min = [-5.0, <2.0|-1.0, 2.0>]
size = [12.0, <20.0|9.0, 20.0>]
boundary = ["periodic", <["wall", "open"]|"wall", ["wall", "open"]>]
[physics]
gravity = [0.0, <-0.1|0.0, -0.1>]
[run]
until = 0.05
precision = "double"
backend = "cpu"
[[ball]]
radius = 1.0
mass = 1.0
position = [1.0, <4.0|3.0, 4.0>]
[[fill]]
radius = 0.5
mass = 1.0
temperature = 1.0
count = 9
)") + "arrangement = \"" +
               arrangement + "\"\n" + required_lines("fill", arrangement, dimension()).at(0);
    }
};

TEST_P(ArrangementInAScene, PlacesBallsApartInTheBox) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("scene.toml")) << scene(kind());
    carom(folder, "run scene.toml -o out.h5 --quiet --threads 1");
    ASSERT_FALSE(HasFatalFailure());
    const TrajectoryReader file(folder.file("out.h5"));
    Frame frame;
    file.read(0, frame);
    const Box& box = file.header().box;
    ASSERT_EQ(frame.size(), 10U);
    const auto radius = [](std::size_t id) { return id == 0 ? 1.0 : 0.5; };
    for (std::size_t i = 0; i < frame.size(); ++i) {
        for (int axis = 1; axis < dimension(); ++axis) {  // the first is periodic
            EXPECT_GE(frame.position[axis][i], box.min[axis] + radius(i) * (1.0 - 1e-12));
            EXPECT_LE(frame.position[axis][i], box.min[axis] + box.size[axis] - radius(i) * (1.0 - 1e-12));
        }
        for (std::size_t j = 0; j < i; ++j) {
            double squared = 0.0;
            for (int axis = 0; axis < dimension(); ++axis) {
                double apart = frame.position[axis][i] - frame.position[axis][j];
                if (axis == 0) apart -= std::round(apart / box.size[0]) * box.size[0];
                squared += apart * apart;
            }
            EXPECT_GE(std::sqrt(squared), (radius(i) + radius(j)) * (1.0 - 1e-12)) << i << " and " << j;
        }
    }
    expect_same_run(scene(kind()));
}

INSTANTIATE_TEST_SUITE_P(Registered, ArrangementInAScene, each_kind_of("fill"), name_of_kind);

}  // namespace carom::test::arrangement_test
