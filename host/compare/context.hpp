#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/run/progress.hpp"
#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

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

inline constexpr const char* kWithoutEpsilon =
    "spring.distance_epsilon is left out here, as it moves contacts whatever k is";

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

/// Makes the spring solver of a scene; tests give one that is wrong.
using SpringMaker = std::function<std::unique_ptr<Solver>(const Scene&, const SolverState&, int threads)>;

/// What a run of that scene would use.
std::unique_ptr<Solver> make_spring_of(const Scene& scene, const SolverState& state, int threads);

/// A signal has come; the comparison is given up.
struct Interrupted {
    int signal = 0;
};

/// What all parts of a comparison share.
struct CompareContext {
    int threads = 0;      ///< 0: all
    double work = 1.5e9;  ///< ball-steps that one part may cost beyond what it needs at least
    SpringMaker make_spring = make_spring_of;
    std::function<int()> interrupted = [] { return 0; };  ///< a signal's number, or 0
    ProgressStyle progress = ProgressStyle::kNone;        ///< on standard error

    /// One line on standard error, unless quiet.
    void say(const std::string& line) const;
    /// \throws Interrupted  a signal has come
    void look_at_signals() const;
    /// Takes a solver to a time. \throws Interrupted, SimulationError
    void advance(Solver& solver, double time) const;
};

}  // namespace carom
