#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <chrono>
#include <random>
#include <set>
#include <sstream>

#include "host/io/state_text.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::io_state_text_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Real>
std::string number(Real value) {
    std::string text;
    append_number(text, value);
    return text;
}

std::vector<std::string> words_of_names(const std::vector<std::string>& names) {
    std::vector<Species> species;
    for (const std::string& name : names) species.push_back({.name = name});
    return words_of(species);
}

TEST(Words, OfSpeciesAreTheirNamesWithoutBlanksAndStayDifferent) {
    using testing::ElementsAre;
    EXPECT_THAT(words_of_names({"a b", "a_b", "a b_", "a b", ""}),
                ElementsAre("a_b_", "a_b", "a_b__", "a_b_", "unnamed"));
    EXPECT_THAT(words_of_names({"unnamed", "unnamed_", " ", "_", "__"}),
                ElementsAre("unnamed_", "unnamed__", "___", "_", "__"));
}

TEST(Words, AreFoundInAMomentForManyNamesThatBecomeOneWord) {
    constexpr std::size_t kLength = 12;
    std::vector<std::string> names;
    for (std::size_t number = 0; number < std::size_t{1} << kLength; ++number) {
        std::string name = "a";
        for (std::size_t bit = 0; bit < kLength; ++bit) name += (number >> bit & 1U) != 0 ? ' ' : '_';
        names.push_back(name + "b");
    }
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::string> words = words_of_names(names);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));  // one by one it took nine
    EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), names.size());
}

TEST(NumberText, IsShortAndShowsThatItIsNoWholeNumber) {
    EXPECT_EQ(number(1.0), "1.0");
    EXPECT_EQ(number(-0.0), "-0.0");
    EXPECT_EQ(number(0.1), "0.1");
    EXPECT_EQ(number(0.1f), "0.1");
    EXPECT_EQ(number(static_cast<double>(0.1f)), "0.10000000149011612");
    EXPECT_EQ(number(1.0e300), "1e+300");
    EXPECT_EQ(number(123456.0), "123456.0");
    EXPECT_EQ(number(kInfinity), "inf");
}

TEST(NumberText, ReadsBackToTheSameBits) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (!std::isfinite(value) || !std::isfinite(small)) continue;
        double read = 0.0;
        float small_read = 0.0f;
        const std::string text = number(value);
        const std::string small_text = number(small);
        std::from_chars(text.data(), text.data() + text.size(), read);
        std::from_chars(small_text.data(), small_text.data() + small_text.size(), small_read);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(value)) << text;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(small_read), std::bit_cast<std::uint32_t>(small)) << small_text;
    }
}

struct State {
    TrajectoryHeader header;
    Frame frame;
};

/// Three balls: a named one, a nameless one of infinite mass, and one that has left.
State three_balls(int dimension) {
    State state{test::sample_header({.dimension = dimension, .balls = 3}), {}};
    state.frame.resize(dimension, 3);
    state.frame.time = 1.0;
    state.frame.step = 1000;
    state.frame.gone = {0, 0, 1};
    for (int axis = 0; axis < dimension; ++axis) {
        state.frame.position[axis] = {0.1 + axis, -3.0, 7.0};
        state.frame.velocity[axis] = {static_cast<double>(0.3f), 0.0, 7.0};
    }
    for (int axis = dimension == 2 ? 2 : 0; axis < 3; ++axis)
        state.frame.spin[axis] = {static_cast<double>(0.7f), 2.0, 7.0};
    return state;
}

TEST(StateText, JsonIn2D) {
    const State state = three_balls(2);
    EXPECT_EQ(state_json(state.header, state.frame),
              R"({"time": 1.0, "step": 1000, "dimension": 2,
 "balls": [
{"id": 0, "species": "pin \"one\"", "position": [0.1, 1.1], "velocity": [0.3, 0.3], "spin": 0.7, "radius": 0.25, "mass": 1.5},
{"id": 1, "species": null, "position": [-3.0, -3.0], "velocity": [0.0, 0.0], "spin": 2.0, "radius": 0.125, "mass": null}]}
)");
}

TEST(StateText, JsonIn3DHasThreeOfEach) {
    const State state = three_balls(3);
    const std::string text = state_json(state.header, state.frame);
    EXPECT_THAT(text, testing::HasSubstr(R"("dimension": 3)"));
    EXPECT_THAT(text, testing::HasSubstr(
                          R"("position": [0.1, 1.1, 2.1], "velocity": [0.3, 0.3, 0.3], "spin": [0.7, 0.7, 0.7])"));
}

TEST(StateText, DoublePrecisionPrintsDoubles) {
    State state = three_balls(2);
    state.header.description.precision = "double";
    EXPECT_THAT(state_json(state.header, state.frame),
                testing::HasSubstr("[0.30000001192092896, 0.30000001192092896]"));
}

TEST(StateText, WhatIsNotInTheFileIsNull) {
    State state = three_balls(2);
    state.frame.spin[2].assign(3, std::numeric_limits<double>::quiet_NaN());
    EXPECT_THAT(state_json(state.header, state.frame), testing::HasSubstr("\"spin\": null"));
    EXPECT_THAT(state_csv(state.header, state.frame), testing::HasSubstr(",0.3,0.3,,0.25,1.5\n"));
}

TEST(StateText, NoBallsMakeAnEmptyList) {
    const State state{test::sample_header({.balls = 0}), test::sample_frame({.balls = 0}, 0)};
    EXPECT_EQ(state_json(state.header, state.frame),
              "{\"time\": 0.0, \"step\": 0, \"dimension\": 2,\n \"balls\": []}\n");
}

TEST(StateText, JsonEscapesNames) {
    State state = three_balls(2);
    state.header.species_table[0].name = "a\\b\n\tü";
    EXPECT_THAT(state_json(state.header, state.frame), testing::HasSubstr("\"a\\\\b\\u000a\\u0009ü\""));
}

TEST(StateText, CsvIn2D) {
    const State state = three_balls(2);
    EXPECT_EQ(state_csv(state.header, state.frame),
              "id,species,x,y,vx,vy,w,radius,mass\n"
              "0,\"pin \"\"one\"\"\",0.1,1.1,0.3,0.3,0.7,0.25,1.5\n"
              "1,,-3.0,-3.0,0.0,0.0,2.0,0.125,inf\n");
}

TEST(StateText, CsvIn3D) {
    const State state = three_balls(3);
    EXPECT_THAT(state_csv(state.header, state.frame),
                testing::StartsWith("id,species,x,y,z,vx,vy,vz,wx,wy,wz,radius,mass\n"
                                    "0,\"pin \"\"one\"\"\",0.1,1.1,2.1,0.3,0.3,0.3,0.7,0.7,0.7,0.25,1.5\n"));
}

}  // namespace carom::io_state_text_test
