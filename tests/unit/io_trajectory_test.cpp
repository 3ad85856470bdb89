#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include "host/io/hdf5.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/state/errors.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace {

/// Whether this process writes in small pieces, with time between.
bool slow_writes = false;
/// Writes of nodes of B-trees until this process stops in the middle of one; 0: it does not.
int nodes_until_stop = 0;

}  // namespace

/// Stands before the system's, for what a writer that is interrupted within a block leaves to readers.
extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
    constexpr std::size_t kPiece = 128;
    constexpr std::size_t kLargestBlock = 4096;
    const auto* from = static_cast<const char*>(bytes);
    const bool pieces = slow_writes && size <= kLargestBlock;
    std::size_t done = 0;
    if (nodes_until_stop > 0 && size > kPiece && std::memcmp(from, "TREE", 4) == 0 && --nodes_until_stop == 0) {
        done = static_cast<std::size_t>(::syscall(SYS_pwrite64, file, from, size / 2, offset));
        ::raise(SIGSTOP);
    }
    do {
        const std::size_t part = pieces ? std::min(kPiece, size - done) : size - done;
        const long written = ::syscall(SYS_pwrite64, file, from + done, part, offset + static_cast<off_t>(done));
        if (written <= 0) return done > 0 ? static_cast<ssize_t>(done) : written;
        done += static_cast<std::size_t>(written);
        if (pieces) ::sched_yield();
    } while (pieces && done < size);
    if (pieces) ::usleep(1);
    return static_cast<ssize_t>(done);
}

namespace carom::io_trajectory_test {

using test::FileSizeLimit;
using test::message_of;
using test::Sample;
using test::TemporaryFolder;

void write_sample(const std::string& path, const Sample& sample, std::size_t frames, bool close = true) {
    TrajectoryWriter writer(path, sample_header(sample), false);
    for (std::size_t k = 0; k < frames; ++k) {
        writer.append_row(test::sample_row(k));
        writer.append(test::sample_frame(sample, k));
    }
    if (close) writer.close(R"({"time": 1.5})");
}

void expect_frames(const TrajectoryReader& reader, const Sample& sample, std::size_t frames) {
    Frame frame;
    for (std::size_t k = 0; k < frames; ++k) {
        reader.read(k, frame);
        EXPECT_EQ(test::difference(frame, test::sample_frame(sample, k)), "") << "frame " << k;
    }
}

/// Few balls share chunks between frames, many have chunks of their own, very many have several for each frame.
class TrajectoryOfAnyKind : public testing::TestWithParam<Sample> {};

TEST_P(TrajectoryOfAnyKind, ReadsBackToTheBit) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const std::size_t frames = GetParam().balls > 100000 ? 3 : 12;
    write_sample(path, GetParam(), frames);
    const TrajectoryReader reader(path);
    ASSERT_EQ(reader.frame_count(), frames);
    expect_frames(reader, GetParam(), frames);
}

INSTANTIATE_TEST_SUITE_P(Samples, TrajectoryOfAnyKind,
                         testing::Values(Sample{.dimension = 2, .balls = 0}, Sample{.dimension = 2, .balls = 1},
                                         Sample{.dimension = 2, .balls = 10, .precision = "double"},
                                         Sample{.dimension = 3, .balls = 10},
                                         Sample{.dimension = 3, .balls = 50, .periodic = false, .some_leave = true},
                                         Sample{.dimension = 2, .balls = 5000, .periodic = false, .some_leave = true},
                                         Sample{.dimension = 2, .balls = 5000},
                                         Sample{.dimension = 3, .balls = 600001, .precision = "double"}));

/// So many balls of a frame from `first` on.
Frame part_of(const Frame& frame, std::size_t first, std::size_t count) {
    Frame part;
    part.resize(frame.dimension, count);
    part.first = first;
    part.rest = frame.size() - first - count;
    part.time = frame.time;
    part.step = frame.step;
    const auto copy = [&](const auto& from, auto& to) {
        if (!from.empty()) std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, to.begin());
    };
    copy(frame.gone, part.gone);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        copy(frame.position[axis], part.position[axis]);
        copy(frame.velocity[axis], part.velocity[axis]);
        copy(frame.spin[axis], part.spin[axis]);
        copy(frame.image[axis], part.image[axis]);
    }
    return part;
}

