#include <gtest/gtest.h>

#include "host/io/trajectory_writer.hpp"
#include "tests/support/python.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

using test::Sample;

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

}  // namespace
}  // namespace carom
