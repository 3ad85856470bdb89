#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "host/io/checkpoint.hpp"
#include "host/io/replacement.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/state/errors.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::io_checkpoint_test {

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
    SolverRecords& records = state.records;
    EventsRecord& events = records.events.emplace();
    const auto by_axis = [&](std::array<std::vector<double>, 3>& values) {
        for (int axis = 0; axis < dimension; ++axis) values[axis] = any_bits(count, random);
    };
    by_axis(events.position), by_axis(events.velocity), by_axis(events.cell), by_axis(events.image);
    by_axis(events.bubble);
    for (auto* values : {&events.own_time, &events.event_time, &events.contact_time, &events.event_partner,
                         &events.contact_partner, &events.contact_stale, &events.last_hit}) {
        *values = any_bits(count, random);
    }
    double next = 0.5;
    for (double* number : {&events.twice_kinetic,
                           &events.mass,
                           &events.flow_time,
                           &events.twice_kinetic_time,
                           &events.gravity_virial_time,
                           &events.clock_high,
                           &events.clock_low,
                           &events.now,
                           &events.calendar_end,
                           &events.speed_scale,
                           &events.watch_time,
                           &events.cells[0],
                           &events.cells[1],
                           &events.cells[2],
                           &events.counts.collisional_virial,
                           &events.counts.wall_virial,
                           &events.counts.seam_virial,
                           &events.counts.virial_start,
                           &events.counts.path_length,
                           &events.counts.worst_overlap,
                           &events.counts.collisional_stress[5]}) {
        *number = next++;
    }
    for (int axis = 0; axis < dimension; ++axis) {
        events.momentum[axis] = next++;
        events.moment[axis] = next++;
    }
    std::uint64_t count_of = 1ULL << 52;
    for (std::uint64_t* number :
         {&events.watch_events, &events.counts.ball_collisions, &events.counts.wall_collisions,
          &events.counts.heavy_collisions, &events.counts.clusters, &events.counts.gave_up,
          &events.counts.elastic_by_tc, &events.counts.elastic_by_cutoff, &events.counts.epochs}) {
        *number = count_of++;
    }
    records.thermal_draws = 12;
    records.events_progress = {.stage = 1, .visits = 2, .draws = 3};
    records.averages = {{"nothing", {}}, {"g-r_2", any_bits(5, random)}};
    records.row_means = any_bits(3, random);
    records.spring = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
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
    const SolverRecords& r = a.state.records;
    const SolverRecords& q = b.state.records;
    ASSERT_TRUE(r.events && q.events);
    for (const auto member : {&EventsRecord::position, &EventsRecord::velocity, &EventsRecord::cell,
                              &EventsRecord::image, &EventsRecord::bubble}) {
        for (int axis = 0; axis < 3; ++axis) {
            EXPECT_TRUE(same_bits(((*r.events).*member)[axis], ((*q.events).*member)[axis]));
        }
    }
    for (const auto member :
         {&EventsRecord::own_time, &EventsRecord::event_time, &EventsRecord::contact_time, &EventsRecord::event_partner,
          &EventsRecord::contact_partner, &EventsRecord::contact_stale, &EventsRecord::last_hit}) {
        EXPECT_TRUE(same_bits((*r.events).*member, (*q.events).*member));
    }
    const auto numbers = [](const EventsRecord& e) {
        const EventsCounts& c = e.counts;
        std::vector<double> all{
            e.twice_kinetic, e.mass,        e.flow_time,   e.twice_kinetic_time, e.gravity_virial_time,
            e.clock_high,    e.clock_low,   e.now,         e.calendar_end,       e.speed_scale,
            e.watch_time,    c.wall_virial, c.seam_virial, c.virial_start,       c.path_length,
            c.worst_overlap, e.cells[0],    e.cells[1],    e.cells[2],           c.collisional_virial};
        for (const std::uint64_t count : {e.watch_events, c.ball_collisions, c.wall_collisions, c.heavy_collisions,
                                          c.clusters, c.gave_up, c.elastic_by_tc, c.elastic_by_cutoff, c.epochs}) {
            all.push_back(static_cast<double>(count));
        }
        all.insert(all.end(), c.collisional_stress.begin(), c.collisional_stress.end());
        all.insert(all.end(), e.momentum.begin(), e.momentum.end());
        all.insert(all.end(), e.moment.begin(), e.moment.end());
        return all;
    };
    EXPECT_EQ(numbers(*r.events), numbers(*q.events));
    EXPECT_EQ(r.thermal_draws, q.thermal_draws);
    EXPECT_EQ(r.spring_stage, q.spring_stage);
    ASSERT_EQ(r.events_progress.has_value(), q.events_progress.has_value());
    if (r.events_progress) {
        EXPECT_EQ(r.events_progress->stage, q.events_progress->stage);
        EXPECT_EQ(r.events_progress->visits, q.events_progress->visits);
        EXPECT_EQ(r.events_progress->draws, q.events_progress->draws);
    }
    ASSERT_EQ(r.averages.size(), q.averages.size());
    for (std::size_t i = 0; i < r.averages.size(); ++i) {
        EXPECT_EQ(r.averages[i].name, q.averages[i].name);
        EXPECT_TRUE(same_bits(r.averages[i].numbers, q.averages[i].numbers));
    }
    EXPECT_TRUE(same_bits(r.row_means, q.row_means));
    ASSERT_TRUE(r.spring && q.spring);
    for (const auto member : {&SpringRecord::stiffness, &SpringRecord::wall_stiffness, &SpringRecord::damping,
                              &SpringRecord::damping_ratio, &SpringRecord::wall_damping_ratio, &SpringRecord::dt,
                              &SpringRecord::design_speed, &SpringRecord::contact_duration}) {
        EXPECT_EQ((*r.spring).*member, (*q.spring).*member);
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

/// So many balls from `first` on.
Balls part_of(const Balls& balls, std::size_t first, std::size_t count) {
    Balls part;
    part.dimension = balls.dimension;
    part.species_table = balls.species_table;
    part.resize(count);
    part.first = first;
    part.rest = balls.size() - first - count;
    const auto copy = [&](const auto& from, auto& to) {
        if (!from.empty()) std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, to.begin());
    };
    copy(balls.species, part.species);
    copy(balls.gone, part.gone);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        copy(balls.position[axis], part.position[axis]);
        copy(balls.velocity[axis], part.velocity[axis]);
        copy(balls.spin[axis], part.spin[axis]);
        copy(balls.image[axis], part.image[axis]);
    }
    return part;
}