TEST(Trajectory, OfPartsIsThatOfWholeFrames) {
    const Sample sample{.dimension = 2, .balls = 600001, .periodic = false, .some_leave = true};
    const TemporaryFolder folder;
    write_sample(folder.file("whole.h5"), sample, 4);
    const std::size_t most = balls_per_chunk(sample.balls);
    EXPECT_LT(2 * most, sample.balls);
    StateHash hash;
    {
        TrajectoryWriter writer(folder.file("parts.h5"), sample_header(sample), false);
        for (std::size_t k = 0; k < 4; ++k) {
            writer.append_row(test::sample_row(k));
            const Frame frame = test::sample_frame(sample, k);
            hash = {};
            for (std::size_t first = 0; first < sample.balls; first += most) {
                const Frame part = part_of(frame, first, std::min(most, sample.balls - first));
                writer.append(part);
                hash.add(part);
                EXPECT_EQ(writer.frames(), part.rest == 0 ? k + 1 : k);
            }
            EXPECT_EQ(hash.value(), state_hash(frame));
        }
        writer.close(R"({"time": 1.5})");
    }
    const TrajectoryReader reader(folder.file("parts.h5"));
    ASSERT_EQ(reader.frame_count(), 4u);
    expect_frames(reader, sample, 4);
    EXPECT_EQ(std::filesystem::file_size(folder.file("parts.h5")), std::filesystem::file_size(folder.file("whole.h5")));
}

TEST(Trajectory, AFrameOfWhichAPartIsMissingIsNotThere) {
    const Sample sample{.dimension = 2, .balls = 600001};
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    {
        TrajectoryWriter writer(path, sample_header(sample), false);
        writer.append(test::sample_frame(sample, 0));
        writer.append(part_of(test::sample_frame(sample, 1), 0, balls_per_chunk(sample.balls)));
        EXPECT_THROW(writer.append(test::sample_frame(sample, 1)), std::invalid_argument);
        EXPECT_THAT(message_of<SystemError>([&] { writer.append_row(test::sample_row(1)), writer.flush(); }),
                    testing::HasSubstr("1 frames and 0 rows are safely in it"));
        EXPECT_THROW(writer.close("{}"), SystemError);
    }
    const TrajectoryReader reader(path);
    ASSERT_EQ(reader.frame_count(), 1u);
    expect_frames(reader, sample, 1);
}

TEST(Trajectory, HeaderReadsBack) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const TrajectoryHeader written = test::sample_header({.dimension = 3, .periodic = false, .some_leave = true});
    TrajectoryWriter(path, written, false).close("{}");
    const TrajectoryReader reader(path);
    const TrajectoryHeader& read = reader.header();
    EXPECT_EQ(read.title, written.title);
    EXPECT_EQ(read.scene_path, written.scene_path);
    EXPECT_EQ(read.scene_source, written.scene_source);
    EXPECT_EQ(read.box.min, written.box.min);
    EXPECT_EQ(read.box.size, written.box.size);
    EXPECT_EQ(read.box.faces, written.box.faces);
    EXPECT_EQ(read.species_table, written.species_table);
    EXPECT_EQ(read.species, written.species);
    EXPECT_EQ(read.fields, written.fields);
    EXPECT_EQ(read.observables, written.observables);
    EXPECT_EQ(read.description.device, written.description.device);
    EXPECT_EQ(read.description.threads, written.description.threads);
    EXPECT_EQ(read.description.parameters, written.description.parameters);
    EXPECT_NE(read.version, "");
}

TEST(Trajectory, RowsReadBackInTheOrderOfTheHeader) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryWriter writer(path, test::sample_header({}), false);
    for (std::size_t row = 0; row < 3000; ++row) writer.append_row(test::sample_row(row));
    writer.close("{}");
    EXPECT_EQ(writer.rows(), 3000);
    const ObservableTable table = TrajectoryReader(path).observables();
    ASSERT_EQ(table.rows(), 3000);
    EXPECT_EQ(table.width, 4);
    EXPECT_EQ(table.column("momentum"), 1);
    EXPECT_EQ(table.column("contacts"), 3);
    EXPECT_EQ(table.column("nonsense"), table.width);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const ObservableRow expected = test::sample_row(row);
        ASSERT_EQ(table.time[row], expected.time);
        ASSERT_EQ(table.step[row], expected.step);
        for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(table.at(row, i), expected.values[i]);
    }
}

