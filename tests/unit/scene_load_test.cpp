#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "host/scene/arrange.hpp"
#include "host/scene/keys.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/scene/stages.hpp"
#include "host/scene/start.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/touching.hpp"
#include "tests/support/message_of.hpp"

namespace carom::scene_load_test {

constexpr const char* kLeast = "[scene]\ndimension = 2\n[box]\nsize = [10.0, 8.0]\n";
constexpr const char* kLeast3d = "[scene]\ndimension = 3\n[box]\nsize = [10.0, 8.0, 6.0]\n";

TEST(SceneLoad, LeavesOutNothingThatHasADefault) {
    const Scene scene = parse_scene(kLeast, "least.toml");
    EXPECT_EQ(scene.path, "least.toml");
    EXPECT_EQ(scene.source, kLeast);
    EXPECT_EQ(scene.title, "");
    EXPECT_EQ(scene.seed, 1u);
    EXPECT_EQ(scene.dimension(), 2);
    EXPECT_EQ(scene.box.min, (Vector3{0.0, 0.0, 0.0}));
    EXPECT_EQ(scene.box.size, (Vector3{10.0, 8.0, 0.0}));
    for (int axis = 0; axis < 2; ++axis) {
        for (int side = 0; side < 2; ++side) EXPECT_EQ(scene.box.faces[axis][side], Face::kWall);
    }
    EXPECT_EQ(scene.physics.gravity, (Vector3{0.0, 0.0, 0.0}));
    EXPECT_EQ(scene.physics.restitution, 1.0);
    EXPECT_EQ(scene.physics.friction, 0.0);
    EXPECT_EQ(scene.physics.wall_restitution, 1.0);
    EXPECT_EQ(scene.physics.wall_friction, 0.0);
    EXPECT_EQ(scene.physics.simultaneous, Simultaneous::kReflect);
    EXPECT_EQ(scene.spring.law, "linear");
    EXPECT_FALSE(scene.spring.stiffness || scene.spring.wall_stiffness || scene.spring.damping || scene.spring.dt);
    EXPECT_EQ(scene.spring.integrator, Integrator::kVerlet);
    EXPECT_EQ(scene.spring.distance_epsilon, 0.0);
    EXPECT_EQ(scene.spring.max_overlap, 0.01);
    EXPECT_EQ(scene.events.tc, 0.0);
    EXPECT_EQ(scene.events.cutoff_speed, 0.0);
    EXPECT_EQ(scene.run.solver, SolverKind::kSpring);
    EXPECT_EQ(scene.run.backend, BackendChoice::kAuto);
    EXPECT_EQ(scene.run.precision, Precision::kSingle);
    EXPECT_EQ(scene.run.until, 1.0);
    EXPECT_EQ(scene.output.every, 0.01);
    EXPECT_EQ(scene.output.observables_every, 0.001);
    EXPECT_EQ(scene.output.fields, (std::vector<std::string>{"position", "velocity", "spin", "species"}));
    EXPECT_EQ(scene.ball_count(), 0u);
}

TEST(SceneLoad, OneWordIsForTheFacesOfAllAxes) {
    const Scene scene = parse_scene(std::string(kLeast3d) + "boundary = \"periodic\"\n", "periodic.toml");
    for (int axis = 0; axis < 3; ++axis) EXPECT_TRUE(scene.box.periodic(axis)) << axis;
    EXPECT_EQ(
        test::message_of<InputError>([] { parse_scene(std::string(kLeast) + "boundary = \"pbc\"\n", "other.toml"); }),
        "other.toml:5:12: box.boundary: must be an array of 2, each \"wall\", \"periodic\" or \"open\", or a pair of "
        "these, not \"pbc\"; did you mean \"periodic\"?");
}

TEST(SceneLoad, DefaultsFollowOtherKeys) {
    const Scene scene =
        parse_scene(kLeast, "least.toml",
                    {"physics.restitution=0.5", "run.until=20", "physics.friction=0.25", "run.solver=events"});
    EXPECT_EQ(scene.physics.wall_restitution, 0.5);
    EXPECT_EQ(scene.physics.wall_friction, 0.25);
    EXPECT_EQ(scene.output.every, 0.2);
    EXPECT_EQ(scene.output.observables_every, 0.02);
    const Scene own = parse_scene(kLeast, "least.toml", {"physics.restitution=0.5", "physics.wall_restitution=0.75"});
    EXPECT_EQ(own.physics.wall_restitution, 0.75);
}

TEST(SceneLoad, ReadsEveryWallBallFillAndObservable) {
    const Scene scene = parse_scene(std::string(kLeast3d) + R"(
boundary = [["wall", "open"], "periodic", "open"]
[[wall]]
shape = "plane"
normal = [3.0, 0.0, 4.0]
offset = 0.5
[[wall]]
shape = "sphere"
center = [5.0, 4.0, 3.0]
radius = 0.5
side = "outside"
[[species]]
name = "pin"
radius = 0.25
mass = inf
radius_of_gyration = 0.125
color = "#E91E63"
[[ball]]
species = "pin"
position = [2.0, 1.0, 2.0]
velocity = [1.0, 2.0, 3.0]
spin = [4.0, 5.0, 6.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [8.0, 8.0, 3.0]
speed = 2.0
direction = [0.0, 3.0, 4.0]
[[fill]]
radius = 0.5
mass = 2.0
count = 5
region = { min = [6.0, 0.0, 0.0], max = [10.0, 2.0, 6.0] }
arrangement = "lattice"
speed = 3.0
zero_momentum = false
[[observe]]
name = "pinfall"
kind = "displaced"
species = "pin"
)",
                                    "all.toml");
    EXPECT_EQ(scene.box.faces[0][0], Face::kWall);
    EXPECT_EQ(scene.box.faces[0][1], Face::kOpen);
    EXPECT_TRUE(scene.box.periodic(1));
    EXPECT_EQ(scene.box.faces[2][0], Face::kOpen);
    ASSERT_EQ(scene.walls.size(), 2u);
    EXPECT_DOUBLE_EQ(scene.walls[0].values.vector<3>("normal")[0], 0.6);
    EXPECT_DOUBLE_EQ(scene.walls[0].values.vector<3>("normal")[2], 0.8);
    EXPECT_EQ(scene.walls[0].values.number("offset"), 0.5);
    EXPECT_EQ(scene.walls[1].shape, shape_number("sphere"));
    EXPECT_EQ(scene.walls[1].values.choice("side"), 1);
    ASSERT_EQ(scene.species.size(), 2u) << "equal inline descriptions share one species";
    EXPECT_EQ(scene.species[0].name, "pin");
    EXPECT_TRUE(std::isinf(scene.species[0].mass));
    EXPECT_EQ(scene.species[0].radius_of_gyration, 0.125);
    EXPECT_EQ(scene.species[1].name, "");
    EXPECT_DOUBLE_EQ(scene.species[1].radius_of_gyration, 0.5 * std::sqrt(0.4));
    ASSERT_EQ(scene.balls.size(), 2u);
    EXPECT_EQ(scene.balls[0].velocity, (Vector3{1.0, 2.0, 3.0}));
    EXPECT_EQ(scene.balls[0].spin, (Vector3{4.0, 5.0, 6.0}));
    EXPECT_EQ(scene.balls[1].position[1], 0.0) << "the upper periodic face is the lower one";
    EXPECT_DOUBLE_EQ(scene.balls[1].velocity[1], 1.2);
    EXPECT_DOUBLE_EQ(scene.balls[1].velocity[2], 1.6);
    ASSERT_EQ(scene.fills.size(), 1u);
    EXPECT_EQ(scene.fills[0].species, 1u);
    EXPECT_EQ(scene.fills[0].count, 5u);
    EXPECT_EQ(scene.fills[0].region_min[0], 6.0);
    EXPECT_EQ(arrangements()[scene.fills[0].arrangement].kind.name, "lattice");
    EXPECT_FALSE(scene.fills[0].zero_momentum);
    ASSERT_EQ(scene.observables.size(), 1u);
    EXPECT_EQ(scene.observables[0].threshold, 1.0e-9);
}

TEST(SceneLoad, ADiskTurnsLikeASolidDiskAndSpinsAboutOneAxis) {
    const Scene scene = parse_scene(std::string(kLeast) +
                                        "[[ball]]\nradius = 1.0\nmass = 1.0\nposition = [5.0, 4.0]\nspin = 3\n"
                                        "speed = 2.0\nangle = 90\n",
                                    "disk.toml");
    EXPECT_DOUBLE_EQ(scene.species[0].radius_of_gyration, std::sqrt(0.5));
    EXPECT_EQ(scene.balls[0].spin, (Vector3{0.0, 0.0, 3.0}));
    EXPECT_EQ(scene.balls[0].velocity, (Vector3{0.0, 2.0, 0.0})) << "a right angle is exact";
}

TEST(SceneLoad, PackingFractionGivesTheNearestCount) {
    const std::string text = std::string(kLeast) + "[[fill]]\nradius = 0.5\nmass = 1.0\npacking_fraction = 0.3\n";
    EXPECT_EQ(parse_scene(text, "fill.toml").fills[0].count, 31u);  // 24 / (pi / 4) = 30.56
    const std::string half = text + "region = { max = [5.0, 8.0] }\n";
    EXPECT_EQ(parse_scene(half, "fill.toml").fills[0].count, 15u);  // 15.28
}

TEST(SceneLoad, OverridesReachArraysAndMakeKeys) {
    const std::string text =
        std::string(kLeast) +
        "[[ball]]\nradius = 1.0\nmass = 1.0\nposition = [5.0, 4.0]\n"
        "[[fill]]\nradius = 0.1\nmass = 1.0\ncount = 3\nregion = { min = [0.0, 0.0], max = [3.0, 8.0] }\n";
    const Scene scene = parse_scene(text, "base.toml",
                                    {"ball[0].position[1]=2.5", "fill[0].region.max[0] = 2", "scene.title=two words",
                                     "scene.seed=7", "scene.seed=8", "spring.dt=1e-3", "ball[0].velocity=[1, 2]",
                                     "ball[0].mass=inf", "box.boundary=[\"wall\", [\"open\", \"wall\"]]"});
    EXPECT_EQ(scene.balls[0].position[1], 2.5);
    EXPECT_EQ(scene.fills[0].region_max[0], 2.0);
    EXPECT_EQ(scene.title, "two words");
    EXPECT_EQ(scene.seed, 8u) << "the last one wins";
    EXPECT_EQ(scene.spring.dt, 1e-3);
    EXPECT_EQ(scene.balls[0].velocity, (Vector3{1.0, 2.0, 0.0}));
    EXPECT_TRUE(std::isinf(scene.species[scene.balls[0].species].mass));
    EXPECT_EQ(scene.box.faces[1][0], Face::kOpen);
}

TEST(SceneLoad, SourceReproducesTheSceneOverridesIncluded) {
    const std::string text =
        std::string(kLeast) + "[[fill]]\nradius = 0.1\nmass = 0.3\ncount = 30\ntemperature = 0.7\n";
    const Scene scene = parse_scene(
        text, "base.toml",
        {"box.size[0]=7.123456789012345", "scene.seed=99", "fill[0].mass=0.1", "scene.title=a 'quoted' \"title\""});
    const Scene again = parse_scene(scene.source, "base.toml");
    EXPECT_EQ(again.source, scene.source);
    EXPECT_EQ(again.title, "a 'quoted' \"title\"");
    EXPECT_EQ(again.box.size, scene.box.size) << "numbers are written so that they read back";
    const Balls first = make_balls(scene);
    const Balls second = make_balls(again);
    EXPECT_EQ(first.position, second.position);
    EXPECT_EQ(first.velocity, second.velocity);
}

std::vector<std::filesystem::path> installed_scenes() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/scenes")) {
        const bool sweep = entry.path().stem().extension() == ".sweep";
        if (entry.path().extension() == ".toml" && !sweep) files.push_back(entry.path());
    }
    return files;
}

