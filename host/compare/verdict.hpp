#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace carom {

/// What a check came to.
enum class Verdict : std::uint8_t {
    kGood,
    kBad,
    kNone,  ///< a figure that nothing is held against
};

/// One thing that was compared.
struct Check {
    std::string name;
    Verdict verdict = Verdict::kNone;
    std::string words;                                         ///< one sentence for people
    std::vector<std::pair<std::string, double>> figures = {};  ///< by their keys in JSON
};

/// One of the parts of a comparison.
struct Findings {
    std::string name;
    std::vector<Check> checks = {};
    std::vector<std::string> notes = {};  ///< what was compared, and what was not, and why

    [[nodiscard]] bool good() const {
        return std::ranges::none_of(checks, [](const Check& check) { return check.verdict == Verdict::kBad; });
    }
};

inline Verdict verdict_of(bool good) { return good ? Verdict::kGood : Verdict::kBad; }

}  // namespace carom
