#include "host/bench/run_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include "host/backends/spring_backends.hpp"
#include "host/bench/machine.hpp"
#include "host/bench/measure.hpp"
#include "host/bench/run_case.hpp"
#include "host/run/text.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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
            if (results_.signal = interrupted_(); results_.signal != 0) break;
            one(what);
        }
        results_.seconds = since(start_);
        return std::move(results_);
    }

private:
    /// Cases that take alike per ball, but for what a larger system costs beside.
    using Kin = std::tuple<BenchRung, std::string, int, int, bool>;
    static Kin kin_of(const BenchCase& what) {
        return {what.rung, what.backend, what.threads, what.gas ? what.gas->dimension : 0, what.double_precision};
    }

    void leave_out(const BenchCase& what, std::string why) { results_.left_out.push_back({what, std::move(why)}); }

    void one(const BenchCase& what) {
        const double left = request_.limit_or_default() - since(start_);
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
            BenchRow row = run_case(what, gas_ ? &*gas_ : nullptr, request_, interrupted_);
            if (what.gas) overhead_[kin_of(what)] = std::max(0.0, since(begin) - row.measured_seconds);
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

    /// Without placing the gas, from the same on a smaller one: both the steps that cannot be fewer and what comes
    /// before them grow with it.
    [[nodiscard]] double expected_seconds(const BenchCase& what) const {
        if (!what.gas) return 0.0;
        const auto n = static_cast<double>(what.gas->balls);
        double seconds = 0.0;
        const BenchRow* before = nullptr;
        for (const BenchRow& row : results_.rows) {
            if (!row.what.gas || kin_of(row.what) != kin_of(what)) continue;
            const double fraction = what.gas->fraction;
            const bool nearer = before == nullptr || before->what.gas->fraction != fraction;
            if (nearer || row.what.gas->fraction == fraction) before = &row;
        }
        if (before == nullptr) return seconds;
        const double repeats = request_.repeats_or_default() + 1.0;  // and the warming up
        if (what.rung != BenchRung::kEvents) {
            const double steps = n / before->rate.median;
            seconds += std::max(repeats * request_.repeat_seconds(),
                                repeats * static_cast<double>(least_steps(what.rung)) * steps);
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
