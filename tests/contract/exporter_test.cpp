#include "host/io/exporter.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "host/io/state_text.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/state/errors.hpp"
#include "tests/support/kinds.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::exporter_test {

using test::message_of;
using test::Sample;
using test::TemporaryFolder;

/// What every registered export format owes its users, whether its frames go into one file or have one each: its reader
/// in tests/support/read_export.py finds the same values, to the last bit.
class ExportFormatContract : public testing::TestWithParam<ExportFormat> {
protected:
    [[nodiscard]] ExportTarget target(const std::string& path, const TrajectoryHeader& header,
                                      std::size_t frames) const {
        return {.path = path, .header = &header, .frames = frames, .series = frames > 1, .force = false};
    }
    [[nodiscard]] std::string name() const { return "out" + GetParam().extension; }
    /// The files that export to name() makes, as a reader takes them: one that lists the others stands for all.
    [[nodiscard]] std::vector<std::string> files(std::size_t frames) const {
        const auto* const each = std::get_if<FilePerFrame>(&GetParam().how);
        if (each == nullptr || frames == 1) return {name()};
        if (each->list != nullptr) return {"out" + each->list_extension};
        std::vector<std::string> all;
        for (std::size_t k = 0; k < frames; ++k) all.push_back(fmt::format("out_{:04}{}", k, GetParam().extension));
        return all;
    }
};

void export_sample(const ExportTarget& target, const Sample& sample) {
    const auto exporter = make_exporter(target);
    for (std::size_t k = 0; k < target.frames; ++k) exporter->add(test::sample_frame(sample, k));
    EXPECT_NE(exporter->finish(), "");
}

/// The words of a line that read_export.py should print: time, id, species, place, velocity, radius, mass.
using Words = std::vector<std::string>;
constexpr std::size_t kTime = 0, kSpecies = 2, kPlace = 3;

std::vector<Words> expected_lines(const Sample& sample, const TrajectoryHeader& header, std::size_t frames) {
    std::vector<Words> lines;
    const auto number = [](double value) {
        std::string text;
        append_number(text, value);
        return text;
    };
    for (std::size_t k = 0; k < frames; ++k) {
        const Frame frame = test::sample_frame(sample, k);
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            const Species& species = header.species_table[header.species[id]];
            std::string name = species.name.empty() ? "unnamed" : species.name;
            std::replace(name.begin(), name.end(), ' ', '_');
            Words words{number(frame.time), std::to_string(id), name};
            for (int axis = 0; axis < 3; ++axis) {
                words.push_back(number(axis < frame.dimension ? frame.position[axis][id] : 0.0));
            }
            for (int axis = 0; axis < 3; ++axis) {
                words.push_back(number(axis < frame.dimension ? frame.velocity[axis][id] : 0.0));
            }
            words.push_back(number(species.radius));
            words.push_back(number(species.mass));
            lines.push_back(words);
        }
    }
    return lines;
}

/// `-` stands for what the format does not tell: anything but the place, and the time of one among several frames in
/// a file. A species may be told by its number.
void expect_told(const std::string& read, const std::vector<Words>& expected, bool times,
                 const TrajectoryHeader& header) {
    std::istringstream lines(read);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        ASSERT_LT(count, expected.size());
        std::istringstream in(line);
        const Words words{std::istream_iterator<std::string>(in), {}};
        Words told = expected[count];
        ASSERT_EQ(words.size(), told.size()) << line;
        const std::string species = std::to_string(header.species[std::stoul(told[1])]);
        if (words[kSpecies] == species) told[kSpecies] = species;
        for (std::size_t k = 0; k < told.size(); ++k) {
            const bool owed = (k >= kPlace && k < kPlace + 3) || (k == kTime && times);
            if (words[k] == "-" && !owed) told[k] = "-";
        }
        EXPECT_EQ(words, told);
    }
    EXPECT_EQ(count, expected.size());
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
            std::string read;
            for (const std::string& file : files(frames)) {
                const auto said = test::run_script("read_export.py", {folder.file(file)});
                ASSERT_EQ(said.status, 0) << said.output;
                read += said.output;
            }
            const bool times = frames > 1 && std::holds_alternative<OneFile>(GetParam().how);
            expect_told(read, expected_lines(sample, header, frames), times, header);
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

