#include <fmt/format.h>

#include <exception>
#include <memory>

#include "host/cli/options.hpp"
#include "host/compare/compare.hpp"
#include "host/compare/comparison_page.hpp"
#include "host/compare/comparison_text.hpp"
#include "host/io/replacement.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr int kBadVerdict = 3;  // as that of a simulation that could not go on

struct CompareOptions {
    SceneOptions scene;
    std::string output;
    bool json = false;
    bool quiet = false;
    bool force = false;
};

/// The scene as the spring solver would run it, or one line on why there is nothing to compare.
PreparedScene prepare(const CompareOptions& options) {
    SceneRequest request = options.scene.request();
    request.text = read_scene_text(request.scene);
    const Scene scene = parse_scene(request.text->text, request.text->path, request.overrides);
    if (const std::string why = not_comparable(scene); !why.empty()) throw InputError(why);
    request.overrides.emplace_back("run.solver=spring");
    return prepare_scene(request);
}

int compare(const CompareOptions& options) {
    if (options.scene.scene.empty()) throw InputError("no scene given; see carom compare --help");
    if (!options.output.empty()) {
        check_output_file(options.output, find_scene(options.scene.scene), options.force);
        figure_head("", options.output);  // refuses an ending before anything is computed
    }
    const PreparedScene run = prepare(options);
    require_no_input({{options.output}}, loaded_files(run.scene));
    const SignalGuard signals;
    CompareContext context;
    context.threads = options.scene.request().threads;
    context.progress = progress_style(options.quiet, stderr);
    context.interrupted = [&signals] { return signals.caught(); };
    Comparison comparison;
    try {
        comparison = compare_solvers(run, context);
    } catch (const Interrupted& interrupted) {
        say("carom: interrupted; nothing was written\n");
        return 128 + interrupted.signal;
    }
    const std::exception_ptr failure = thrown_by([&] {
        if (!options.output.empty()) draw_comparison(comparison, run.scene, options.output, options.force);
    });
    if (options.json) {
        fmt::print("{}\n", comparison_json(comparison, run.scene, failure ? "" : options.output));
    } else {
        fmt::print("{}", comparison_text(comparison, run.scene));
    }
    if (failure) std::rethrow_exception(failure);
    return comparison.good() ? 0 : kBadVerdict;
}

}  // namespace

Action add_compare_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<CompareOptions>();
    add_scene_options(command, options->scene);
    command.leave_out("--solver");
    command.describe("--threads", "Threads of the CPU at most; all by default, and two at least");
    command.describe("--until", "Simulated time to compare within; a gas is followed for as long as it needs");
    command.option("-o,--output", options->output, "FIGURE",
                   "One page of figures: .png, .svg or .pdf; none by default");
    command.flag("--json", options->json, "Print one JSON object instead of text");
    command.flag("--quiet", options->quiet, "No progress");
    command.flag("--force", options->force, "Overwrite the figure if it exists");
    return options->scene.naming_options([options] { return compare(*options); });
}

}  // namespace carom
