#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/state/errors.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

using test::FileSizeLimit;
using test::message_of;
using test::TemporaryFolder;

/// Numbers of every kind: all bits are equally likely, so NaNs with payload and denormals are among them.
std::vector<double> any_bits(std::size_t count, std::mt19937_64& random) {
    std::vector<double> values(count);
    for (double& value : values) value = std::bit_cast<double>(random());
    if (count > 4) {
        values[0] = -0.0;
        values[1] = std::numeric_limits<double>::infinity();
        values[2] = std::numeric_limits<double>::signaling_NaN();
        values[3] = std::numeric_limits<double>::denorm_min();
    }
    return values;
}

Checkpoint sample_checkpoint(int dimension, std::size_t count, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    Checkpoint checkpoint;
    checkpoint.scene_path = "a folder/scene.toml";
    checkpoint.scene_source = "[scene]\ndimension = 2  # ünïcödé\n";
    checkpoint.description = {.solver = "spring",
                              .backend = "cpu",
                              .device = "",
                              .threads = 3,
                              .precision = "double",
                              .dt = 1.0e-3,
                              .memory_bytes = 1,
                              .parameters = {{"stiffness", 1.0e5}}};
    SolverState& state = checkpoint.state;
    state.step = 123456789012345;
    state.time = 0.1;
    state.balls.dimension = dimension;
    state.balls.species_table = {{"a", 0.5, std::numeric_limits<double>::infinity(), 0.1, "#000000"}, {}};
    state.balls.resize(count);
    for (int axis = 0; axis < dimension; ++axis) {
        state.balls.position[axis] = any_bits(count, random);
        state.balls.velocity[axis] = any_bits(count, random);
        for (auto& image : state.balls.image[axis]) image = static_cast<std::int32_t>(random());
    }
    for (int axis = dimension == 2 ? 2 : 0; axis < 3; ++axis) state.balls.spin[axis] = any_bits(count, random);
    for (auto& species : state.balls.species) species = random() % 2;
    for (auto& gone : state.balls.gone) gone = random() % 2;
    state.tallies = {.wall_impulse = any_bits(7, random),
                     .max_overlap = 0.3,
                     .balls_left = 4,
                     .sorts = 5,
                     .events = 1ULL << 60,
                     .collisions = 7};
    state.extra = {{"drift bound / margin", any_bits(5, random)}, {"nothing", {}}, {"ünïcödé", {1.0}}};
    return checkpoint;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
}

void expect_same(const Checkpoint& a, const Checkpoint& b) {
    EXPECT_EQ(a.scene_path, b.scene_path);
    EXPECT_EQ(a.scene_source, b.scene_source);
    EXPECT_EQ(a.description.parameters, b.description.parameters);
    EXPECT_EQ(a.description.precision, b.description.precision);
    EXPECT_EQ(a.state.step, b.state.step);
    EXPECT_EQ(a.state.time, b.state.time);
    const Balls& x = a.state.balls;
    const Balls& y = b.state.balls;
    EXPECT_EQ(x.dimension, y.dimension);
    EXPECT_EQ(x.species_table, y.species_table);
    EXPECT_EQ(x.species, y.species);
    EXPECT_EQ(x.gone, y.gone);
    EXPECT_EQ(x.image, y.image);
    for (int axis = 0; axis < 3; ++axis) {
        EXPECT_TRUE(same_bits(x.position[axis], y.position[axis]));
        EXPECT_TRUE(same_bits(x.velocity[axis], y.velocity[axis]));
        EXPECT_TRUE(same_bits(x.spin[axis], y.spin[axis]));
    }
    const Tallies& s = a.state.tallies;
    const Tallies& t = b.state.tallies;
    EXPECT_TRUE(same_bits(s.wall_impulse, t.wall_impulse));
    EXPECT_EQ(s.max_overlap, t.max_overlap);
    EXPECT_EQ(s.balls_left, t.balls_left);
    EXPECT_EQ(s.sorts, t.sorts);
    EXPECT_EQ(s.events, t.events);
    EXPECT_EQ(s.collisions, t.collisions);
    ASSERT_EQ(a.state.extra.size(), b.state.extra.size());
    for (std::size_t i = 0; i < a.state.extra.size(); ++i) {
        EXPECT_EQ(a.state.extra[i].first, b.state.extra[i].first);
        EXPECT_TRUE(same_bits(a.state.extra[i].second, b.state.extra[i].second));
    }
}