TEST(Trajectory, RowsThatOnlyFillUpAreLeftOut) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryWriter writer(path, test::sample_header({}), false);
    writer.append_row(test::sample_row(0));
    for (std::size_t k = 0; k < 4; ++k) writer.append(test::sample_frame({}, k));
    writer.append_row(test::sample_row(40));
    writer.close("{}");
    const ObservableTable table = TrajectoryReader(path).observables();
    EXPECT_EQ(table.time, (std::vector<double>{0.0, 2.0}));
    EXPECT_EQ(table.at(1, 0), 140.0);
}

TEST(Trajectory, HoldsTheFieldsThatWereAskedFor) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryHeader header = test::sample_header({});
    header.fields = {"position"};
    TrajectoryWriter writer(path, header, false);
    writer.append(test::sample_frame({}, 1));
    writer.close("{}");
    Frame frame;
    TrajectoryReader(path).read(0, frame);
    EXPECT_EQ(frame.position, test::sample_frame({}, 1).position);
    EXPECT_TRUE(std::isnan(frame.velocity[0][0]));
    EXPECT_TRUE(std::isnan(frame.spin[2][9]));
}

TEST(Trajectory, MayHoldNoPositionsAndNoObservables) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryHeader header = test::sample_header({});
    header.fields = {"velocity"};
    header.observables.clear();
    TrajectoryWriter writer(path, header, false);
    writer.append(test::sample_frame({}, 1));
    writer.close("{}");
    const TrajectoryReader reader(path);
    ASSERT_EQ(reader.frame_count(), 1);
    Frame frame;
    reader.read(0, frame);
    EXPECT_EQ(frame.velocity, test::sample_frame({}, 1).velocity);
    EXPECT_EQ(reader.observables().rows(), 0);
}

TEST(Trajectory, FindsTheFrameNearestInTime) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    write_sample(path, {}, 4);  // at 0, 0.5, 1, 1.5
    const TrajectoryReader reader(path);
    EXPECT_EQ(reader.frame_at(-1.0), 0);
    EXPECT_EQ(reader.frame_at(0.7), 1);
    EXPECT_EQ(reader.frame_at(0.75), 1);
    EXPECT_EQ(reader.frame_at(1e9), 3);
}

TEST(Trajectory, IsReadableWhileItIsWritten) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Sample sample{.balls = 1000};
    TrajectoryWriter writer(path, sample_header(sample), false);
    EXPECT_EQ(TrajectoryReader(path).frame_count(), 0);
    for (std::size_t k = 0; k < 5; ++k) {
        writer.append(test::sample_frame(sample, k));
        const TrajectoryReader reader(path);
        ASSERT_EQ(reader.frame_count(), k + 1);
        expect_frames(reader, sample, k + 1);
        EXPECT_EQ(reader.summary(), "");
    }
}

TEST(Trajectory, KeepsTheSummaryOfARunThatEnded) {
    const TemporaryFolder folder;
    write_sample(folder.file("whole.h5"), {}, 2);
    write_sample(folder.file("cut.h5"), {}, 2, false);
    EXPECT_EQ(TrajectoryReader(folder.file("whole.h5")).summary(), R"({"time": 1.5})");
    EXPECT_EQ(TrajectoryReader(folder.file("cut.h5")).summary(), "");
    EXPECT_EQ(TrajectoryReader(folder.file("cut.h5")).frame_count(), 2);
}

TEST(Trajectory, IsReadableWhateverRoomItsSummaryHasWhichIsNotThereYet) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryHeader header = test::sample_header({});
    for (int k = 0; k < 100; ++k) {
        header.observables.push_back({.name = "row" + std::to_string(k), .unit = "", .label = "row", .components = {}});
    }
    TrajectoryWriter writer(path, header, false);
    writer.append(test::sample_frame({}, 0));
    EXPECT_EQ(TrajectoryReader(path).summary(), "");
    const std::string summary(100000, ' ');
    writer.close(summary);
    EXPECT_EQ(TrajectoryReader(path).summary(), summary);
}

TEST(Trajectory, IsNotOverwrittenUnlessForced) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    write_sample(path, {}, 2);
    EXPECT_EQ(message_of<InputError>([&] { TrajectoryWriter(path, test::sample_header({}), false); }),
              path + ": exists already; --force overwrites it");
    EXPECT_EQ(TrajectoryReader(path).frame_count(), 2);
    {
        TrajectoryWriter writer(path, test::sample_header({}), true);
        writer.append_row(test::sample_row(0));
        writer.flush();
        EXPECT_EQ(TrajectoryReader(path).frame_count(), 2);
        writer.append(test::sample_frame({}, 0));
        EXPECT_EQ(TrajectoryReader(path).frame_count(), 1);
    }
    EXPECT_EQ(TrajectoryReader(path).frame_count(), 1);
}

