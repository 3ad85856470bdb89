#include "host/compare/bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <thread>
#include <utility>

#include "host/backends/spring_backends.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr std::uint64_t kCheckpoints = 64;  // hashes of a run that are held against each other
constexpr std::uint64_t kStrides = 16;      // parts that a stretch is cut into while narrowing
constexpr double kWork = 2.0e8;             // ball-steps of one run; a longer one is cut

void read_frame(Solver& solver, Frame& frame) {
    solver.request_frame(frame);
    solver.finish_frame(frame);
}

void advance_to_step(Solver& solver, std::uint64_t step, double dt, const CompareContext& context) {
    context.advance(solver, static_cast<double>(step) * dt);
}

std::uint64_t checkpoint_step(std::uint64_t k, std::uint64_t steps) {
    const std::uint64_t count = std::min(kCheckpoints, steps);
    return steps / count * k + steps % count * k / count;
}

/// Hashes of a run at its checkpoints.
std::vector<std::uint64_t> hashes_of(const SolverSource& source, std::uint64_t steps, double dt,
                                     const CompareContext& context, const std::vector<std::uint64_t>* reference) {
    const std::unique_ptr<Solver> solver = source.make();
    const std::uint64_t count = std::min(kCheckpoints, steps);
    std::vector<std::uint64_t> hashes;
    Frame frame;
    for (std::uint64_t k = 0; k <= count; ++k) {
        advance_to_step(*solver, checkpoint_step(k, steps), dt, context);
        read_frame(*solver, frame);
        hashes.push_back(state_hash(frame));
        if (reference != nullptr && hashes.back() != (*reference)[k]) break;
    }
    return hashes;
}

/// The parting between the steps `low`, where both agree (or 0), and `high`, where they differ.
Parting narrow(const SolverSource& reference, const SolverSource& other, std::uint64_t low, std::uint64_t high,
               double dt, const CompareContext& context) {
    Frame one;
    Frame two;
    while (true) {
        const std::unique_ptr<Solver> a = reference.make();
        const std::unique_ptr<Solver> b = other.make();
        const std::uint64_t stride = std::max<std::uint64_t>(1, (high - low + kStrides - 1) / kStrides);
        std::optional<Parting> found;
        std::uint64_t step = low;
        while (true) {
            advance_to_step(*a, step, dt, context);
            advance_to_step(*b, step, dt, context);
            read_frame(*a, one);
            read_frame(*b, two);
            found = first_difference(one, two);
            if (found || step >= high) break;
            low = step;
            step = std::min(high, step + stride);
        }
        if (found && stride > 1 && step > low) {
            high = step;
            continue;
        }
        Parting parting = found.value_or(Parting{.repeated = false});
        parting.reference = reference.name;
        parting.other = other.name;
        parting.step = step;
        return parting;
    }
}

struct Field {
    const char* name;
    std::array<std::vector<double>, 3> Frame::*values;
};

constexpr std::array<Field, 3> kFields{
    {{"position", &Frame::position}, {"velocity", &Frame::velocity}, {"spin", &Frame::spin}}};

/// Threads 1, 2, 4, ... and all.
std::vector<int> thread_counts(int most) {
    std::vector<int> counts;
    for (int count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    return counts;
}

std::string bit_words(int bit) {
    if (bit == 63) return "the sign";
    if (bit >= 52) return fmt::format("bit {} of the exponent", bit - 52);
    return fmt::format("bit {} of the fraction's 52", bit);
}

Check bits_check(const BitsResult& result, double dt) {
    if (!result.parting) {
        return {.name = "bits",
                .verdict = Verdict::kGood,
                .words = fmt::format("identical over {}, to t = {:.6g}: hash {:016x}", plural(result.steps, "step"),
                                     static_cast<double>(result.steps) * dt, result.hash),
                .figures = {{"steps", static_cast<double>(result.steps)}}};
    }
    const Parting& p = *result.parting;
    Check check{
        .name = "bits",
        .verdict = Verdict::kBad,
        .words = fmt::format("{} and {} part at step {} (t = {:.9g}): ball {}, {}: {:.17g} and {:.17g}, from {} on",
                             p.reference, p.other, p.step, static_cast<double>(p.step) * dt, p.ball, p.quantity,
                             p.value, p.other_value, bit_words(p.bit)),
        .figures = {{"steps", static_cast<double>(result.steps)},
                    {"step", static_cast<double>(p.step)},
                    {"ball", static_cast<double>(p.ball)},
                    {"bit", static_cast<double>(p.bit)}}};
    if (!p.repeated) {
        check.words =
            fmt::format("{} and {} differed by step {}, and did not in a second run: one of them is not deterministic",
                        p.reference, p.other, p.step);
    }
    return check;
}

}  // namespace

