#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/spring_engine.hpp"
#include "tests/support/spring_gas.hpp"

namespace carom::test {

/// A way to run the spring engine.
struct Processor {
    std::string name;  ///< "cpu1", "cpu2", "cpu3", "emulated", "cuda"
    int threads = 1;   ///< of the CPU
};

/// GoogleTest prints parameters so.
inline void PrintTo(const Processor& processor, std::ostream* out) { *out << processor.name; }

/// All that a test runs over. Whether one can be used here is another question: see require().
std::vector<Processor> processors();

/// Empty where the processor can be used, else why not.
std::string missing(const Processor& processor);

/// Leaves the test as skipped where the processor is missing, or, with CAROM_REQUIRE_GPU=1, as failed.
#define CAROM_REQUIRE(processor)                                                   \
    if (const std::string why = ::carom::test::missing(processor); !why.empty()) { \
        if (::carom::test::gpu_required(processor)) FAIL() << why;                 \
        GTEST_SKIP() << why;                                                       \
    }
bool gpu_required(const Processor& processor);

std::unique_ptr<SpringEngine> make_engine(const Processor& processor, Gas& gas);

/// Everything that one can see of an engine.
struct Seen {
    Gas raw;    ///< as store() gives it, ready to start from
    Gas frame;  ///< as request_frame() gives it
    SpringTotals totals;
    SpringTallies tallies;
};

Seen look(SpringEngine& engine, const Gas& start);

/// Runs a gas and looks at it; a fault is a failure of the test.
Seen run(const Processor& processor, Gas gas, std::uint64_t steps);

/// Whether two sets of balls are equal to the last bit; says where they first differ.
testing::AssertionResult same_balls(const std::string& what, const Gas& expected, const Gas& actual);

/// As same_balls, for everything that one can see.
testing::AssertionResult same_bits(const Seen& expected, const Seen& actual);

/// FNV-1a (64 bits) over positions, velocities, images and gone flags of all balls, in id order.
std::uint64_t hash_state(const Gas& gas);

}  // namespace carom::test
