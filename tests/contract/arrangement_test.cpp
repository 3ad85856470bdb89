#include <gtest/gtest.h>

#include "host/scene/arrange.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "tests/contract/examples/arrange_in_row.hpp"

namespace carom {
namespace {

std::vector<ArrangementEntry> all_arrangements() {
    std::vector<ArrangementEntry> all(arrangements().begin(), arrangements().end());
    all.push_back({"row", examples::arrange_in_row<2>, examples::arrange_in_row<3>});  // of docs/extending.md
    return all;
}

class ArrangementContract : public testing::TestWithParam<ArrangementEntry> {};
INSTANTIATE_TEST_SUITE_P(Registered, ArrangementContract, testing::ValuesIn(all_arrangements()),
                         [](const auto& entry) { return std::string(entry.param.name); });

Scene scene_of(int count) {
    return parse_scene(
        "[scene]\ndimension = 2\n[box]\nmin = [-5.0, 2.0]\nsize = [12.0, 9.0]\n[physics]\ngravity = [0.0, -0.1]\n"
        "[[fill]]\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\ncount = " +
            std::to_string(count) + "\n",
        "test", {});
}

TEST_P(ArrangementContract, BallsLieInTheRegionAndApart) {
    const Scene scene = scene_of(9);
    const auto centers = GetParam().disks(scene, 0, {});
    ASSERT_EQ(centers.size(), 9U);
    for (std::size_t i = 0; i < centers.size(); ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            EXPECT_GE(centers[i][axis], scene.box.min[axis] + 0.5);
            EXPECT_LE(centers[i][axis], scene.box.min[axis] + scene.box.size[axis] - 0.5);
        }
        for (std::size_t j = 0; j < i; ++j) {
            const auto apart = centers[i] - centers[j];
            EXPECT_GE(dot(apart, apart), 1.0) << i << " and " << j;
        }
    }
}

TEST_P(ArrangementContract, IsTheSameEachTime) {
    const Scene scene = scene_of(9);
    const auto once = GetParam().disks(scene, 0, {});
    const auto again = GetParam().disks(scene, 0, {});
    for (std::size_t i = 0; i < once.size(); ++i) {
        for (int axis = 0; axis < 2; ++axis) EXPECT_EQ(once[i][axis], again[i][axis]);
    }
}

TEST_P(ArrangementContract, RefusesWhatDoesNotFit) {
    EXPECT_THROW(GetParam().disks(scene_of(1000), 0, {}), InputError);
}

}  // namespace
}  // namespace carom
