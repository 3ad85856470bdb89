#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "host/state/errors.hpp"
#include "tests/contract/examples/tsv_exporter.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

/// The output format of docs/extending.md: what it writes, and that its file appears only when whole.
TEST(ExampleExporter, WritesALineABallAndAppearsOnlyWhenWhole) {
    const test::TemporaryFolder folder;
    const test::Sample sample{.dimension = 2, .balls = 3};
    const TrajectoryHeader header = test::sample_header(sample);
    const std::string path = folder.file("out.tsv");
    const ExportTarget target{.path = path, .header = &header, .frames = 2, .series = true, .force = false};
    const auto exporter = examples::make_tsv_exporter(target);
    exporter->add(test::sample_frame(sample, 0));
    EXPECT_FALSE(std::ifstream(path).good());
    exporter->add(test::sample_frame(sample, 1));
    exporter->finish();

    std::ifstream in(path);
    int balls = 0;
    int frames = 0;
    for (std::string line; std::getline(in, line);) line.empty() ? ++frames : ++balls;
    EXPECT_EQ(balls, 6);
    EXPECT_EQ(frames, 2);
    EXPECT_THROW(examples::make_tsv_exporter(target), InputError);
}

}  // namespace
}  // namespace carom