TEST(SceneLoad, EveryInstalledSceneIsSoundAndSaysWhatOneShouldSee) {
    EXPECT_GE(installed_scenes().size(), 8u);
    for (const auto& file : installed_scenes()) {
        const Scene scene = load_scene(file.string());
        EXPECT_EQ(scene.path, file.string());
        EXPECT_FALSE(scene.title.empty()) << file;
        EXPECT_EQ(scene.source.front(), '#') << file;
        EXPECT_NE(scene.source.find("should see"), std::string::npos) << file;
        EXPECT_NO_THROW(parse_scene(scene.source, "copy", {"run.solver=events"})) << file;
    }
}

TEST(SceneLoad, FindsInstalledScenesByName) {
    for (const auto& file : installed_scenes()) {
        EXPECT_TRUE(std::filesystem::equivalent(find_scene(file.stem().string()), file));
        EXPECT_TRUE(std::filesystem::equivalent(find_scene(file.filename().string()), file));
    }
}

TEST(SceneKeys, TheReferenceListsEveryKeyAsItIs) {
    std::ostringstream text;
    text << std::ifstream(CAROM_SOURCE_DIR "/docs/scene-file.md").rdbuf();
    EXPECT_NE(text.str().find(key_reference()), std::string::npos) << "docs/scene-file.md must hold, as it stands:\n"
                                                                   << key_reference();
}

