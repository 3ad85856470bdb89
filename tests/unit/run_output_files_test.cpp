#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/run/output_files.hpp"

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

TEST(ShellQuoted, PlainNamesStayAndOthersSurviveTheShell) {
    EXPECT_EQ(shell_quoted("out/gas-2.h5"), "out/gas-2.h5");
    EXPECT_EQ(shell_quoted("my gas.h5"), "'my gas.h5'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace carom
