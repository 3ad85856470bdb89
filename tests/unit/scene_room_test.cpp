#include <gtest/gtest.h>

#include <string>

#include "host/scene/load.hpp"
#include "host/scene/room.hpp"

namespace carom {
namespace {

/// A box of 40 x 20 from (0, 0) with walls at its faces.
Scene box_with(const std::string& walls, const std::string& boundary = "\"wall\"") {
    return parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [40.0, 20.0]\nboundary = [\"wall\", " + boundary +
            "]\n[run]\nsolver = \"events\"\nuntil = 10.0\n[[ball]]\nradius = 0.5\nmass = 1.0\nposition = "
            "[30.0, 10.0]\n" +
            walls,
        "room.toml");
}

std::string plane(const std::string& normal, double offset, double velocity) {
    return "[[wall]]\nshape = \"plane\"\nnormal = " + normal + "\noffset = " + std::to_string(offset) +
           "\nvelocity = " + std::to_string(velocity) + "\n";
}

TEST(Room, IsTheBoxWithoutWalls) {
    EXPECT_EQ(room_at(box_with(""), 5.0).volume(), 800.0);
    EXPECT_EQ(room_at(box_with(""), 5.0, 0.5).volume(), 39.0 * 19.0);
    const Scene walled = box_with(plane("[1.0, 0.0]", 10.0, 2.0));
    EXPECT_EQ(room_of(walled.box, 0.5).volume(), 39.0 * 19.0) << "whatever stands in it";
    EXPECT_EQ(room_at(box_with("", "\"periodic\""), 5.0, 0.5).volume(), 39.0 * 20.0) << "no wall, no radius";
}

TEST(Room, IsBetweenPlanesWhereTheyStand) {
    const Scene scene = box_with(plane("[1.0, 0.0]", -4.0, 2.0) + plane("[-1.0, 0.0]", -38.0, 1.0));
    EXPECT_EQ(room_at(scene, 0.0).axis[0].low, 0.0) << "not in the box yet";
    EXPECT_EQ(room_at(scene, 0.0).axis[0].high, 38.0);
    const Room later = room_at(scene, 5.0, 0.5);
    EXPECT_EQ(later.axis[0].low, 6.5);
    EXPECT_EQ(later.axis[0].high, 32.5);
    EXPECT_EQ(later.volume(), 26.0 * 19.0);
}

TEST(Room, IsNoneWhereWallsHaveMetOrAnyPlaneHasComeThroughTheBox) {
    const Scene met = box_with(plane("[1.0, 0.0]", 0.0, 3.0) + plane("[-1.0, 0.0]", -38.0, 3.0));
    EXPECT_GT(room_at(met, 6.0).volume(), 0.0);
    EXPECT_EQ(room_at(met, 7.0).volume(), 0.0);
    EXPECT_EQ(room_at(met, 6.0, 1.5).volume(), 0.0) << "for balls as large as that";
    // The far corner lies 0.6 * 40 + 0.8 * 20 = 40 along it; before, what it takes is not known.
    const Scene slanting = box_with(plane("[0.6, 0.8]", 0.0, 5.0));
    EXPECT_EQ(room_at(slanting, 7.9).volume(), 800.0);
    EXPECT_EQ(room_at(slanting, 8.1).volume(), 0.0);
    EXPECT_EQ(axis_across(slanting.walls[0], 2), -1);
    EXPECT_EQ(axis_across(met.walls[1], 2), 0);
}

}  // namespace
}  // namespace carom
