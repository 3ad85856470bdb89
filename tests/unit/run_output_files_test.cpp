#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/state/errors.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

TEST(OutputFiles, NamesFollowFromTheScene) {
    EXPECT_EQ(default_trajectory("scenes/gas2d.toml"), "gas2d.h5");
    EXPECT_EQ(default_trajectory("gas2d"), "gas2d.h5");
    EXPECT_EQ(default_checkpoint("out/gas2d.h5"), "out/gas2d.checkpoint.h5");
    EXPECT_EQ(default_checkpoint("gas2d"), "gas2d.checkpoint.h5");
}

TEST(OutputFiles, AResumedRunGetsTheNextFreeNumber) {
    const auto folder = std::filesystem::temp_directory_path() / "carom-output-files-test";
    std::filesystem::create_directories(folder);
    const std::string base = (folder / "gas").string();
    EXPECT_EQ(default_resumed_trajectory(base + ".checkpoint.h5"), base + "-2.h5");
    EXPECT_EQ(default_resumed_trajectory(base + "-2.checkpoint.h5"), base + "-3.h5");
    std::ofstream(base + "-2.h5") << "x";
    EXPECT_EQ(default_resumed_trajectory(base + ".checkpoint.h5"), base + "-3.h5");
    EXPECT_EQ(default_resumed_trajectory(base + "-dense.h5"), base + "-dense-2.h5");
    std::filesystem::remove_all(folder);
}

TEST(OutputFiles, NamesOfTheSameFileAreKnown) {
    const test::TemporaryFolder folder;
    const std::string file = folder.file("a.h5");
    const std::string link = folder.file("link.h5");
    std::filesystem::create_symlink("a.h5", link);
    for (const bool exists : {false, true}) {
        if (exists) std::ofstream(file) << "x";
        EXPECT_TRUE(same_file(file, folder.file("./a.h5")));
        EXPECT_TRUE(same_file(link, file));
        EXPECT_EQ(target_of(link), file);
        EXPECT_FALSE(same_file(file, folder.file("b.h5")));
    }
    EXPECT_FALSE(same_file("", ""));
    std::filesystem::create_symlink("circle", folder.file("circle"));
    EXPECT_THROW(target_of(folder.file("circle")), SystemError);
}

TEST(ShellQuoted, PlainNamesStayAndOthersSurviveTheShell) {
    EXPECT_EQ(shell_quoted("out/gas-2.h5"), "out/gas-2.h5");
    EXPECT_EQ(shell_quoted("my gas.h5"), "'my gas.h5'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace carom
