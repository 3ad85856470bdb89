#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/compare/bits.hpp"
#include "host/compare/convergence.hpp"
#include "host/compare/statistics.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct CompareOptions {
    SceneOptions scene;
    std::string output;
    bool json = false;
    bool quiet = false;
    bool force = false;
};

int compare(const CompareOptions& options) {
    SceneRequest request = options.scene.request();
    request.overrides.emplace_back("run.solver=spring");
    const PreparedScene run = prepare_scene(request);
    CompareContext context;
    context.threads = request.threads;
    context.progress = progress_style(options.quiet, stderr);
    Section bits = bits_section(run, context);
    Convergence result;
    Section conv = convergence_section(run, context, result);
    std::optional<GasStatistics> gas;
    Section stat = statistics_section(run, context, gas);
    for (auto* s : {&bits, &conv, &stat}) { for (auto& c : s->checks) fmt::print("{} {} {}\n", int(c.verdict), c.name, c.words);
    for (auto& c : s->notes) fmt::print("  note {}\n", c); }
    return 0;
}

}  // namespace

Action add_compare_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<CompareOptions>();
    add_scene_options(app, options->scene);
    app.remove_option(app.get_option("--solver"));
    app.add_option("-o,--output", options->output, "One page of figures: .png, .svg or .pdf")->type_name("FIGURE");
    app.add_flag("--json", options->json, "Print one JSON object instead of text");
    app.add_flag("--quiet", options->quiet, "No progress");
    app.add_flag("--force", options->force, "Overwrite the figure if it exists");
    return [options] { return compare(*options); };
}

}  // namespace carom