TEST(Trajectory, AnOlderFileStaysUntilTheFirstFrame) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Sample sample{.balls = 2000};
    write_sample(path, sample, 2);
    const auto files = [&folder] {
        return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
    };
    TrajectoryWriter(path, sample_header(sample), true);  // never gets a frame
    EXPECT_EQ(TrajectoryReader(path).frame_count(), 2);
    EXPECT_EQ(files(), 1);
    // Too little for the header, and for the first frame.
    for (const rlim_t limit : {5'000, 200'000}) {
        SCOPED_TRACE(limit);
        const FileSizeLimit full(limit);
        EXPECT_THAT(message_of<SystemError>([&] {
                        TrajectoryWriter writer(path, sample_header(sample), true);
                        writer.append(test::sample_frame(sample, 0));
                    }),
                    testing::HasSubstr("nothing was written, and the older file of that name is untouched"));
        EXPECT_EQ(TrajectoryReader(path).frame_count(), 2);
        EXPECT_EQ(files(), 1);
    }
}

TEST(Trajectory, ReplacesNothingButRegularFiles) {
    const TemporaryFolder folder;
    EXPECT_THROW(TrajectoryWriter(folder.path().string(), test::sample_header({}), true), InputError);
    EXPECT_THROW(TrajectoryWriter("/dev/null", test::sample_header({}), true), InputError);
    EXPECT_TRUE(std::filesystem::exists("/dev/null"));
}

TEST(Trajectory, SaysWhyItCannotBeCreated) {
    const TemporaryFolder folder;
    const std::string path = folder.file("none/a.h5");
    EXPECT_EQ(message_of<SystemError>([&] { TrajectoryWriter(path, test::sample_header({}), false); }),
              path + ": cannot be created: No such file or directory");
}

TEST(Trajectory, ReaderNamesWhatIsWrong) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    EXPECT_EQ(message_of<SystemError>([&] { TrajectoryReader reader(path); }),
              path + ": cannot be opened: No such file or directory");
    std::ofstream(path) << "time,x\n0,1\n";
    EXPECT_EQ(message_of<InputError>([&] { TrajectoryReader reader(path); }),
              path + ": is a CSV table, not a trajectory of carom");
    EXPECT_EQ(message_of<InputError>([&] { TrajectoryReader reader(folder.path().string()); }),
              folder.path().string() + ": is not a regular file");
    const std::string whole = folder.file("b.h5");
    write_sample(whole, {}, 2);
    const TrajectoryReader reader(whole);
    Frame frame;
    EXPECT_EQ(message_of<InputError>([&] { reader.read(2, frame); }),
              whole + ": there is no frame 2; it has 2 frames, counted from 0");
}

/// Whatever byte is damaged, reading gives an error of ours or a value, never a crash.
TEST(Trajectory, DamagedFilesAreRefusedNotFollowed) {
    const TemporaryFolder folder;
    const std::string whole = folder.file("whole.h5");
    write_sample(whole, {.balls = 3}, 2);
    std::ifstream in(whole, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 211) {
        const std::string path = folder.file("damaged.h5");
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(~damaged[at]);
        std::ofstream(path, std::ios::binary) << damaged;
        try {
            const TrajectoryReader reader(path);
            Frame frame;
            for (std::size_t k = 0; k < std::min<std::size_t>(reader.frame_count(), 3); ++k) reader.read(k, frame);
            (void)reader.observables();
            (void)reader.summary();
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 10);
}

TEST(Trajectory, CutFilesAreRefused) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    write_sample(path, {}, 2);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_THROW(TrajectoryReader reader(path), InputError);
}

