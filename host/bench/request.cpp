#include "host/bench/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/run/text.hpp"

namespace carom {

namespace {

// What carom is to be judged by: a dilute gas, a dense one, and one denser than balls freeze at (2D 0.70 to 0.72, 3D
// 0.49 to 0.55).
const std::vector<double>& fractions_of(int dimension) {
    static const std::vector<double> kDisks{0.05, 0.5, 0.8};
    static const std::vector<double> kSpheres{0.05, 0.3, 0.6};
    return dimension == 2 ? kDisks : kSpheres;
}

double middle_fraction(int dimension) { return fractions_of(dimension)[1]; }

constexpr std::uint64_t kMostEventBalls = 1'000'000;
constexpr std::uint64_t kOutputBalls = 100'000;
constexpr std::uint64_t kSideBalls = 100'000;  // of the fractions that --quick looks at only in passing

template <class T>
bool has(const std::vector<T>& list, const T& value) {
    return std::ranges::find(list, value) != list.end();
}

std::vector<std::uint64_t> default_sizes(const BenchRequest& request, bool cuda) {
    if (request.quick) {
        return cuda ? std::vector<std::uint64_t>{4096, 100'000, 1'000'000, 16'000'000}
                    : std::vector<std::uint64_t>{1000, 100'000, 1'000'000};
    }
    std::vector<std::uint64_t> sizes{1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    if (cuda) {
        sizes.insert(sizes.begin() + 1, 4096);
        sizes.insert(sizes.end() - 1, 16'000'000);
    }
    return sizes;
}

/// Powers of two, and all.
std::vector<int> thread_ladder(int most) {
    std::vector<int> counts;
    for (int count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    return counts;
}

class Lister {
public:
    Lister(const BenchRequest& request, const BenchMachine& machine) : request_(request), machine_(machine) {
        backends_ = request.backends;
        if (backends_.empty()) {
            backends_.emplace_back("cpu");
            if (machine.cuda) backends_.emplace_back("cuda");
        }
        rungs_ = request.rungs.empty() ? bench_rungs() : request.rungs;
        precisions_ = request.precisions.empty() ? std::vector<std::string>{"single", "double"} : request.precisions;
    }

    std::vector<BenchCase> list() {
        copies();
        const bool cuda = has(backends_, std::string("cuda"));
        const auto sizes = request_.sizes.empty() ? default_sizes(request_, cuda) : request_.sizes;
        for (const std::uint64_t balls : sizes) {
            for (const int dimension : request_.dimensions.empty() ? std::vector<int>{2, 3} : request_.dimensions) {
                for (const double fraction : request_.fractions.empty() ? fractions_of(dimension) : request_.fractions)
                    gas({dimension, fraction, balls});
            }
        }
        return std::move(cases_);
    }

private:
    void copies() {
        if (!has(rungs_, BenchRung::kCopy)) return;
        for (const std::string& backend : backends_) {
            const auto counts = !request_.threads.empty() ? request_.threads : thread_ladder(machine_.threads);
            for (const int threads : backend == "cpu" ? counts : std::vector<int>{1})
                cases_.push_back({BenchRung::kCopy, backend, threads, {}, false});
        }
    }

    void gas(const BenchGas& gas) {
        const bool middle = gas.fraction == middle_fraction(gas.dimension) || !request_.fractions.empty();
        const bool aside = request_.quick && !middle;
        if (aside && gas.balls != kSideBalls) return;
        for (const std::string& precision : precisions_) {
            for (const std::string& backend : backends_) {
                for (const BenchRung rung : {BenchRung::kIntegrate, BenchRung::kTextbook, BenchRung::kSpring}) {
                    if (!has(rungs_, rung)) continue;
                    // In passing: enough to tell which solver is the better tool there.
                    if (aside && (rung != BenchRung::kSpring || precision == "double")) continue;
                    for (const int threads : counts(backend, middle, precision))
                        cases_.push_back({rung, backend, threads, gas, precision == "double"});
                }
            }
        }
        if (has(rungs_, BenchRung::kEvents) && has(backends_, std::string("cpu")) && gas.balls <= kMostEventBalls)
            cases_.push_back({BenchRung::kEvents, "cpu", 1, gas, true});
        const bool wanted = !request_.sizes.empty() || gas.balls == kOutputBalls;
        if (has(rungs_, BenchRung::kOutput) && middle && wanted) {
            for (const std::string& backend : backends_) {
                const int threads = request_.threads.empty() ? machine_.threads : request_.threads.back();
                cases_.push_back({BenchRung::kOutput, backend, backend == "cpu" ? threads : 1, gas, false});
            }
        }
    }

    /// All counts where carom is judged; one and all elsewhere.
    [[nodiscard]] std::vector<int> counts(const std::string& backend, bool middle, const std::string& precision) const {
        if (backend != "cpu") return {1};
        if (!request_.threads.empty()) return request_.threads;
        if (middle && precision == "single") return thread_ladder(machine_.threads);
        if (request_.quick || machine_.threads == 1) return {machine_.threads};
        return {1, machine_.threads};
    }

    const BenchRequest& request_;
    BenchMachine machine_;
    std::vector<std::string> backends_;
    std::vector<std::string> precisions_;
    std::vector<BenchRung> rungs_;
    std::vector<BenchCase> cases_;
};

}  // namespace

const std::vector<BenchRung>& bench_rungs() {
    static const std::vector<BenchRung> kRungs{BenchRung::kCopy,   BenchRung::kIntegrate, BenchRung::kTextbook,
                                               BenchRung::kSpring, BenchRung::kEvents,    BenchRung::kOutput};
    return kRungs;
}

const char* rung_name(BenchRung rung) {
    switch (rung) {
        case BenchRung::kCopy:
            return "copy";
        case BenchRung::kIntegrate:
            return "integrate";
        case BenchRung::kTextbook:
            return "textbook";
        case BenchRung::kSpring:
            return "spring";
        case BenchRung::kEvents:
            return "events";
        case BenchRung::kOutput:
            break;
    }
    return "output";
}

std::string case_text(const BenchCase& what) {
    std::string text = fmt::format("{}, {}", rung_name(what.rung), what.backend);
    if (what.backend == "cpu") text += ", " + plural(static_cast<std::uint64_t>(what.threads), "thread");
    if (what.gas) {
        text += fmt::format(", {}D, packing fraction {}, {}, {}", what.gas->dimension, what.gas->fraction,
                            plural(what.gas->balls, "ball"), what.double_precision ? "double" : "single");
    }
    return text;
}

std::vector<BenchCase> list_cases(const BenchRequest& request, const BenchMachine& machine) {
    return Lister(request, machine).list();
}

}  // namespace carom