TEST(SceneKeys, EveryKindIsReadWithItsKeysAndNoOther) {
    const auto error = [](const std::string& text) {
        return test::message_of<InputError>([&] { parse_scene(kLeast + text, "a"); });
    };
    EXPECT_NO_THROW(parse_scene(std::string(kLeast) + "[thermostat]\nkind = \"none\"\n", "a"));
    EXPECT_EQ(error("[thermostat]\nkind = \"none\"\nrate = 1.0\n"),
              "a:7:8: thermostat.rate: is for kind = \"andersen\"");
    EXPECT_EQ(error("[[stage]]\nuntil = 1.0\nthermostat = { kind = \"andersen\", temperature = 1.0 }\n"),
              "a:7:14: stage[0].thermostat.rate: is required for this kind of thermostat");
    EXPECT_EQ(error("[[wall]]\nshape = \"sphere\"\ncenter = [4.0, 4.0]\nradius = 2.0\nvelocity = 1.0\n"),
              "a:9:12: wall[0].velocity: is for shape = \"plane\"");
    EXPECT_EQ(error("[[observe]]\nname = \"a\"\nkind = \"displaced\"\nevery = 1.0\n")
                  .find("a:8:9: observe[0].every: means nothing for kind \"displaced\"; it is for speed, velocity,"),
              0u);
}

