// Samples that are looked at while the solver goes on.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "host/run/averages.hpp"
#include "tests/support/driven_run.hpp"

namespace carom {
namespace {

/// More balls than are looked at at once, and kinds that need frames only, accounts, impacts, and earlier samples.
std::string gas(const std::string& solver) {
    std::string text =
        "[scene]\ndimension = 2\nseed = 3\n[box]\nsize = [200.0, 200.0]\nboundary = [\"periodic\", \"periodic\"]\n"
        "[run]\nsolver = \"" +
        solver +
        "\"\nuntil = 0.02\n[output]\nobservables_every = 0.01\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 12000\n"
        "temperature = 1.0\n";
    std::vector<std::string> kinds{"speed", "density", "stress", "msd"};
    if (solver == "events") kinds.push_back("free_path");
    for (const std::string& kind : kinds) {
        text += "[[observe]]\nname = \"" + kind + "\"\nkind = \"" + kind + "\"\nevery = 0.002\n";
    }
    return text;
}

/// What a checkpoint holds of them, bit for bit.
std::vector<std::uint64_t> averaged(const std::string& solver, int threads) {
    test::DrivenRun run(gas(solver));
    PreparedScene scene = run.scene();
    scene.threads = threads;
    Averages averages(scene, {});
    averages.start(run.solver());
    while (run.solver().time() < run.scene().scene.run.until) {
        run.to(averages.next());
        averages.take(run.solver());
        // The solver goes on at once.
    }
    SolverState state;
    averages.save(state);
    std::vector<std::uint64_t> bits;
    for (const auto& [name, values] : state.extra) {
        for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return bits;
}

class AveragesBeside : public testing::TestWithParam<const char*> {};

TEST_P(AveragesBeside, AreTheSameAsThoseThatTheSolverWaitsFor) {
    const auto waited = averaged(GetParam(), 1);
    EXPECT_GT(waited.size(), 1000U);
    EXPECT_EQ(averaged(GetParam(), 3), waited);
}

INSTANTIATE_TEST_SUITE_P(Solvers, AveragesBeside, testing::Values("events", "spring"));

}  // namespace
}  // namespace carom