TEST(Checkpoint, OfPartsIsThatOfTheWhole) {
    const TemporaryFolder folder;
    for (const int dimension : {2, 3}) {
        const Checkpoint whole = sample_checkpoint(dimension, 70001);
        const Balls& balls = whole.state.balls;
        save_checkpoint(folder.file("whole.h5"), whole);
        {
            Checkpoint rest = whole;
            rest.state.balls = part_of(balls, 0, 0);
            CheckpointWriter writer(folder.file("parts.h5"), rest, balls.size());
            for (std::size_t first = 0; first < balls.size(); first += 30000) {
                EXPECT_FALSE(std::filesystem::exists(folder.file("parts.h5")) && dimension == 2);
                writer.add(part_of(balls, first, std::min<std::size_t>(30000, balls.size() - first)));
            }
            writer.finish(rest.state);
        }
        expect_same(whole, load_checkpoint(folder.file("parts.h5")));
        EXPECT_EQ(std::filesystem::file_size(folder.file("parts.h5")),
                  std::filesystem::file_size(folder.file("whole.h5")));

        Checkpoint read = load_checkpoint(folder.file("whole.h5"), true);
        EXPECT_EQ(read.state.balls.size(), 0u);
        ASSERT_NE(read.state.parts, nullptr);
        EXPECT_EQ(read.state.ball_count(), balls.size());
        std::filesystem::remove(folder.file("whole.h5"));  // another may have taken its place
        std::size_t parts = 0;
        read.state.parts->each([&](const Balls& part) {
            ++parts;
            const Balls same = part_of(balls, part.first, part.size());
            EXPECT_EQ(part.rest, same.rest);
            EXPECT_EQ(part.species, same.species);
            EXPECT_EQ(part.gone, same.gone);
            EXPECT_EQ(part.image, same.image);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                EXPECT_TRUE(same_bits(part.position[axis], same.position[axis]));
                EXPECT_TRUE(same_bits(part.velocity[axis], same.velocity[axis]));
                EXPECT_TRUE(same_bits(part.spin[axis], same.spin[axis]));
            }
        });
        EXPECT_EQ(parts, 2u);
    }
}