/// As a copy over it does: the end is beyond what is there, and is read as zeros.
TEST(Trajectory, IsReadAgainWhereOthersChangeItMeanwhile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    write_sample(path, {}, 2);
    std::ifstream whole(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    const auto copy = [&](std::size_t size) {
        ::usleep(20'000);  // else the system's clock may say that nothing was written since
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        file.close();
        std::filesystem::resize_file(path, size);
    };
    const ReadableFile file(path, "trajectory of carom");
    int times = 0;
    file.read([&](hid_t) {
        if (++times == 1) copy(bytes.size());
    });
    EXPECT_EQ(times, 2);
    EXPECT_THAT(message_of<InputError>([&] { file.read([&](hid_t) { copy(bytes.size() / 2); }); }),
                testing::HasSubstr("is not a whole trajectory of carom"));
    copy(bytes.size());
    times = 0;
    EXPECT_THAT(message_of<SystemError>([&] { file.read([&](hid_t) { copy(bytes.size() + 1 + ++times % 2); }); }),
                testing::HasSubstr("cannot be read while another program writes it"));
}

/// What is being written is read once, as it was when it was opened, whatever comes behind it: also where that is the
/// last of it.
TEST(Trajectory, IsNotReadAgainForWhatItsWriterAddsMeanwhile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Sample sample{.balls = 1000};
    std::optional<TrajectoryWriter> writer(std::in_place, path, sample_header(sample), false);
    for (std::size_t k = 0; k < 3; ++k) writer->append(test::sample_frame(sample, k));
    const ReadableFile file(path, "trajectory of carom");
    std::size_t k = 3;
    int times = 0;
    for (int read = 0; read < 10; ++read) {
        file.read([&](hid_t) {
            ++times;
            writer->append(test::sample_frame(sample, k++));
        });
    }
    EXPECT_LE(times, 12);  // nodes of B-trees are new in some of them
    file.read([&](hid_t) {
        if (writer) writer->close("{}");
        writer.reset();
    });
    EXPECT_EQ(TrajectoryReader(path).frame_count(), k);
}

TEST(Trajectory, IsRefusedWhereItIsCutOffWhileItsRunWritesIt) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    TrajectoryWriter writer(path, test::sample_header({}), false);
    writer.append(test::sample_frame({}, 0));
    const ReadableFile file(path, "trajectory of carom");
    const auto cut = [&] { std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2); };
    EXPECT_THROW(file.read([&](hid_t) { cut(); }), InputError);
}

TEST(Trajectory, AFullDiskLosesNoFrameThatWasWritten) {
    const Sample sample{.balls = 2000};
    for (const rlim_t limit : {300'000, 400'123, 1'000'001, 1'500'000}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("a.h5");
        std::size_t written = 0;
        std::string message;
        {
            const FileSizeLimit full(limit);
            TrajectoryWriter writer(path, sample_header(sample), false);
            message = message_of<SystemError>([&] {
                for (;; ++written) {
                    writer.append_row(test::sample_row(written));
                    writer.append(test::sample_frame(sample, written));
                }
            });
            EXPECT_EQ(message_of<SystemError>([&] { writer.append(test::sample_frame(sample, written)); }), message);
            EXPECT_EQ(message_of<SystemError>([&] { writer.close("{}"); }), message);
        }
        EXPECT_THAT(message, testing::HasSubstr(path + ": cannot write: File too large; "));
        EXPECT_THAT(message, testing::HasSubstr(std::to_string(written) + " frames"));
        const TrajectoryReader reader(path);
        ASSERT_EQ(reader.frame_count(), written);
        EXPECT_GE(reader.observables().rows(), written);
        expect_frames(reader, sample, written);
    }
}

TEST(Trajectory, AHeaderThatDoesNotFitLeavesNothing) {
    const TemporaryFolder folder;
    const FileSizeLimit full(5000);
    EXPECT_THAT(message_of<SystemError>([&] { TrajectoryWriter(folder.file("a.h5"), test::sample_header({}), false); }),
                testing::HasSubstr("nothing was written"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Trajectory, SizeIsAsEstimated) {
    for (Sample sample : {Sample{.balls = 20000}, Sample{.dimension = 3, .balls = 20000, .precision = "double"}}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("a.h5");
        TrajectoryWriter writer(path, sample_header(sample), false);
        for (std::size_t k = 0; k < 10; ++k) {
            Frame frame = test::sample_frame(sample, k);
            for (auto& axis : frame.spin) std::fill(axis.begin(), axis.end(), 0.0);
            writer.append(frame);
        }
        writer.close("{}");
        const double estimate = static_cast<double>(estimate_trajectory_bytes(sample_header(sample), 10, 10));
        EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(path)) / estimate, 1.0, 0.05);
    }
}