TEST(Checkpoint, KeepsEveryBit) {
    const TemporaryFolder folder;
    for (const int dimension : {2, 3}) {
        for (const std::size_t count : {0, 1, 1000}) {
            const Checkpoint checkpoint = sample_checkpoint(dimension, count);
            save_checkpoint(folder.file("c.h5"), checkpoint);
            expect_same(load_checkpoint(folder.file("c.h5")), checkpoint);
        }
    }
    EXPECT_NE(load_checkpoint(folder.file("c.h5")).version, "");
}

TEST(Checkpoint, LeavesNothingElseInTheFolder) {
    const TemporaryFolder folder;
    save_checkpoint(folder.file("c.h5"), sample_checkpoint(2, 10));
    save_checkpoint(folder.file("c.h5"), sample_checkpoint(2, 20));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    EXPECT_EQ(load_checkpoint(folder.file("c.h5")).state.balls.size(), 20);
}

/// A killed run leaves the file that it was writing, which must never come into the place of a whole one.
TEST(Checkpoint, ReplacesWhatAKilledRunLeft) {
    const TemporaryFolder folder;
    const std::string path = folder.file("c.h5");
    save_checkpoint(path, sample_checkpoint(2, 10));
    std::ofstream(path + ".partial") << "half a checkpoint";
    std::ofstream(path + ".partial.partial") << "half of one that was written beside that";
    save_checkpoint(path, sample_checkpoint(2, 20));
    expect_same(load_checkpoint(path), sample_checkpoint(2, 20));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Checkpoint, AFullDiskLeavesTheOldOne) {
    const TemporaryFolder folder;
    const std::string path = folder.file("c.h5");
    save_checkpoint(path, sample_checkpoint(2, 10));
    for (const rlim_t limit : {0, 3000, 50'000, 200'000}) {
        const FileSizeLimit full(limit);
        EXPECT_EQ(message_of<SystemError>([&] { save_checkpoint(path, sample_checkpoint(2, 10000)); }),
                  path + ": cannot write: File too large; no checkpoint was written, an older one is untouched");
    }
    expect_same(load_checkpoint(path), sample_checkpoint(2, 10));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Checkpoint, SaysWhyItCannotBeWritten) {
    const TemporaryFolder folder;
    EXPECT_THAT(message_of<SystemError>([&] { save_checkpoint(folder.file("none/c.h5"), sample_checkpoint(2, 1)); }),
                testing::AllOf(testing::HasSubstr("none/c.h5"), testing::HasSubstr("No such file or directory")));
}

TEST(Checkpoint, ReaderNamesWhatIsWrong) {
    const TemporaryFolder folder;
    const std::string path = folder.file("c.h5");
    EXPECT_EQ(message_of<SystemError>([&] { load_checkpoint(path); }),
              path + ": cannot be opened: No such file or directory");
    std::ofstream(path) << "no HDF5";
    EXPECT_EQ(message_of<InputError>([&] { load_checkpoint(path); }),
              path + ": is not a checkpoint of carom (no HDF5 file)");
    std::filesystem::remove(path);
    TrajectoryWriter(path, test::sample_header({}), false);
    EXPECT_EQ(message_of<InputError>([&] { load_checkpoint(path); }),
              path + ": is not a whole checkpoint of carom: it is something else");
    save_checkpoint(path, sample_checkpoint(2, 1));
    EXPECT_EQ(message_of<InputError>([&] { TrajectoryReader reader(path); }),
              path + ": is a checkpoint, which carom run --resume takes; give the trajectory of its run");
}

/// A process is killed while it writes one checkpoint after the other: there is always a whole one.
TEST(Checkpoint, IsWholeWheneverItsWriterIsKilled) {
    std::mt19937 random(7);
    const TemporaryFolder folder;
    const std::string path = folder.file("c.h5");
    save_checkpoint(path, sample_checkpoint(2, 5000, 0));
    for (int trial = 0; trial < 10; ++trial) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            for (unsigned seed = 0;; ++seed) save_checkpoint(path, sample_checkpoint(2, 5000, seed % 4));
        }
        ::usleep(std::uniform_int_distribution<useconds_t>(0, 60000)(random));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const Checkpoint checkpoint = load_checkpoint(path);
        unsigned seed = 0;
        while (seed < 3 &&
               !same_bits(checkpoint.state.balls.position[0], sample_checkpoint(2, 5000, seed).state.balls.position[0]))
            ++seed;
        expect_same(checkpoint, sample_checkpoint(2, 5000, seed));
    }
}

}  // namespace
}  // namespace carom
