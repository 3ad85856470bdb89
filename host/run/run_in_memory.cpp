#include "host/run/run_in_memory.hpp"

#include <cstdio>
#include <memory>
#include <utility>

#include "host/observables/average.hpp"
#include "host/run/observe.hpp"

namespace carom {

namespace {

/// Keeps the last row, and lets all else go.
class LastRow final : public RunSink {
public:
    void write_frame(const Frame&) override {}
    void write_row(const ObservableRow& row) override { values = row.values; }
    void write_checkpoint(SolverState&) override {}

    std::vector<double> values;
};

/// Names of the single numbers among the averages, in the order of RunOutcome::numbers.
void append_average_infos(const std::vector<AverageInfo>& averages, std::vector<ObservableInfo>& infos) {
    for (const AverageInfo& average : averages) {
        for (const std::string& name : number_names(average)) {
            infos.push_back({.name = name, .unit = average.unit, .label = average.label, .components = {}});
            infos.push_back({.name = name + "_se", .unit = average.unit, .label = average.label, .components = {}});
        }
    }
}

}  // namespace

MemoryRun run_in_memory(PreparedScene run, const std::function<int()>& interrupted) {
    const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, "");
    ObservableSet observables = observables_of_run(run, *solver);
    RunAverages averages(run, {});
    run.state = {};  // the solver has its own
    const RunPlan plan{.until = run.scene.run.until, .row_every = run.scene.output.observables_every};
    LastRow sink;
    Progress silent(ProgressStyle::kNone, stderr, "", 1.0);
    MemoryRun result;
    result.outcome = run_loop(*solver, observables, sink, plan, silent, interrupted, &averages);
    result.infos = observables.infos();
    append_average_infos(averages.infos(), result.infos);
    if (result.outcome.status == ExitStatus::kDone) {
        result.values = std::move(sink.values);
        for (const AveragedNumber& number : result.outcome.numbers) {
            result.values.push_back(number.mean);
            result.values.push_back(number.error);
        }
    }
    return result;
}

std::vector<ObservableInfo> infos_in_memory(const PreparedScene& run) {
    const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, "");
    std::vector<ObservableInfo> infos = make_observables(run.scene, run.state.balls, &run.state.balls).infos();
    append_average_infos(average_infos(run), infos);
    return infos;
}

std::optional<std::size_t> find_value(const std::vector<ObservableInfo>& infos, const std::string& name) {
    std::size_t at = 0;
    for (const ObservableInfo& info : infos) {
        if (info.name == name) return at;
        for (std::size_t k = 0; k < info.components.size(); ++k) {
            if (info.name + "." + info.components[k] == name) return at + k;
        }
        at += info.width();
    }
    return std::nullopt;
}

}  // namespace carom