/// Writes frames until it is killed, or `frames` are done, and says through `announcements` how many there are.
void write_and_announce(const std::string& path, const Sample& sample, std::uint32_t frames, int announcements) {
    TrajectoryWriter writer(path, sample_header(sample), false);
    for (std::uint32_t k = 0; k <= frames; ++k) {
        if (::write(announcements, &k, sizeof k) != sizeof k || k == frames) return;
        writer.append_row(test::sample_row(k));
        writer.append(test::sample_frame(sample, k));
    }
}

/// Programs that know nothing of carom take the number of frames from the positions.
void expect_positions_to_be_shortest(const std::string& path) {
    ReadableFile(path, "trajectory of carom").read([](hid_t file) {
        const auto length = [&](const std::string& name) {
            return h5::extents(h5::open_dataset(file, "particles/all/" + name)).front();
        };
        const hsize_t frames = length("position/value");
        for (const char* name : {"position/time", "position/step", "velocity/value", "spin/value", "image/value",
                                 "species/value", "id/value", "box/edges/value"}) {
            ASSERT_GE(length(name), frames) << name;
        }
        ASSERT_GE(h5::extents(h5::open_dataset(file, "observables/contacts/value")).front(), frames);
    });
}

/// What is in the file is right, and it is at least what was announced. Reads the frames from `first` on.
void expect_whole(const std::string& path, const Sample& sample, std::size_t announced, std::size_t first) {
    ASSERT_NO_FATAL_FAILURE(expect_positions_to_be_shortest(path));
    const TrajectoryReader reader(path);
    ASSERT_GE(reader.frame_count(), announced);
    ASSERT_LE(reader.frame_count(), announced + 1);
    Frame frame;
    for (std::size_t k = first; k < reader.frame_count(); ++k) {
        reader.read(k, frame);
        ASSERT_EQ(test::difference(frame, test::sample_frame(sample, k)), "") << "frame " << k;
    }
    const ObservableTable rows = reader.observables();
    ASSERT_GE(rows.rows(), announced);
    for (std::size_t row = first; row < rows.rows(); ++row) {
        ASSERT_EQ(rows.time[row], test::sample_row(row).time);
        for (std::size_t i = 0; i < rows.width; ++i) ASSERT_EQ(rows.at(row, i), test::sample_row(row).values[i]);
    }
}

class KilledWriter : public testing::TestWithParam<Sample> {};

