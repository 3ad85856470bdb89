#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "host/cli/options.hpp"
#include "host/run/driving_text.hpp"
#include "host/run/observe.hpp"
#include "host/run/say.hpp"
#include "host/run/simulate.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct CheckOptions {
    SceneOptions scene;
    bool json = false;
    bool quiet = false;
};

std::string as_text(const PreparedScene& run) {
    const SolverPlan& plan = *run.plan;
    const std::string unit = run.scene.units.behind("s");
    std::string text = visible(run.scene.path + (run.scene.title.empty() ? "" : ": " + run.scene.title)) + "\n";
    const auto line = [&](const std::string& name, const std::string& value) {
        text += fmt::format("  {:<18}{}\n", name, value);
    };
    line("balls", fmt::format("{} in {}D", count_text(run.state.balls.size()), run.scene.dimension()));
    for (const LoadEntry& load : run.scene.loads) line("loaded", visible(load.loaded->summary()));
    line("packing fraction", fmt::format("{:.4g}", run.figures.packing_fraction));
    if (run.figures.size_ratio > 1.0) {
        line("largest radius", fmt::format("{:.4g} times the smallest", run.figures.size_ratio));
    }
    line("solver", plan.name());
    for (const PlanFact& fact : plan.facts()) {
        if (!fact.name.empty()) line(fact.name, fact.text);
    }
    if (run.steps > 0) {
        line("steps", fmt::format("{} to t = {:.6g}{}", count_text(run.steps), run.scene.run.until, unit));
    } else {
        line("until", fmt::format("t = {:.6g}{}", run.scene.run.until, unit));
    }
    for (const auto& [name, value] : driving_lines(run.scene)) line(name, value);
    line("processor", plan.processor());
    line("memory", plan.processor() == "cpu"
                       ? bytes_text(run.memory_bytes)
                       : fmt::format("{} of the GPU's, {} of the machine's", bytes_text(run.memory_bytes),
                                     bytes_text(run.host_memory_bytes)));
    line("output", fmt::format("{} and {}, about {}", plural(run.frames, "frame"), plural(run.rows, "row"),
                               bytes_text(run.output_bytes)));
    if (const auto seconds = estimate_seconds(run)) {
        line("time", fmt::format("about {}, as its first moments go", duration_text(*seconds)));
    }
    line("rows", run.scene.output.observables_every > 0.0
                     ? fmt::format("one every {:.6g}{}", run.scene.output.observables_every, unit)
                     : "at the ends");
    for (const AverageInfo& info : average_infos(run)) {
        line("average", fmt::format("{}: {}, a sample every {:.4g}{} from t = {:.6g} on", info.name, info.kind,
                                    info.every, unit, measured_from(run.scene, info.from)));
    }
    for (const std::string& warning : run.warnings) text += "warning: " + visible(warning) + "\n";
    return text;
}

int check(const CheckOptions& options) {
    if (options.scene.scene.empty()) throw InputError("no scene given; see carom check --help");
    const PreparedScene run = prepare_scene(options.scene.request());
    if (options.json) {
        fmt::print("{}\n", check_json(run, estimate_seconds(run)));
    } else if (!options.quiet) {
        fmt::print("{}", as_text(run));
    }
    return 0;
}

}  // namespace

Action add_check_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<CheckOptions>();
    add_scene_options(command, options->scene);
    command.flag("--json", options->json, "As one JSON object");
    command.flag("--quiet", options->quiet, "Only the exit status says whether the scene is right");
    return options->scene.naming_options([options] { return check(*options); });
}

}  // namespace carom
