#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/compare/bits.hpp"
#include "host/compare/convergence.hpp"
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
    const SceneRequest request = options.scene.request();
    const PreparedScene run = prepare_scene(request);
    CompareContext context;
    context.threads = request.threads;
    context.progress = progress_style(options.quiet, stderr);
    Section bits = bits_section(run, context);
    for (auto& c : bits.checks) fmt::print("{}\n", c.words);
    Convergence result;
    convergence_section(run, context, result);
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
