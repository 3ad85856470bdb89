#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

// What the device compiler says of our kernels (cmake/keep_ptxas_report.sh): the step must not use memory that its
// author did not write down. Its registers are bounded by __launch_bounds__, so a step that outgrows them spills.

namespace {

struct KernelReport {
    std::string name;  ///< mangled
    int stack = 0;     ///< [bytes]
    int spills = 0;    ///< [bytes]
    int registers = 0;
};

std::vector<KernelReport> read_report(const std::string& text) {
    static const std::regex entry("Compiling entry function '([^']*)'");
    static const std::regex frame(
        "([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
    static const std::regex used("Used ([0-9]+) registers");
    std::vector<KernelReport> kernels;
    std::istringstream lines(text);
    std::smatch found;
    bool of_entry = false;  // device functions that were not inlined have lines of their own
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, found, entry)) {
            kernels.push_back({found[1]});
        } else if (line.find("Function properties for ") != std::string::npos) {
            of_entry = !kernels.empty() && line.ends_with(" " + kernels.back().name);
        } else if (of_entry && std::regex_search(line, found, frame)) {
            kernels.back().stack = std::stoi(found[1]);
            kernels.back().spills = std::stoi(found[2]) + std::stoi(found[3]);
        } else if (!kernels.empty() && std::regex_search(line, found, used)) {
            kernels.back().registers = std::stoi(found[1]);
        }
    }
    return kernels;
}

TEST(PtxasReport, IsReadLineByLine) {
    const auto kernels = read_report(
        "ptxas info    : Compiling entry function '_Zfirst' for 'sm_90'\n"
        "ptxas info    : Function properties for _Zcallee\n"
        "    96 bytes stack frame, 7 bytes spill stores, 7 bytes spill loads\n"
        "ptxas info    : Function properties for _Zfirst\n"
        "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 72 registers, used 1 barriers\n");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].name, "_Zfirst");
    EXPECT_EQ(kernels[0].stack, 8);
    EXPECT_EQ(kernels[0].spills, 16);
    EXPECT_EQ(kernels[0].registers, 72);
}

TEST(PtxasReport, StepsAndSumsSpillNothing) {
    std::ifstream file(CAROM_PTXAS_REPORT);
    if (!file) GTEST_SKIP() << "no " CAROM_PTXAS_REPORT ": nothing was compiled for a GPU";
    std::stringstream text;
    text << file.rdbuf();
    int steps = 0;
    int often = 0;
    int seldom = 0;
    int crews = 0;
    int holders = 0;
    int sums = 0;
    for (const KernelReport& kernel : read_report(text.str())) {
        if (kernel.name.find("launch_kernel") != std::string::npos) {
            // A word or two, where walls and thermostats draw velocities in 3D (RefreshBody), stored and loaded once.
            EXPECT_LE(kernel.spills, 16) << kernel.name;
        }
        if (kernel.name.find("Observe") != std::string::npos || kernel.name.find("MergeSums") != std::string::npos) {
            ++sums;
            EXPECT_EQ(kernel.stack + kernel.spills, 0) << kernel.name;
        }
        const bool crew = kernel.name.find("crew_kernel") != std::string::npos;
        if (kernel.name.find("holder_kernel") != std::string::npos) {
            ++holders;
            EXPECT_EQ(kernel.spills + kernel.stack, 0) << kernel.name;
            continue;
        }
        if (!crew && kernel.name.find("step_kernel") == std::string::npos) continue;
        ++(crew ? crews : steps);
        EXPECT_GT(kernel.registers, 0) << kernel.name;
        if (crew) continue;  // what it does between steps asks for more than the 128 that it has
        EXPECT_EQ(kernel.spills, 0) << kernel.name;
        EXPECT_EQ(kernel.stack, 0) << kernel.name;
        // Nearly all balls are stepped by the kind with lists and without faces; single precision has four blocks of
        // it.
        const bool most = kernel.name.find("EEELb1ELb0EEE") != std::string::npos;
        const bool single = kernel.name.find("StepKindIf") != std::string::npos;
        ++(most ? often : seldom);
        EXPECT_LE(kernel.registers, most && single ? 64 : 128) << kernel.name;
    }
    EXPECT_GE(steps, 16) << "single and double, 2D and 3D, damped or not, alike or not";
    EXPECT_GE(often, 16);
    EXPECT_GE(seldom, 3 * 16) << "with faces, at faces alone, and without lists";
    EXPECT_GE(crews, 16);
    EXPECT_GE(holders, 16);
    EXPECT_GE(sums, 16 + 8 + 1) << "contacts by kind of step, motion by kind of balls, and what merges them";
}

}  // namespace
