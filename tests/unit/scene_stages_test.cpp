#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/scene/load.hpp"
#include "host/scene/override_stage.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"

namespace carom {
namespace {

const std::string kScene = R"(
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
wall_temperature = [2.0, 0.0]
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
offset = 1.0
velocity = 0.25
temperature = 1.5
[[stage]]
until = 2.0
[[stage]]
until = 4.0
gravity = [0.0, -1.0]
wall_temperature = [[3.0, 0.0], 0.0]
wall_velocity = [0.5]
[[stage]]
until = 6.0
)";

using Overrides = std::vector<std::string>;

TEST(SceneStages, AStageBeginsWhereTheOneBeforeEnds) {
    const Scene scene = parse_scene(kScene, "test.toml");
    EXPECT_EQ(stage_at(scene, 0.0), 0u);
    EXPECT_EQ(stage_at(scene, 1.999), 0u);
    EXPECT_EQ(stage_at(scene, 2.0), 1u);
    EXPECT_EQ(stage_at(scene, 100.0), 2u);
    // To a solver that goes by steps of 0.75 the first one ends at 2.25.
    EXPECT_EQ(stage_at(scene, 2.0, [](double time) { return time == 2.0 ? 2.25 : time; }), 0u);
    EXPECT_EQ(scene_at(scene, 1.0).physics.gravity[1], 0.0);
    EXPECT_EQ(scene_at(scene, 2.0).physics.gravity[1], -1.0);
    EXPECT_EQ(scene_at(scene, 2.0).box.temperature[0][1], 0.0);
    EXPECT_EQ(scene_at(scene, 5.0).box.temperature[0][1], 2.0);
}

TEST(SceneStages, WallsStandWhereTheirStagesLeftThem) {
    const Scene scene = parse_scene(kScene, "test.toml");
    EXPECT_DOUBLE_EQ(walls_at(scene, 3.0)[0].offset, 1.0 + 2.0 * 0.25 + 1.0 * 0.5);
    const auto late = [](double time) { return time == 2.0 ? 2.5 : time; };
    EXPECT_DOUBLE_EQ(walls_at(scene, 3.0, late)[0].offset, 1.0 + 2.5 * 0.25 + 0.5 * 0.5);
}

TEST(SceneStages, AChangeIsTheScenesAndThatOfAStageThatSaysOtherwise) {
    const Scene scene = parse_scene(kScene, "test.toml");
    EXPECT_EQ(overrides_from(scene, "physics.gravity=[0, 2]", 0), (Overrides{"physics.gravity=[0, 2]"}));
    EXPECT_EQ(overrides_from(scene, "physics.gravity=[0, 2]", 1),
              (Overrides{"physics.gravity=[0, 2]", "stage[1].gravity=[0, 2]"}));
    EXPECT_EQ(overrides_from(scene, "box.wall_temperature[0][1]=5", 0),
              (Overrides{"box.wall_temperature=[[2, 5], [0, 0]]"}));
    // The other face of each keeps what it has there.
    EXPECT_EQ(overrides_from(scene, "box.wall_temperature[0][1]=5", 1),
              (Overrides{"box.wall_temperature=[[2, 5], [0, 0]]", "stage[1].wall_temperature=[[3, 5], [0, 0]]"}));
    EXPECT_EQ(overrides_from(scene, "wall[0].temperature=4", 1), (Overrides{"wall[0].temperature=4"}));
    EXPECT_EQ(overrides_from(scene, "spring.stiffness=4", 1), (Overrides{"spring.stiffness=4"}));

    Scene later = scene;
    for (const auto& one : overrides_from(scene, "physics.gravity=[0, 2]", 1))
        later = parse_scene(later.source, "test.toml", {one});
    EXPECT_EQ(scene_at(later, 3.0).physics.gravity[1], 2.0);
    EXPECT_EQ(scene_at(later, 5.0).physics.gravity[1], 2.0);
}

TEST(SceneStages, NoSuchFaceIsSaid) {
    const Scene scene = parse_scene(kScene, "test.toml");
    for (const char* wrong : {"box.wall_temperature[2][0]=1", "box.wall_temperature[0][2]=1",
                              "box.wall_temperature[0]=1", "box.wall_temperature[0][1]=hot"}) {
        EXPECT_THROW(overrides_from(scene, wrong, 0), InputError) << wrong;
    }
}

}  // namespace
}  // namespace carom
