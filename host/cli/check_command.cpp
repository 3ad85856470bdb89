#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "host/cli/options.hpp"
#include "host/run/driving_text.hpp"
#include "host/run/observe.hpp"
#include "host/run/say.hpp"
#include "host/run/simulate.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/viewer/painter.hpp"
#endif

namespace carom {

namespace {

struct CheckOptions {
    SceneOptions scene;
    std::string ranks;
    std::string ranks_per_axis;
    bool json = false;
    bool quiet = false;
};

std::string as_text(const PreparedScene& run, const std::optional<RankMemory>& ranks) {
    const SolverPlan& plan = *run.plan;
    const std::string unit = run.scene.units.behind("s");
    std::string text = visible(run.scene.path + (run.scene.title.empty() ? "" : ": " + run.scene.title)) + "\n";
    const auto line = [&](const std::string& name, const std::string& value) {
        text += fmt::format("  {:<18}{}\n", name, value);
    };
    line("balls", fmt::format("{} in {}D", count_text(run.state.ball_count()), run.scene.dimension()));
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
    if (ranks) {
        std::string layers;
        for (int axis = 0; axis < run.scene.dimension(); ++axis) {
            layers += (axis == 0 ? "" : " x ") + std::to_string(ranks->layers[axis]);
        }
        line("ranks", fmt::format("{}, {} bricks: {} for rank 0, {} for each other{}", ranks->ranks, layers,
                                  bytes_text(ranks->rank_0), bytes_text(ranks->other),
                                  ranks->has_all.empty() ? "" : "; rank 0 has all balls, for " + ranks->has_all));
    }
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

/// What --ranks asks for.
std::optional<RankMemory> ranks_asked_for(const CheckOptions& options, const PreparedScene& run) {
    if (options.ranks.empty()) {
        if (options.ranks_per_axis.empty()) return std::nullopt;
        throw InputError("--ranks-per-axis: of how many ranks? allowed with --ranks N");
    }
    constexpr std::uint64_t kMostRanks = 1U << 20;
    const std::uint64_t count = parse_whole("--ranks", options.ranks, 1);
    if (count > kMostRanks)
        throw InputError(fmt::format("--ranks: {} are too many; allowed: to {}", count, kMostRanks));
    const auto ranks = static_cast<int>(count);
    return memory_of_ranks(
        run, ranks,
        options.ranks_per_axis.empty() ? std::array<int, 3>{} : parse_layers(options.ranks_per_axis, ranks));
}

int check(const CheckOptions& options) {
    if (options.scene.scene.empty()) throw InputError("no scene given; see carom check --help");
    SceneRequest request = options.scene.request();
    request.in_parts = !options.ranks.empty();
    const PreparedScene run = prepare_scene(request);
#ifdef CAROM_HAVE_VIEWER
    // Of [look] only those who draw can tell what its texts mean.
    static_cast<void>(Appearance({}, run.scene, run.state.balls));
#endif
    const std::optional<RankMemory> ranks = ranks_asked_for(options, run);
    if (options.json) {
        fmt::print("{}\n", check_json(run, estimate_seconds(run), ranks));
    } else if (!options.quiet) {
        fmt::print("{}", as_text(run, ranks));
    }
    return 0;
}

}  // namespace

Action add_check_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<CheckOptions>();
    add_scene_options(command, options->scene);
    command.option("--ranks", options->ranks, "N", "Also what each of so many ranks of MPI would take of memory");
    command.option("--ranks-per-axis", options->ranks_per_axis, "X,Y[,Z]", "How they stand along the axes");
    command.flag("--json", options->json, "As one JSON object");
    command.flag("--quiet", options->quiet, "Only the exit status says whether the scene is right");
    return options->scene.naming_options([options] { return check(*options); });
}

}  // namespace carom