TEST_P(ExportFormatContract, EachFileOfASeriesIsKeptFromBeingOverwritten) {
    constexpr std::size_t kFrames = 3;
    const TrajectoryHeader header = test::sample_header({});
    for (const std::string& file : files(kFrames)) {
        const TemporaryFolder folder;
        std::ofstream(folder.file(file)) << "precious";
        EXPECT_THROW(make_exporter(target(folder.file(name()), header, kFrames)), InputError) << file;
        EXPECT_EQ(std::filesystem::file_size(folder.file(file)), 8) << file;
    }
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
    std::string known;
    for (const ExportFormat& format : export_formats()) known += (known.empty() ? "" : ", ") + format.extension;
    EXPECT_EQ(message_of<InputError>([&] { make_exporter({.path = "a.doc", .header = &header}); }),
              "a.doc: the ending names no format; known are " + known);
}

/// docs/file-format.md has a row for each format, and for no other ending.
TEST(ExportFormats, AreThoseOfTheReference) {
    std::ifstream reference(CAROM_SOURCE_DIR "/docs/file-format.md");
    std::vector<std::string> told, known;
    for (std::string line; std::getline(reference, line);) {
        if (line.starts_with("| `.")) told.push_back(line.substr(3, line.find('`', 3) - 3));
    }
    for (const ExportFormat& format : export_formats()) known.push_back(format.extension);
    EXPECT_THAT(told, testing::UnorderedElementsAreArray(known));
}

class FormatOfAScene : public testing::TestWithParam<ExportFormat> {};

/// Whether the number stands in a file as decimal text, or as the bytes of a float or a double.
bool holds(const std::string& bytes, double value) {
    std::string text;
    append_number(text, value);
    const auto raw = [](auto number) { return std::string(reinterpret_cast<const char*>(&number), sizeof number); };
    return bytes.find(text) != std::string::npos || bytes.find(raw(value)) != std::string::npos ||
           bytes.find(raw(static_cast<float>(value))) != std::string::npos;
}

/// Of one frame and of all, a file or more that hold where the balls are.
TEST_P(FormatOfAScene, HoldsTheBalls) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("scene.toml")) << R"(
[scene]
dimension = 3
seed = 3
[box]
size = [7.0, 7.0, 7.0]
[run]
until = 0.5
precision = "double"
[output]
every = 0.25
[[fill]]
radius = 0.5
mass = 1.0
count = 20
temperature = 1.0
)";
    test::carom(folder, "run scene.toml -o out.h5 --quiet --threads 1");
    for (const bool all : {false, true}) {
        const std::string name = all ? "all" : "last";
        std::filesystem::create_directory(folder.path() / name);
        test::carom(folder, "convert out.h5 " + name + "/balls" + GetParam().extension + (all ? "" : " --last"));
        ASSERT_FALSE(HasFatalFailure());
        std::string bytes;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path() / name)) {
            std::ostringstream text;
            text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            bytes += text.str();
        }
        const TrajectoryReader file(folder.file("out.h5"));
        for (std::size_t k = 0; k < file.frame_count(); ++k) {
            Frame frame;
            file.read(k, frame);
            for (std::size_t id = 0; id < frame.size(); ++id) {
                for (int axis = 0; axis < 3; ++axis) {
                    const bool expected = all || k + 1 == file.frame_count();
                    EXPECT_EQ(holds(bytes, frame.position[axis][id]), expected)
                        << name << ", frame " << k << ", ball " << id << ", axis " << axis;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registered, FormatOfAScene, testing::ValuesIn(export_formats()),
                         [](const auto& format) { return format.param.extension.substr(1); });

}  // namespace carom::exporter_test