TEST(SceneKeys, AKeyIsOfNoKindsButThoseOfItsTable) {
    for (const Key& kind : scene_keys()) {
        if (kind.type != KeyType::kKind) continue;
        EXPECT_FALSE(choices_of(kind).empty()) << kind.table;
        for (const Key& key : scene_keys()) {
            if (key.table != kind.table || key.kinds.empty()) continue;
            EXPECT_TRUE(std::ranges::any_of(choices_of(kind), [&](auto one) { return takes(key, one); }))
                << key.table << "." << key.name;
        }
    }
}

TEST(SceneKeys, EveryKeyBelongsToATableAndIsThereOnce) {
    for (const Key& key : scene_keys()) {
        EXPECT_EQ(find_key(key.table, key.name), &key) << key.table << "." << key.name;
        EXPECT_FALSE(key.help.empty());
        const auto top = key.table.substr(0, key.table.find('.'));
        const auto tables = scene_tables();
        EXPECT_TRUE(std::any_of(tables.begin(), tables.end(), [&](const Table& table) { return table.name == top; }))
            << top;
    }
}

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
    EXPECT_DOUBLE_EQ(walls_at(scene, 3.0)[0].values.number("offset"), 1.0 + 2.0 * 0.25 + 1.0 * 0.5);
    const auto late = [](double time) { return time == 2.0 ? 2.5 : time; };
    EXPECT_DOUBLE_EQ(walls_at(scene, 3.0, late)[0].values.number("offset"), 1.0 + 2.5 * 0.25 + 0.5 * 0.5);
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

/// What the program is tested with as well (tests/cli/bad_scenes_test.py): a name, what is said of it, and the text.
struct BadScene {
    std::string name;
    std::string message;
    std::string text;
};

