#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "host/state/errors.hpp"
#include "tests/contract/examples/tsv_exporter.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::exporter_example_test {

/// The output format of docs/extending.md: what it writes, and that its file appears only when whole.
TEST(ExampleExporter, WritesALineABallAndAppearsOnlyWhenWhole) {
    const test::TemporaryFolder folder;
    const test::Sample sample{.dimension = 2, .balls = 3};
    const TrajectoryHeader header = test::sample_header(sample);
    const std::string path = folder.file("out.tsv");
    const ExportTarget target{.path = path, .header = &header, .frames = 2, .series = true, .force = false};
    const auto exporter = make_exporter(examples::tsv_format(), target);
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
    EXPECT_THROW(make_exporter(examples::tsv_format(), target), InputError);
}

TEST(ExampleExporter, WritesAFileAFrameUnderNumberedNames) {
    const test::TemporaryFolder folder;
    const test::Sample sample{.dimension = 2, .balls = 3};
    const TrajectoryHeader header = test::sample_header(sample);
    const std::string path = folder.file("out.pts");
    ExportTarget target{.path = path, .header = &header, .frames = 2, .series = true, .force = false};
    const auto exporter = make_exporter(examples::places_format(), target);
    for (const std::size_t frame : {0, 1}) exporter->add(test::sample_frame(sample, frame));
    EXPECT_EQ(exporter->finish(), folder.file("out_0000.pts") + " and on: 2 frames, a .pts file each");
    for (const char* const name : {"out_0000.pts", "out_0001.pts"}) {
        std::ifstream in(folder.file(name));
        int balls = 0;
        for (std::string line; std::getline(in, line);) ++balls;
        EXPECT_EQ(balls, 3) << name;
    }
    EXPECT_FALSE(std::ifstream(path).good());
    EXPECT_THROW(make_exporter(examples::places_format(), target), InputError);
    target.series = false;
    const auto single = make_exporter(examples::places_format(), target);
    single->add(test::sample_frame(sample, 0));
    EXPECT_EQ(single->finish(), path + ": 1 frame");
    EXPECT_TRUE(std::ifstream(path).good());
}

}  // namespace carom::exporter_example_test