TEST_P(KilledWriter, LeavesEveryAnnouncedFrame) {
    std::mt19937 random(20240229);
    for (int trial = 0; trial < 12; ++trial) {
        const TemporaryFolder folder;
        const std::string path = folder.file("a.h5");
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = test::forked([&] { write_and_announce(path, GetParam(), 100000, ends[1]); });
        ::close(ends[1]);
        std::uint32_t announced = 0;
        ASSERT_EQ(::read(ends[0], &announced, sizeof announced), sizeof announced);  // the header is written
        ::usleep(std::uniform_int_distribution<useconds_t>(0, 40000)(random));
        ::kill(child, SIGKILL);
        while (::read(ends[0], &announced, sizeof announced) == sizeof announced) {
        }
        ::close(ends[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        ASSERT_NO_FATAL_FAILURE(expect_whole(path, GetParam(), announced, 0))
            << "killed after " << announced << " frames";
    }
}

/// A system call of the writer that changes the file, or an announcement.
struct Event {
    enum class Kind { kWrite, kResize, kAnnounce } kind;
    std::uint64_t offset;  // kResize: the size; kAnnounce: the number of frames
    std::vector<char> bytes;
};

std::vector<char> memory_of(pid_t process, std::uint64_t address, std::size_t size) {
    std::vector<char> bytes(size);
    const iovec local{bytes.data(), size};
    const iovec remote{reinterpret_cast<void*>(address), size};  // NOLINT: an address in the other process
    if (::process_vm_readv(process, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(size)) bytes.clear();
    return bytes;
}

/// Runs the writer and records all that it does to the file. Nothing where processes may not be traced.
std::optional<std::vector<Event>> record(const std::string& path, const Sample& sample, std::uint32_t frames) {
    int ends[2];
    if (::pipe(ends) != 0) return std::vector<Event>{};
    const pid_t child = test::forked([&] {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return;
        ::raise(SIGSTOP);
        write_and_announce(path, sample, frames, ends[1]);
    });
    std::vector<Event> events;
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool traced = WIFSTOPPED(status);
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (WIFSTOPPED(status)) {
        __ptrace_syscall_info info{};
        if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
            const auto* arguments = info.entry.args;
            if (info.entry.nr == SYS_pwrite64) {
                events.push_back({Event::Kind::kWrite, arguments[3], memory_of(child, arguments[1], arguments[2])});
            } else if (info.entry.nr == SYS_ftruncate) {
                events.push_back({Event::Kind::kResize, arguments[1], {}});
            } else if (info.entry.nr == SYS_write && static_cast<int>(arguments[0]) == ends[1]) {
                std::uint32_t announced = 0;
                const auto bytes = memory_of(child, arguments[1], sizeof announced);
                if (bytes.size() == sizeof announced) std::memcpy(&announced, bytes.data(), sizeof announced);
                events.push_back({Event::Kind::kAnnounce, announced, {}});
            }
        }
        if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
        ::waitpid(child, &status, 0);
    }
    ::close(ends[0]);
    ::close(ends[1]);
    if (!traced) return std::nullopt;
    return events;
}

/// The file as it would be had the writer been killed after each of its writes, and within a write at each border of
/// two pages. A dataset's B-tree, with a chunk a frame, splits its root at the 65th chunk, and its last leaf at the
/// 123rd.
TEST_P(KilledWriter, LeavesAWholeFileWhereverItWasKilled) {
    const TemporaryFolder folder;
    constexpr std::uint32_t kFrames = 126;
    const std::optional<std::vector<Event>> recorded = record(folder.file("a.h5"), GetParam(), kFrames);
    if (!recorded) GTEST_SKIP() << "this machine does not allow to trace processes";
    const std::vector<Event>& events = *recorded;
    ASSERT_FALSE(events.empty()) << "the writer was traced, and none of its writes was seen";

    const std::string path = folder.file("replay.h5");
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    std::optional<std::uint64_t> announced;
    std::size_t checks = 0;
    const auto check = [&] {
        if (!announced) return;
        const bool of_interest = *announced < 3 || (*announced > 62 && *announced < 66) || *announced > 119;
        if (!of_interest) return;
        ++checks;
        ASSERT_NO_FATAL_FAILURE(expect_whole(path, GetParam(), *announced, std::max<std::size_t>(*announced, 2) - 2));
    };
    for (const Event& event : events) {
        if (event.kind == Event::Kind::kAnnounce) announced = event.offset;
        if (event.kind == Event::Kind::kResize) {
            ASSERT_EQ(::ftruncate(file, static_cast<off_t>(event.offset)), 0);
        }
        for (std::size_t done = 0; done < event.bytes.size();) {
            constexpr std::size_t kPage = 4096;
            const std::uint64_t offset = event.offset + done;
            const std::size_t size = std::min(event.bytes.size() - done, kPage - offset % kPage);
            ASSERT_EQ(::pwrite(file, event.bytes.data() + done, size, static_cast<off_t>(offset)),
                      static_cast<ssize_t>(size));
            done += size;
            ASSERT_NO_FATAL_FAILURE(check()) << "writing at " << offset;
        }
        ASSERT_NO_FATAL_FAILURE(check());
    }
    ::close(file);
    EXPECT_EQ(announced, kFrames);
    EXPECT_GT(checks, 100);
}

INSTANTIATE_TEST_SUITE_P(Samples, KilledWriter,
                         testing::Values(Sample{.dimension = 2, .balls = 5}, Sample{.dimension = 3, .balls = 700}));

/// A reader sees the file at many moments: a writer at full speed makes each another one, and one that is slow within a
/// commit makes more of them fall into it. Frames that the first reader knows are read to the end, when B-trees that it
/// has seen were split.
class TrajectoryThatGrows : public testing::TestWithParam<bool> {};

TEST_P(TrajectoryThatGrows, ReadsAtAnyMoment) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Sample sample{.dimension = 3, .balls = 700};
    const std::uint32_t frames = GetParam() ? 250 : 1500;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = test::forked([&] {
        slow_writes = GetParam();
        write_and_announce(path, sample, frames, ends[1]);
    });
    ::close(ends[1]);
    std::uint32_t announced = 0;
    while (announced < 60) ASSERT_EQ(::read(ends[0], &announced, sizeof announced), sizeof announced);
    const TrajectoryReader first(path);
    Frame frame;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int readers = 0;
    for (;; ++readers) {
        const TrajectoryReader reader(path);
        const std::size_t last = reader.frame_count() - 1;
        reader.read(last, frame);
        ASSERT_EQ(test::difference(frame, test::sample_frame(sample, last)), "") << "frame " << last;
        ASSERT_GE(reader.observables().rows(), last);
        const std::size_t known = readers % first.frame_count();
        first.read(known, frame);
        ASSERT_EQ(test::difference(frame, test::sample_frame(sample, known)), "") << "frame " << known << " again";
        ssize_t got = 0;
        while ((got = ::read(ends[0], &announced, sizeof announced)) == sizeof announced) {
        }
        if (got == 0) break;
    }
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    EXPECT_GT(readers, 5);
    EXPECT_EQ(TrajectoryReader(path).frame_count(), frames);
}

INSTANTIATE_TEST_SUITE_P(Writers, TrajectoryThatGrows, testing::Values(false, true),
                         [](const auto& writer) { return writer.param ? "SlowWithinACommit" : "AtFullSpeed"; });

/// What a writer has half written over is not read, however long it stays so.
TEST(TrajectoryWhoseWriterStopped, IsReadWhenItGoesOn) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.h5");
    const Sample sample{.dimension = 3, .balls = 700};
    constexpr std::uint32_t kFrames = 40;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = test::forked([&] {
        nodes_until_stop = 200;  // of some ten a frame, written over but for the first ones
        write_and_announce(path, sample, kFrames, ends[1]);
    });
    ::close(ends[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status)) << "it has written fewer nodes";
    EXPECT_THAT(message_of<SystemError>([&] { TrajectoryReader reader(path); }),
                testing::HasSubstr("in the middle of a change"));
    ::kill(child, SIGCONT);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ::close(ends[0]);
    const TrajectoryReader reader(path);
    ASSERT_EQ(reader.frame_count(), kFrames);
    expect_frames(reader, sample, kFrames);
}