/// With what a key takes instead of each {table.key}.
std::string with_words_of_keys(std::string message) {
    for (auto open = message.find('{'); open != std::string::npos; open = message.find('{')) {
        const auto dot = message.find('.', open);
        const auto close = message.find('}', dot);
        const Key* const key =
            find_key(message.substr(open + 1, dot - open - 1), message.substr(dot + 1, close - dot - 1));
        message.replace(open, close - open + 1, allowed_text(*key, 2));
    }
    return message;
}

std::vector<BadScene> bad_scenes() {
    std::vector<BadScene> scenes;
    std::map<std::string, std::string> bases;
    std::string* base = nullptr;  // that is being read
    std::ifstream in(CAROM_SOURCE_DIR "/tests/cli/bad_scenes.txt");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string kind, name, after, begin;
        words >> kind >> name >> after >> begin;
        if (kind == "---") {
            base = &bases[name];
        } else if (kind == "===") {
            base = nullptr;
            scenes.push_back({name + ".toml", "", begin.empty() ? "" : bases.at(begin)});
            std::getline(in, line);
            scenes.back().message = with_words_of_keys(line);
        } else if (!line.empty() && (base != nullptr || !scenes.empty())) {
            (base != nullptr ? *base : scenes.back().text) += line + "\n";
        }
    }
    return scenes;
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
    const auto scenes = bad_scenes();
    ASSERT_GE(scenes.size(), 150U);
    for (const BadScene& scene : scenes) EXPECT_EQ(error_of(scene.text, scene.name), scene.name + ":" + scene.message);
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

/// Balls of sizes that differ a hundredfold, or that are all alike.
Scene crowd(std::mt19937& random, std::size_t count) {
    const auto uniform = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    Scene scene;
    Box& box = scene.box;
    box.dimension = uniform(0.0, 1.0) < 0.5 ? 2 : 3;
    scene.run.solver = uniform(0.0, 1.0) < 0.5 ? SolverKind::kEvents : SolverKind::kSpring;
    for (int axis = 0; axis < box.dimension; ++axis) {
        box.min[axis] = uniform(-20.0, 20.0);
        box.size[axis] = uniform(5.0, 20.0);
        const Face face = uniform(0.0, 1.0) < 0.5 ? Face::kPeriodic : Face::kWall;
        box.faces[axis] = {face, face};
    }
    const bool alike = uniform(0.0, 1.0) < 0.3;
    for (std::size_t id = 0; id < count; ++id) {
        const double radius = alike ? 0.3 : 0.02 * std::pow(100.0, uniform(0.0, 1.0));
        scene.species.push_back({.name = "", .radius = radius, .mass = 1.0, .radius_of_gyration = radius, .color = ""});
        Vector3 place{};
        for (int axis = 0; axis < box.dimension; ++axis) place[axis] = box.min[axis] + uniform(0.0, box.size[axis]);
        scene.balls.push_back(
            {.species = static_cast<std::uint32_t>(id), .position = place, .velocity = {}, .spin = {}});
    }
    return scene;
}

/// The same by looking at all pairs. \param depth  becomes that of the deepest one, of the smaller radius
std::optional<StartOverlap> overlap_of_all(const Scene& scene, double& depth) {
    depth = 0.0;
    const auto radius = [&scene](std::uint32_t id) { return scene.species[id].radius; };
    for (std::uint32_t j = 0; j < scene.balls.size(); ++j) {
        for (std::uint32_t i = 0; i < j; ++i) {
            double square = 0.0;
            for (int axis = 0; axis < scene.dimension(); ++axis) {
                double along = std::abs(scene.balls[i].position[axis] - scene.balls[j].position[axis]);
                if (scene.box.periodic(axis)) along = std::min(along, scene.box.size[axis] - along);
                square += along * along;
            }
            const double sum = radius(i) + radius(j);
            const double distance = std::sqrt(square);
            const bool bad = scene.run.solver == SolverKind::kEvents
                                 ? sum - distance > kTouching * sum
                                 : distance < kDeepest * std::min(radius(i), radius(j));
            if (bad) return StartOverlap{i, j, sum - distance, (sum - distance) / sum};
            depth = std::max(depth, (sum - distance) / std::min(radius(i), radius(j)));
        }
    }
    return std::nullopt;
}

