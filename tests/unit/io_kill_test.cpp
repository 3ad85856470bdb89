#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>
#include <vector>

#include "host/io/hdf5.hpp"
#include "host/io/open_file.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

using test::Sample;
using test::TemporaryFolder;

/// Writes frames until it is killed, or `frames` are done, and says through `announcements` how many there are.
[[noreturn]] void write_and_announce(const std::string& path, const Sample& sample, std::uint32_t frames,
                                     int announcements) {
    {
        TrajectoryWriter writer(path, sample_header(sample), false);
        for (std::uint32_t k = 0; k <= frames; ++k) {
            if (::write(announcements, &k, sizeof k) != sizeof k) ::_exit(1);
            if (k == frames) break;
            writer.append_row(test::sample_row(k));
            writer.append(test::sample_frame(sample, k));
        }
    }
    ::_exit(0);
}

/// Programs that know nothing of carom take the number of frames from the positions.
void expect_positions_to_be_shortest(const std::string& path) {
    const h5::Handle file = open_hdf5_to_read(path, "trajectory");
    const auto length = [&](const std::string& name) {
        return h5::extents(h5::open_dataset(file, "particles/all/" + name)).front();
    };
    const hsize_t frames = length("position/value");
    for (const char* name : {"position/time", "position/step", "velocity/value", "spin/value", "image/value",
                             "species/value", "id/value", "box/edges/value"}) {
        ASSERT_GE(length(name), frames) << name;
    }
    ASSERT_GE(h5::extents(h5::open_dataset(file, "observables/contacts/value")).front(), frames);
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
        const pid_t child = ::fork();
        if (child == 0) write_and_announce(path, GetParam(), 100000, ends[1]);
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

/// Runs the writer and records all that it does to the file. Empty where processes may not be traced.
std::vector<Event> record(const std::string& path, const Sample& sample, std::uint32_t frames) {
    int ends[2];
    if (::pipe(ends) != 0) return {};
    const pid_t child = ::fork();
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
        ::raise(SIGSTOP);
        write_and_announce(path, sample, frames, ends[1]);
    }
    std::vector<Event> events;
    int status = 0;
    ::waitpid(child, &status, 0);
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
    return events;
}

/// The file as it would be had the writer been killed after each of its writes, and within a write at each border of
/// two pages. A dataset's B-tree, with a chunk a frame, splits its root at the 65th chunk, and its last leaf at the
/// 123rd.
TEST_P(KilledWriter, LeavesAWholeFileWhereverItWasKilled) {
    const TemporaryFolder folder;
    constexpr std::uint32_t kFrames = 126;
    const std::vector<Event> events = record(folder.file("a.h5"), GetParam(), kFrames);
    if (events.empty()) GTEST_SKIP() << "this machine does not allow to trace processes";

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

}  // namespace
}  // namespace carom
