#include "host/io/exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/io/number_text.hpp"
#include "host/state/errors.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/python.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

using test::message_of;
using test::Sample;
using test::TemporaryFolder;

/// What every registered export format owes its users. A new one needs a reader in tests/support/read_export.py.
class ExportFormatContract : public testing::TestWithParam<ExportFormat> {
protected:
    [[nodiscard]] ExportTarget target(const std::string& path, const TrajectoryHeader& header,
                                      std::size_t frames) const {
        return {.path = path, .header = &header, .frames = frames, .series = frames > 1, .force = false};
    }
    [[nodiscard]] std::string name() const { return "out" + GetParam().extension; }
};

void export_sample(const ExportTarget& target, const Sample& sample) {
    const auto exporter = make_exporter(target);
    for (std::size_t k = 0; k < target.frames; ++k) exporter->add(test::sample_frame(sample, k));
    EXPECT_NE(exporter->finish(), "");
}

/// The lines that read_export.py should print. `-` stands for what the format does not tell.
std::string expected_lines(const Sample& sample, const TrajectoryHeader& header, std::size_t frames, bool times,
                           bool species_numbers) {
    std::ostringstream out;
    out.precision(17);
    const auto words = [&](double value) {
        std::string text;
        append_number(text, value);
        out << ' ' << text;
    };
    for (std::size_t k = 0; k < frames; ++k) {
        const Frame frame = test::sample_frame(sample, k);
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            std::string time = "-";
            if (times) append_number(time = "", frame.time);
            const Species& species = header.species_table[header.species[id]];
            std::string name = species.name.empty() ? "unnamed" : species.name;
            std::replace(name.begin(), name.end(), ' ', '_');
            out << time << ' ' << id << ' ' << (species_numbers ? std::to_string(header.species[id]) : name);
            for (int axis = 0; axis < 3; ++axis) words(axis < frame.dimension ? frame.position[axis][id] : 0.0);
            for (int axis = 0; axis < 3; ++axis) words(axis < frame.dimension ? frame.velocity[axis][id] : 0.0);
            words(species.radius);
            words(species.mass);
            out << '\n';
        }
    }
    return out.str();
}

TEST_P(ExportFormatContract, IsReadBackToTheSameValues) {
    // Double precision: text of a float's shortest form reads back to the same float, but to another double.
    for (const Sample& sample :
         {Sample{.dimension = 2, .balls = 20, .precision = "double", .periodic = false, .some_leave = true},
          Sample{.dimension = 3, .balls = 20, .precision = "double"},
          Sample{.dimension = 2, .balls = 0, .precision = "double"}}) {
        for (const std::size_t frames : {1, 4}) {
            const TemporaryFolder folder;
            const TrajectoryHeader header = sample_header(sample);
            export_sample(target(folder.file(name()), header, frames), sample);
            const bool collection = std::filesystem::exists(folder.file("out.pvd"));
            const auto read = test::run_script("read_export.py", {folder.file(collection ? "out.pvd" : name())});
            ASSERT_EQ(read.status, 0) << read.output;
            const bool vtk = GetParam().extension == ".vtp";
            EXPECT_EQ(read.output, expected_lines(sample, header, frames, frames > 1 || name() != "out.csv", vtk));
        }
    }
}

TEST_P(ExportFormatContract, OverwritesNothingUnlessForced) {
    const TemporaryFolder folder;
    const TrajectoryHeader header = test::sample_header({});
    ExportTarget to = target(folder.file(name()), header, 1);
    std::ofstream(to.path) << "precious";
    EXPECT_EQ(message_of<InputError>([&] { make_exporter(to); }), to.path + ": exists already; --force overwrites it");
    EXPECT_EQ(std::filesystem::file_size(to.path), 8);
    to.force = true;
    export_sample(to, {});
    EXPECT_GT(std::filesystem::file_size(to.path), 8);
    to.force = false;
    to.frames = 3;
    to.series = true;
    to.path = folder.file("series" + GetParam().extension);
    export_sample(to, {});
    EXPECT_THROW(make_exporter(to), InputError);
}

TEST_P(ExportFormatContract, FilesAppearOnlyWhenTheyAreWhole) {
    const TemporaryFolder folder;
    const TrajectoryHeader header = test::sample_header({});
    {
        const auto exporter = make_exporter(target(folder.file(name()), header, 1));
        EXPECT_FALSE(std::filesystem::exists(folder.file(name())));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_P(ExportFormatContract, AFullDiskIsNamedAndLeavesNoPart) {
    const TemporaryFolder folder;
    const Sample sample{.balls = 3000};
    const TrajectoryHeader header = sample_header(sample);
    const test::FileSizeLimit full(20000);
    const std::string path = folder.file(name());
    EXPECT_THAT(message_of<SystemError>([&] { export_sample(target(path, header, 1), sample); }),
                testing::StartsWith(path + ": cannot write: File too large"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_P(ExportFormatContract, DescribesItself) {
    EXPECT_EQ(GetParam().extension.front(), '.');
    EXPECT_NE(GetParam().description, "");
}

INSTANTIATE_TEST_SUITE_P(Registered, ExportFormatContract, testing::ValuesIn(export_formats()),
                         [](const auto& format) { return format.param.extension.substr(1); });

TEST(ExportFormats, AnUnknownEndingIsAnErrorThatNamesTheKnownOnes) {
    const TrajectoryHeader header = test::sample_header({});
    EXPECT_EQ(message_of<InputError>([&] { make_exporter({.path = "a.pdb", .header = &header}); }),
              "a.pdb: the ending names no format; known are .vtp, .xyz, .csv");
}

}  // namespace
}  // namespace carom
