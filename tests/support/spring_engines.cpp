#include "tests/support/spring_engines.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/cuda/spring_cuda.hpp"

namespace carom::test {

namespace {

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Totals as a row of bits.
std::vector<std::uint64_t> words(const SpringTotals& totals) {
    std::vector<std::uint64_t> row = {totals.contacts, totals.wall_contacts, totals.balls, totals.mobile};
    const auto add = [&](double value) { row.push_back(std::bit_cast<std::uint64_t>(value)); };
    for (const double value :
         {totals.kinetic, totals.spring, totals.gravitational, totals.virial, totals.overlap, totals.speed}) {
        add(value);
    }
    for (int axis = 0; axis < 3; ++axis) {
        add(totals.momentum[axis]);
        add(totals.angular[axis]);
    }
    return row;
}

std::vector<std::uint64_t> words(const SpringTallies& tallies) {
    std::vector<std::uint64_t> row = {tallies.balls_left, tallies.sorts,
                                      std::bit_cast<std::uint64_t>(tallies.max_overlap)};
    for (const double impulse : tallies.wall_impulse) row.push_back(std::bit_cast<std::uint64_t>(impulse));
    for (const double heat : tallies.wall_heat) row.push_back(std::bit_cast<std::uint64_t>(heat));
    row.push_back(std::bit_cast<std::uint64_t>(tallies.thermostat_heat));
    return row;
}

}  // namespace

testing::AssertionResult same_balls(const std::string& what, const Gas& expected, const Gas& actual) {
    if (expected.size() != actual.size()) return testing::AssertionFailure() << what << ": another number of balls";
    for (std::size_t id = 0; id < expected.size(); ++id) {
        if (expected.gone[id] != actual.gone[id]) return testing::AssertionFailure() << what << ": gone of ball " << id;
        for (int axis = 0; axis < expected.setup.dimension; ++axis) {
            const auto differ = [&](const char* of, auto a, auto b) {
                return testing::AssertionFailure()
                       << what << ": " << of << " of ball " << id << ", axis " << axis << ": "
                       << testing::PrintToString(a) << " and " << testing::PrintToString(b);
            };
            const auto& e = expected;
            if (!same(e.position[axis][id], actual.position[axis][id])) {
                return differ("position", e.position[axis][id], actual.position[axis][id]);
            }
            if (!same(e.velocity[axis][id], actual.velocity[axis][id])) {
                return differ("velocity", e.velocity[axis][id], actual.velocity[axis][id]);
            }
            if (e.image[axis][id] != actual.image[axis][id]) {
                return differ("image", e.image[axis][id], actual.image[axis][id]);
            }
        }
    }
    return testing::AssertionSuccess();
}

std::vector<Processor> processors() { return {{"cpu1", 1}, {"cpu2", 2}, {"cpu3", 3}, {"emulated"}, {"cuda"}}; }

std::string missing(const Processor& processor) {
    if (processor.name == "emulated") {
#if !defined(CAROM_HAVE_EMULATED)
        return "this build has no emulated backend: Thrust's headers were not found";
#endif
    }
    if (processor.name == "cuda") {
#if defined(CAROM_HAVE_CUDA)
        if (list_cuda_devices().empty()) return "no CUDA device here";
#else
        return "this build has no CUDA backend";
#endif
    }
    return {};
}

bool gpu_required(const Processor& processor) {
    const char* required = std::getenv("CAROM_REQUIRE_GPU");
    return processor.name == "cuda" && required != nullptr && std::strcmp(required, "1") == 0;
}

std::unique_ptr<SpringEngine> make_engine(const Processor& processor, Gas& gas) {
    SpringSetup setup = gas.setup;
    setup.threads = processor.threads;
#if defined(CAROM_HAVE_EMULATED)
    if (processor.name == "emulated") return make_emulated_engine(setup, gas.raw(), gas.step, gas.tallies);
#endif
#if defined(CAROM_HAVE_CUDA)
    if (processor.name == "cuda") return make_cuda_engine(setup, gas.raw(), gas.step, gas.tallies);
#endif
    if (!processor.name.starts_with("cpu")) throw std::invalid_argument(processor.name);
    return make_cpu_engine(setup, gas.raw(), gas.step, gas.tallies);
}

Seen look(SpringEngine& engine, const Gas& start) {
    Seen seen{start, start, {}, {}};
    Gas& frame = seen.frame;
    engine.request_frame({{frame.position[0].data(), frame.position[1].data(), frame.position[2].data()},
                          {frame.velocity[0].data(), frame.velocity[1].data(), frame.velocity[2].data()},
                          {frame.image[0].data(), frame.image[1].data(), frame.image[2].data()},
                          frame.gone.data()});
    seen.totals = engine.totals();
    engine.finish_frame();
    engine.store(seen.raw.raw());
    seen.tallies = engine.tallies();
    seen.raw.step = engine.step();
    seen.raw.tallies = seen.tallies;
    return seen;
}

Seen run(const Processor& processor, Gas gas, std::uint64_t steps) {
    const auto engine = make_engine(processor, gas);
    const AdvanceResult result = engine->advance(steps);
    EXPECT_EQ(result.steps, steps);
    EXPECT_EQ(static_cast<int>(result.fault.kind), 0)
        << "ball " << result.fault.ball << ", other " << result.fault.other;
    return look(*engine, gas);
}

testing::AssertionResult same_bits(const Seen& expected, const Seen& actual) {
    if (expected.raw.step != actual.raw.step) return testing::AssertionFailure() << "another step";
    if (auto result = same_balls("state", expected.raw, actual.raw); !result) return result;
    if (auto result = same_balls("frame", expected.frame, actual.frame); !result) return result;
    if (words(expected.totals) != words(actual.totals)) {
        return testing::AssertionFailure() << "totals: " << testing::PrintToString(words(expected.totals)) << " and "
                                           << testing::PrintToString(words(actual.totals));
    }
    if (words(expected.tallies) != words(actual.tallies)) {
        return testing::AssertionFailure() << "tallies: " << testing::PrintToString(words(expected.tallies)) << " and "
                                           << testing::PrintToString(words(actual.tallies));
    }
    return testing::AssertionSuccess();
}

std::uint64_t hash_state(const Gas& gas) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&](const void* data, std::size_t bytes) {
        const auto* byte = static_cast<const unsigned char*>(data);
        for (std::size_t at = 0; at < bytes; ++at) hash = (hash ^ byte[at]) * 0x100000001b3U;
    };
    for (std::size_t id = 0; id < gas.size(); ++id) {
        for (int axis = 0; axis < gas.setup.dimension; ++axis) {
            add(&gas.position[axis][id], sizeof(double));
            add(&gas.velocity[axis][id], sizeof(double));
            add(&gas.image[axis][id], sizeof(std::int32_t));
        }
        add(&gas.gone[id], 1);
    }
    return hash;
}

}  // namespace carom::test
