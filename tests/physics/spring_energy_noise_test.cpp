#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/energy_noise.hpp"

// 1,000 disks at packing fraction 0.5: single precision loses nothing to double, wherever in whatever box they are.
//
// By default few seeds and steps. CAROM_LONG_TESTS=1 runs what the project promises: 100,000 steps, 8 seeds, each of
// four places, in both precisions (half an hour on one core); with CAROM_RESULT=FILE it writes what it measured there.

namespace carom::test {
namespace {

using Where = EnergyNoiseCase::Where;
constexpr Where kPlaces[] = {Where::kSmallPeriodic, Where::kSmallWalls, Where::kNear, Where::kFar};

bool long_run() {
    const char* wanted = std::getenv("CAROM_LONG_TESTS");
    return wanted != nullptr && std::string(wanted) != "0";
}

TEST(EnergyNoise, OfSinglePrecisionIsThatOfDoubleInAnyPlace) {
    const unsigned seeds = long_run() ? 8 : 2;
    const std::uint64_t steps = long_run() ? 100'000 : 8'000;
    // The bound: 4 standard deviations of the random walk.
    constexpr double kSigmas = 4.0;
    // The rms over 8 seeds may be 1.2 times double's. An rms over few independent runs is itself uncertain by
    // 1 / sqrt(2 n): n seeds of which each is a random walk, correlated along its way, so n and no more. The two
    // precisions of a seed share their start, but not their walks. For 2 seeds 3 sigma of the ratio, sqrt(2) 0.5 * 3 in
    // the logarithm, bounds nothing useful: then only the first bound is left, and doubles' rms is printed.
    const double allowed = 1.2;
    nlohmann::json rows = nlohmann::json::array();
    for (const Where where : kPlaces) {
        std::map<bool, double> squares;
        for (const bool single : {true, false}) {
            for (unsigned seed = 1; seed <= seeds; ++seed) {
                const EnergyNoise noise = measure_energy_noise({where, single, seed, steps});
                ASSERT_FALSE(HasFatalFailure());
                EXPECT_LE(noise.largest, kSigmas * noise.sd)
                    << name_of(where) << (single ? ", single" : ", double") << ", seed " << seed;
                // far below the bound would mean that the estimate of it is wrong
                EXPECT_GE(noise.rms, 0.02 * noise.sd);
                squares[single] += noise.rms * noise.rms / seeds;
                rows.push_back({{"place", name_of(where)},
                                {"precision", single ? "single" : "double"},
                                {"seed", seed},
                                {"steps", steps},
                                {"change", noise.change},
                                {"rms", noise.rms},
                                {"largest", noise.largest},
                                {"sd_of_theory", noise.sd},
                                {"collisions_of_theory", noise.collisions}});
                std::printf("%-34s %s seed %u: rms %.2e largest %.2e, theory %.2e\n", name_of(where).c_str(),
                            single ? "single" : "double", seed, noise.rms, noise.largest, noise.sd);
                std::fflush(stdout);
            }
        }
        const double ratio = std::sqrt(squares[true] / squares[false]);
        std::printf("%-34s rms of single / rms of double: %.3f\n", name_of(where).c_str(), ratio);
        if (long_run()) {
            EXPECT_LE(ratio, allowed) << name_of(where);
        }
    }
    if (const char* file = std::getenv("CAROM_RESULT")) std::ofstream(file) << rows.dump(1) << "\n";
}

}  // namespace
}  // namespace carom::test
