#include "host/compare/context.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "host/run/say.hpp"
#include "host/run/solver_plan.hpp"

namespace carom {

namespace {
constexpr double kPatience = 0.2;  // seconds between two looks at signals
}  // namespace

std::unique_ptr<Solver> make_spring_of(const Scene& scene, const SolverState& state, int threads) {
    return make_spring_plan(scene, state, threads)->make_solver(state, "");
}

void CompareContext::say(const std::string& line) const {
    if (progress != ProgressStyle::kNone) say_to(stderr, line + "\n");
}

void CompareContext::look_at_signals() const {
    if (const int signal = interrupted(); signal != 0) throw Interrupted{signal};
}

void CompareContext::advance(Solver& solver, double time) const {
    while (!solver.advance_to(time, kPatience)) look_at_signals();
    look_at_signals();
}

}  // namespace carom
