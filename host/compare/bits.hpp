#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// A way to run the same thing: each call of `make` gives a solver at the start, with steps of one length.
struct SolverSource {
    std::string name;  ///< "cpu, 2 threads"
    std::function<std::unique_ptr<Solver>()> make;
};

/// Where two runs part.
struct Parting {
    std::string reference;   ///< the name of the one
    std::string other;       ///< and of the other
    std::uint64_t step = 0;  ///< the first after which they differ
    std::size_t ball = 0;    ///< the lowest id of those that differ then
    std::string quantity;    ///< the first of that ball's: "position x", "velocity y", ...
    double value = 0.0;      ///< in `reference`
    double other_value = 0.0;
    int bit = 0;           ///< the highest that differs, from 0 (lowest of the fraction) to 63 (sign)
    bool repeated = true;  ///< false: not seen again in a second run, so one of the two is not deterministic
};

/// What compare_bits found.
struct BitsResult {
    std::uint64_t steps = 0;  ///< that all were compared over
    std::uint64_t hash = 0;   ///< of the state at the end, where all agree
    std::optional<Parting> parting;
};

/// Runs all sources over `steps` steps of `dt` and holds their state hashes against the first one's at checkpoints;
/// where one differs, finds the first step, ball, quantity and bit by narrowing the stretch between two checkpoints.
/// \throws SimulationError, Interrupted
BitsResult compare_bits(const std::vector<SolverSource>& sources, std::uint64_t steps, double dt,
                        const CompareContext& context);

/// The lowest ball in which two frames differ, and in what; none if they are equal to the bit. Negative zero equals
/// zero.
std::optional<Parting> first_difference(const Frame& reference, const Frame& other);

/// The part of `carom compare` on bits: every processor and number of threads at hand.
Findings bits_section(const PreparedScene& run, const CompareContext& context);

}  // namespace carom