std::optional<Parting> first_difference(const Frame& reference, const Frame& other) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value); };
    static constexpr std::array kAxes{"x", "y", "z"};
    for (std::size_t ball = 0; ball < std::max(reference.size(), other.size()); ++ball) {
        if (ball >= std::min(reference.size(), other.size()) || reference.gone[ball] != other.gone[ball]) {
            return Parting{.ball = ball, .quantity = "presence"};
        }
        if (reference.gone[ball] != 0) continue;
        for (const Field& field : kFields) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const std::vector<double>& one = (reference.*field.values)[axis];
                const std::vector<double>& two = (other.*field.values)[axis];
                if (one.empty() || two.empty()) continue;
                const std::uint64_t difference = bits(one[ball]) ^ bits(two[ball]);
                if (difference == 0) continue;
                return Parting{.ball = ball,
                               .quantity = std::string(field.name) + " " + kAxes[axis],
                               .value = one[ball],
                               .other_value = two[ball],
                               .bit = 63 - std::countl_zero(difference)};
            }
        }
    }
    return std::nullopt;
}

BitsResult compare_bits(const std::vector<SolverSource>& sources, std::uint64_t steps, double dt,
                        const CompareContext& context) {
    BitsResult result{.steps = steps, .hash = 0, .parting = std::nullopt};
    if (sources.empty() || steps == 0) return result;
    const std::vector<std::uint64_t> reference = hashes_of(sources.front(), steps, dt, context, nullptr);
    result.hash = reference.back();
    for (std::size_t k = 1; k < sources.size(); ++k) {
        const std::vector<std::uint64_t> hashes = hashes_of(sources[k], steps, dt, context, &reference);
        const std::size_t last = hashes.size() - 1;
        if (hashes[last] == reference[last]) continue;
        const std::uint64_t low = last == 0 ? 0 : checkpoint_step(last - 1, steps);
        result.parting = narrow(sources.front(), sources[k], low, checkpoint_step(last, steps), dt, context);
        break;
    }
    return result;
}

Findings bits_section(const PreparedScene& run, const CompareContext& context) {
    Findings section{.name = "bits"};
    const int most =
        context.threads > 0 ? context.threads : std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<SolverSource> sources;
    const auto add = [&](BackendChoice backend, int threads, const std::string& name) {
        Scene scene = run.scene;
        scene.run.backend = backend;
        sources.push_back(
            {name, [&run, &context, scene, threads] { return context.make_spring(scene, run.state, threads); }});
    };
    const bool cuda = run.scene.run.backend != BackendChoice::kCpu && !cuda_devices().empty();
    for (const int threads : thread_counts(most)) {
        add(BackendChoice::kCpu, threads, "cpu on " + plural(static_cast<std::uint64_t>(threads), "thread"));
    }
    if (cuda) add(BackendChoice::kCuda, context.threads, "cuda on " + cuda_devices().front().name);
    std::vector<std::string> names;
    for (const SolverSource& source : sources) names.push_back(source.name);
    section.notes.push_back(fmt::format("{} precision, {}", run.plan->precision(), fmt::join(names, "; ")));
    if (!cuda)
        section.notes.emplace_back(run.scene.run.backend == BackendChoice::kCpu
                                       ? "CUDA left out, as the backend asked for is the CPU"
                                       : "CUDA left out: there is no device");

    const double dt = run.plan->time_of_step(1);
    const auto balls = static_cast<double>(std::max<std::size_t>(1, run.state.balls.size()));
    const auto cut = static_cast<std::uint64_t>(std::max(1.0, kWork / balls));
    const std::uint64_t steps = std::min(run.steps, cut);
    if (steps == 0) {
        section.notes.emplace_back("not compared: the run has no steps");
        return section;
    }
    context.say(fmt::format("bits: {} of {}", plural(sources.size(), "run"), plural(steps, "step")));
    section.checks.push_back(bits_check(compare_bits(sources, steps, dt, context), dt));
    section.checks.back().figures.emplace_back("runs", static_cast<double>(sources.size()));
    if (sources.size() == 1) {
        section.checks.back().verdict = Verdict::kNone;
        section.notes.emplace_back("--threads 1 leaves nothing to hold the run against: two at least are needed");
    }
    return section;
}

}  // namespace carom