TEST(StartOverlap, IsTheFirstOfAllPairs) {
    std::mt19937 random(11);
    int found = 0;
    int deep = 0;
    constexpr int kCrowds = 400;
    for (int crowds = 0; crowds < kCrowds; ++crowds) {
        const Scene scene = crowd(random, static_cast<std::size_t>(3 + crowds % 60));
        double depth = 0.0;
        double deepest = 0.0;
        const auto expected = overlap_of_all(scene, depth);
        const auto overlap = start_overlap(scene, &deepest);
        ASSERT_EQ(overlap.has_value(), expected.has_value()) << "crowd " << crowds;
        if (!overlap) {
            EXPECT_DOUBLE_EQ(deepest, depth) << "crowd " << crowds;
            deep += depth > 0.0 ? 1 : 0;
            continue;
        }
        ++found;
        EXPECT_EQ(overlap->i, expected->i) << "crowd " << crowds;
        EXPECT_EQ(overlap->j, expected->j) << "crowd " << crowds;
        EXPECT_DOUBLE_EQ(overlap->overlap, expected->overlap);
    }
    EXPECT_GT(found, kCrowds / 4);
    EXPECT_LT(found, kCrowds * 3 / 4);
    EXPECT_GT(deep, kCrowds / 10);
}

TEST(StartOverlap, BeginsWhereTheSolverSays) {
    Scene scene;
    scene.box.dimension = 2;
    scene.box.faces.fill({Face::kPeriodic, Face::kPeriodic});
    scene.box.size = {10.0, 10.0, 1.0};
    scene.species.push_back({.name = "", .radius = 0.5, .mass = 1.0, .radius_of_gyration = 0.25, .color = ""});
    scene.balls.assign(2, {.species = 0, .position = {1.0, 1.0, 0.0}, .velocity = {}, .spin = {}});
    const auto overlap_at = [&](SolverKind solver, double distance) {
        scene.run.solver = solver;
        scene.balls[1].position[0] = 1.0 + distance;
        return start_overlap(scene).has_value();
    };
    EXPECT_FALSE(overlap_at(SolverKind::kEvents, 1.0 - 0.9e-9));  // as docs/scene-file.md says
    EXPECT_TRUE(overlap_at(SolverKind::kEvents, 1.0 - 1.1e-9));
    EXPECT_FALSE(overlap_at(SolverKind::kSpring, 0.251));
    EXPECT_TRUE(overlap_at(SolverKind::kSpring, 0.249));
}

/// So many that threads share them, of which few overlap.
TEST(StartOverlap, IsTheFirstOfManyThatThreadsShare) {
    constexpr int kAlong = 40;
    Scene scene;
    scene.box.dimension = 3;
    scene.box.faces.fill({Face::kPeriodic, Face::kPeriodic});
    for (int axis = 0; axis < 3; ++axis) scene.box.size[axis] = kAlong;
    scene.species.push_back({.name = "", .radius = 0.4, .mass = 1.0, .radius_of_gyration = 0.2, .color = ""});
    for (int number = 0; number < kAlong * kAlong * kAlong; ++number) {
        const Vector3 place{0.5 + number % kAlong, 0.5 + number / kAlong % kAlong, 0.5 + number / kAlong / kAlong};
        scene.balls.push_back({.species = 0, .position = place, .velocity = {}, .spin = {}});
    }
    EXPECT_FALSE(start_overlap(scene));
    for (const auto& [ball, onto] : {std::pair{63'000, 40}, {50'000, 63'500}, {200, 31'000}, {55, 50'001}}) {
        scene.balls[static_cast<std::size_t>(ball)].position = scene.balls[static_cast<std::size_t>(onto)].position;
        const auto overlap = start_overlap(scene);
        ASSERT_TRUE(overlap);
        EXPECT_EQ(overlap->i, static_cast<std::uint32_t>(std::min(ball, onto)));
        EXPECT_EQ(overlap->j, static_cast<std::uint32_t>(std::max(ball, onto)));
        scene.balls[static_cast<std::size_t>(ball)].position[0] += 0.5;  // no longer too deep
    }
    for (BallEntry& ball : scene.balls) ball.position = {1.0, 1.0, 1.0};
    EXPECT_TRUE(start_overlap(scene));  // and soon
}

}  // namespace carom::scene_load_test