/// Runs the script that compares every value with the formulas of the sample.
void expect_opened(const std::string& program, const Sample& sample, std::size_t frames, const std::string& path) {
    const auto result =
        test::run_script("open_h5md.py", {program, path, std::to_string(sample.dimension), std::to_string(sample.balls),
                                          std::to_string(frames), sample.precision, sample.periodic ? "1" : "0",
                                          sample.some_leave ? "1" : "0"});
    EXPECT_EQ(result.status, 0) << result.output;
}

class TrajectoryForOthers : public testing::TestWithParam<std::tuple<const char*, Sample>> {};

TEST_P(TrajectoryForOthers, IsReadAsItWasWritten) {
    const auto& [program, sample] = GetParam();
    constexpr std::size_t kFrames = 6;
    const test::TemporaryFolder folder;
    TrajectoryWriter writer(folder.file("a.h5"), sample_header(sample), false);
    for (std::size_t row = 0, k = 0; k < kFrames; ++k) {
        for (; row <= 10 * k; ++row) writer.append_row(test::sample_row(row));
        writer.append(test::sample_frame(sample, k));
    }
    writer.close(R"({"time": 1.5})");
    expect_opened(program, sample, kFrames, writer.path());
}

INSTANTIATE_TEST_SUITE_P(
    Samples, TrajectoryForOthers,
    testing::Combine(testing::Values("h5py", "mdanalysis"),
                     testing::Values(Sample{.dimension = 2, .balls = 16},
                                     Sample{.dimension = 3, .balls = 1500, .precision = "double"},
                                     Sample{.dimension = 2, .balls = 1500, .periodic = false, .some_leave = true})));

/// MDAnalysis looks for a row of observables with the number of each frame.
TEST(TrajectoryForMdanalysis, MayHaveFewerRowsThanFrames) {
    const test::TemporaryFolder folder;
    const Sample sample;
    TrajectoryWriter writer(folder.file("a.h5"), sample_header(sample), false);
    for (std::size_t k = 0; k < 5; ++k) writer.append(test::sample_frame(sample, k));
    writer.append_row(test::sample_row(40));
    writer.close("{}");
    expect_opened("mdanalysis-frames", sample, 5, writer.path());
}

/// So they do while a run is going on, too.
TEST(TrajectoryForMdanalysis, OpensWhileItIsWritten) {
    const test::TemporaryFolder folder;
    const Sample sample{.dimension = 3, .balls = 900};
    TrajectoryWriter writer(folder.file("a.h5"), sample_header(sample), false);
    for (std::size_t k = 0; k < 3; ++k) writer.append(test::sample_frame(sample, k));
    expect_opened("mdanalysis-frames", sample, 3, writer.path());
}

}  // namespace carom::io_trajectory_test
