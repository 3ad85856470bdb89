#include "host/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include "host/backends/spring_backends.hpp"
#include "host/bench/bench_case.hpp"
#include "host/bench/machine.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

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

namespace {

using Clock = std::chrono::steady_clock;

/// Placing takes this much a ball at its worst: the balls, the lattice's sites, the solver that melts.
constexpr std::uint64_t kPlacingBytes = 350;

class Bench {
public:
    Bench(const BenchRequest& request, const std::function<void(const std::string&)>& tell,
          const std::function<int()>& interrupted)
        : request_(request), tell_(tell), interrupted_(interrupted) {}

    BenchResults run() {
        results_.machine = describe_machine();
        for (const BenchCase& what : list_cases(request_, find_machine())) {
            if (interrupted_() != 0) break;
            one(what);
        }
        results_.signal = interrupted_();
        results_.seconds = seconds_since(start_);
        return std::move(results_);
    }

private:
    /// Cases that take alike per ball, but for what a larger system costs beside.
    using Kin = std::tuple<BenchRung, std::string, int, int, bool>;
    static Kin kin_of(const BenchCase& what) {
        return {what.rung, what.backend, what.threads, what.gas ? what.gas->dimension : 0, what.double_precision};
    }

    void leave_out(const BenchCase& what, std::string why) { results_.left_out.push_back({what, std::move(why)}); }

    [[nodiscard]] double time_left() const { return request_.limit_or_default() - seconds_since(start_); }

    void one(const BenchCase& what) {
        const double left = time_left();
        if (left <= 0.0) return leave_out(what, "the time for all is over (--limit)");
        const double expected = expected_seconds(what);
        const double with_placing = expected + placing_seconds(what);
        if (with_placing > left || expected > request_.patience_or_default()) {
            return leave_out(what, fmt::format("would take about {:.2g} s ({})", with_placing,
                                               with_placing > left ? "--limit" : "--patience"));
        }
        try {
            if (what.gas && what.rung != BenchRung::kOutput && !place(what, left)) return;
            tell_(case_text(what));
            const auto begin = Clock::now();
            const double seconds = std::min(time_left(), request_.patience_or_default());
            BenchRow row = run_case(what, gas_ ? &*gas_ : nullptr, request_, seconds, interrupted_);
            if (what.gas) overhead_[kin_of(what)] = std::max(0.0, seconds_since(begin) - row.measured_seconds);
            finish(row);
            results_.rows.push_back(std::move(row));
        } catch (const std::bad_alloc&) {
            leave_out(what, "out of memory");
        } catch (const std::exception& error) {
            leave_out(what, error.what());
        }
    }

    /// Makes the case's gas unless it is there already.
    bool place(const BenchCase& what, double left) {
        if (gas_ && placed_ == *what.gas) return true;
        gas_.reset();  // first: two would not fit
        const std::uint64_t bytes = kPlacingBytes * what.gas->balls;
        if (const std::uint64_t free = available_memory(); bytes > free) {
            leave_out(what, fmt::format("needs {} of memory, and {} are free", bytes_text(bytes), bytes_text(free)));
            return false;
        }
        tell_(fmt::format("placing {}D, packing fraction {}, {}", what.gas->dimension, what.gas->fraction,
                          plural(what.gas->balls, "ball")));
        gas_ = place_gas(*what.gas, std::min(left, request_.patience_or_default()), interrupted_);
        placed_ = *what.gas;
        const auto n = static_cast<double>(what.gas->balls);
        lattice_per_ball_ = gas_->lattice_seconds / n;
        if (gas_->start == "melted") melting_per_ball_ = gas_->melting_seconds / n;
        return true;
    }

    /// What placing the case's gas will take, from the gas before; 0 if that is it.
    [[nodiscard]] double placing_seconds(const BenchCase& what) const {
        if (!what.gas || what.rung == BenchRung::kOutput || (gas_ && placed_ == *what.gas)) return 0.0;
        const double melting = what.gas->balls <= kMostMelted ? melting_per_ball_ : 0.0;
        return (lattice_per_ball_ + melting) * static_cast<double>(what.gas->balls);
    }

    /// Without placing the gas: the repeats, and from the same on a smaller one the steps that cannot be fewer and what
    /// comes before them, which grow with it.
    [[nodiscard]] double expected_seconds(const BenchCase& what) const {
        // The rung of output bounds its own.
        const double least = what.rung == BenchRung::kOutput ? 0.0 : request_.repeats_seconds();
        if (!what.gas) return least;
        const auto n = static_cast<double>(what.gas->balls);
        double seconds = least;
        const BenchRow* before = nullptr;
        for (const BenchRow& row : results_.rows) {
            if (!row.what.gas || kin_of(row.what) != kin_of(what)) continue;
            const double fraction = what.gas->fraction;
            const bool nearer = before == nullptr || before->what.gas->fraction != fraction;
            if (nearer || row.what.gas->fraction == fraction) before = &row;
        }
        if (before == nullptr) return least;
        if (what.rung != BenchRung::kEvents) {
            const double repeats = request_.repeats_or_default() + 1.0;  // and the warming up
            const double steps = n / before->rate.median;
            seconds = std::max(least, repeats * static_cast<double>(least_steps(what.rung)) * steps);
        }
        // What comes before: measured where a gas is large enough for it to grow with the balls.
        constexpr std::uint64_t kLarge = 50'000;
        constexpr double kUsual = 1e-6;  // [s], a ball
        const auto found = overhead_.find(kin_of(what));
        const bool known = found != overhead_.end() && before->what.gas->balls >= kLarge;
        return seconds + n * (known ? found->second / static_cast<double>(before->what.gas->balls) : kUsual);
    }

    /// Adds what follows from the copy rung.
    void finish(BenchRow& row) const {
        if (!row.bytes_counted) return;
        for (const BenchRow& copy : results_.rows) {
            if (copy.what.rung != BenchRung::kCopy || copy.what.backend != row.what.backend ||
                copy.what.threads != row.what.threads) {
                continue;
            }
            row.copy_bandwidth = copy.rate.median;
            row.limit = copy.rate.median / *row.bytes_counted;
        }
    }

    const BenchRequest& request_;
    const std::function<void(const std::string&)>& tell_;
    const std::function<int()>& interrupted_;
    Clock::time_point start_ = Clock::now();
    BenchResults results_;
    std::optional<PlacedGas> gas_;
    BenchGas placed_;
    double lattice_per_ball_ = 0.0;   // of the last gas [s]
    double melting_per_ball_ = 0.0;   // of the last that was melted [s]
    std::map<Kin, double> overhead_;  // wall time of the last of its kin, without the repeats [s]
};

}  // namespace

BenchResults run_bench(const BenchRequest& request, const std::function<void(const std::string&)>& tell,
                       const std::function<int()>& interrupted) {
    for (const std::string& backend : request.backends) {
        if (backend != "cuda") continue;
        try {
            choose_processor(ProcessorChoice::kCuda, 0);
        } catch (const std::runtime_error& error) {
            throw SystemError(error.what());
        }
    }
    return Bench(request, tell, interrupted).run();
}

}  // namespace carom