TEST(Checkpoint, OfWhichAPartIsMissingLeavesTheOldOne) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Checkpoint old = sample_checkpoint(2, 10, 1);
    save_checkpoint(path, old);
    const Checkpoint next = sample_checkpoint(2, 10, 2);
    {
        CheckpointWriter writer(path, next, 10);
        writer.add(part_of(next.state.balls, 0, 4));
        EXPECT_THROW(writer.add(part_of(next.state.balls, 5, 5)), std::invalid_argument);
        EXPECT_THROW(writer.finish(next.state), std::invalid_argument);
    }
    expect_same(old, load_checkpoint(path));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()), {}), 1);
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
    std::ofstream(path + ".carom-partial") << "half a checkpoint";
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
    EXPECT_EQ(
        message_of<InputError>([&] { load_checkpoint(path); }),
        path +
            ": is not a whole checkpoint of carom: it is a trajectory; the checkpoint of its run has checkpoint in "
            "its name");
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
        const pid_t child = test::forked([&] {
            for (unsigned seed = 0;; ++seed) save_checkpoint(path, sample_checkpoint(2, 5000, seed % 4));
        });
        ASSERT_GE(child, 0);
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

TEST(Replacement, IsNotKeptLockedByAChildThatWasBornMeanwhile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("whole.h5");
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(::pipe(pipe_ends.data()), 0);
    pid_t child = 0;
    {
        Replacement file(path);
        child = test::forked([&] {  // lives on, with the file open, until the other end is closed
            ::close(pipe_ends[1]);
            char byte = 0;
            while (::read(pipe_ends[0], &byte, 1) > 0) {
            }
        });
        ASSERT_GE(child, 0);
        file.commit(false);
        EXPECT_TRUE(is_being_written(path));
    }
    EXPECT_FALSE(is_being_written(path));
    EXPECT_NO_THROW(Replacement(path).commit(false));
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    ::waitpid(child, nullptr, 0);
}

TEST(Replacement, OfSeveralWhoFindWhatAKilledOneLeftOneWrites) {
    const TemporaryFolder folder;
    const std::string path = folder.file("whole");
    constexpr int kTrials =
        400;  // one in sixty had half a file in place before they took turns to remove what was left
    for (int trial = 0; trial < kTrials; ++trial) {
        std::filesystem::remove(path);
        std::ofstream(path + ".carom-partial") << "left";
        std::array<int, 2> pipe_ends{};
        ASSERT_EQ(::pipe(pipe_ends.data()), 0);
        for (unsigned k = 0; k < 3; ++k) {
            const pid_t child = test::forked([&] {
                char byte = 0;
                ::close(pipe_ends[1]);
                while (::read(pipe_ends[0], &byte, 1) > 0) {  // until all begin
                }
                try {
                    Replacement file(path);
                    ::usleep(100 * k);
                    if (::write(file.descriptor(), "whole", 5) == 5) file.commit(false);
                } catch (const std::runtime_error&) {  // another was first
                }
            });
            ASSERT_GE(child, 0);
        }
        ::close(pipe_ends[0]);
        ::close(pipe_ends[1]);
        for (int ended = 0; ended<3; ended += ::waitpid(-1, nullptr, WNOHANG)> 0 ? 1 : 0) {
            struct stat status {};
            ASSERT_TRUE(::stat(path.c_str(), &status) != 0 || status.st_size == 5) << "half a file in place";
        }
        ASSERT_EQ(std::filesystem::file_size(path), 5u);
    }
}

}  // namespace carom::io_checkpoint_test
