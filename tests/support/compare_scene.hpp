#pragma once

#include <string>
#include <vector>

#include "host/compare/compare.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"

namespace carom::test {

/// A scene ready to be compared, from its text.
inline PreparedScene prepared(const std::string& text, const std::vector<std::string>& overrides = {}) {
    PreparedScene run;
    run.scene = parse_scene(text, "test.toml", overrides);
    run.state.balls = make_balls(run.scene);
    run.plan = make_spring_plan(run.scene, run.state, 1);
    run.steps = run.plan->steps_to(run.scene.run.until);
    return run;
}

/// Spring solvers that are of another scene than they should be.
template <class Change>
CompareContext wrong_springs(Change change) {
    CompareContext context;
    context.threads = 1;
    context.work = 1.0e8;  // enough for what is right; a fault is not worth raising k for long
    context.make_spring = [change](const Scene& scene, const SolverState& state, int threads) {
        Scene wrong = scene;
        SolverState wrong_state = state;
        change(wrong, wrong_state);
        return make_spring_of(wrong, wrong_state, threads);
    };
    return context;
}

inline CompareContext right_springs() {
    return wrong_springs([](Scene&, SolverState&) {});
}

/// The verdict of a check; kNone where there is no such check.
inline Verdict verdict(const Findings& findings, const std::string& name) {
    for (const Check& check : findings.checks) {
        if (check.name == name) return check.verdict;
    }
    return Verdict::kNone;
}

inline std::string words(const Findings& findings) {
    std::string text;
    for (const Check& check : findings.checks) text += check.name + ": " + check.words + "\n";
    for (const std::string& note : findings.notes) text += note + "\n";
    return text;
}

}  // namespace carom::test
