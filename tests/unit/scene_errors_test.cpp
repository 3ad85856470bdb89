#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"

namespace carom {
namespace {

namespace fs = std::filesystem;

/// The malformed scenes that the program is tested with as well; each says on its first line what is wrong with it.
std::vector<fs::path> bad_scenes() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(CAROM_SOURCE_DIR "/tests/cli/bad_scenes")) files.push_back(entry);
    std::sort(files.begin(), files.end());
    return files;
}

std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string error_of(const std::string& text, const std::string& name, const std::vector<std::string>& overrides = {}) {
    try {
        make_balls(parse_scene(text, name, overrides));
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(SceneErrors, EachBadSceneIsNamedExactly) {
    const auto files = bad_scenes();
    ASSERT_GE(files.size(), 40u);
    for (const auto& file : files) {
        const std::string text = text_of(file);
        const std::string expected = text.substr(2, text.find('\n') - 2);
        EXPECT_EQ(error_of(text, file.filename().string()), expected);
        EXPECT_EQ(expected.find(file.filename().string() + ":"), 0u) << "each names its file first";
    }
}

constexpr const char* kGood = R"(
[scene]
dimension = 2
[box]
size = [10.0, 8.0]
[[ball]]
radius = 1.0
mass = 1.0
position = [5.0, 4.0]
[[ball]]
radius = 1.0
mass = 1.0
position = [7.5, 4.0]
)";

TEST(SceneErrors, AnOverrideIsNamedInsteadOfALine) {
    EXPECT_EQ(error_of(kGood, "good.toml"), "no error");
    EXPECT_EQ(error_of(kGood, "good.toml", {"ball[1].mass=-2"}),
              "--set ball[1].mass=-2: ball[1].mass: must be a number above 0, or inf, not -2");
    EXPECT_EQ(
        error_of(kGood, "good.toml", {"ball[1].position[0]=6.5", "run.solver=events"}),
        "good.toml:13:12: ball[1].position: ball 1 overlaps ball 0 by 0.5, 0.25 of the sum of their radii; for the "
        "events solver at most 1e-09 is allowed");
}

TEST(SceneErrors, DeepOverlapAtTheStartIsRefusedForSpringToo) {
    EXPECT_EQ(error_of(kGood, "good.toml", {"ball[1].position[0]=5.51"}), "no error");
    EXPECT_NE(error_of(kGood, "good.toml", {"ball[1].position[0]=5.49"}), "no error");
}

TEST(SceneErrors, TouchingIsAllowedForEvents) {
    EXPECT_EQ(error_of(kGood, "good.toml", {"run.solver=events", "ball[1].position[0]=7"}), "no error");
    EXPECT_EQ(error_of(kGood, "good.toml", {"run.solver=events", "ball[1].position[0]=6.9999999985"}), "no error");
    EXPECT_NE(error_of(kGood, "good.toml", {"run.solver=events", "ball[1].position[0]=6.9999999975"}), "no error");
}

TEST(SceneErrors, FrictionIsRefusedForSpringAloneAndMakesEventsSequential) {
    EXPECT_NE(error_of(kGood, "good.toml", {"physics.friction=0.1"}), "no error");
    const Scene scene = parse_scene(kGood, "good.toml", {"physics.friction=0.1", "run.solver=events"});
    EXPECT_EQ(scene.physics.simultaneous, Simultaneous::kSequential);
    EXPECT_EQ(scene.physics.wall_friction, 0.1);
}

TEST(SceneErrors, LowRestitutionNeedsNoDampingForEventsOrWithANumber) {
    EXPECT_NE(error_of(kGood, "good.toml", {"physics.restitution=0"}), "no error");
    EXPECT_EQ(error_of(kGood, "good.toml", {"physics.restitution=0", "run.solver=events"}), "no error");
    EXPECT_EQ(error_of(kGood, "good.toml", {"physics.restitution=0", "spring.damping=1.0"}), "no error");
}

TEST(SceneErrors, AFileThatIsNotThereIsAnotherKindOfError) {
    EXPECT_THROW(load_scene("no/such/scene.toml"), SystemError);
    EXPECT_THROW(load_scene("nosuchscene"), SystemError);
    EXPECT_THROW(load_scene("/"), SystemError);
}

}  // namespace
}  // namespace carom
