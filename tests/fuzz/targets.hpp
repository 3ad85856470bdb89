#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

// What is fuzzed: every reader of files that strangers may have made, and what is done with what it read, as commands
// do it.

namespace carom::fuzz {

struct Target {
    std::string name;
    /// Reads the input; a refusal is as good as a success. \throws what no input may make carom throw
    void (*read)(const std::string& input);
    /// Files that are right, or nearly so, to begin from.
    std::vector<std::string> (*seeds)();
    int inputs;  ///< that the test tries: a few seconds of them, with sanitizers
};

const std::vector<Target>& targets();

/// \throws std::out_of_range  there is none of that name
const Target& target(const std::string& name);

/// One input made from others: numbers that nobody expects, lines left out, doubled and exchanged, words of the other,
/// bytes that are wrong.
std::string mutated(std::string input, const std::string& other, std::mt19937& random);

}  // namespace carom::fuzz
