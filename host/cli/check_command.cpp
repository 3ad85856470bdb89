#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/cli/options.hpp"
#include "host/run/text.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct CheckOptions {
    SceneOptions scene;
    bool json = false;
    bool quiet = false;
};

std::string as_json(const PreparedScene& run) {
    const SpringDesign& design = run.design;
    nlohmann::ordered_json json;
    json["scene"] = run.scene.path;
    json["title"] = run.scene.title;
    json["dimension"] = run.scene.dimension();
    json["balls"] = run.state.balls.size();
    json["packing_fraction"] = design.packing_fraction;
    json["size_ratio"] = design.size_ratio;
    json["solver"] = "spring";
    json["backend"] = run.processor;
    json["precision"] = run.scene.run.precision == Precision::kDouble ? "double" : "single";
    json["stiffness"] = design.stiffness;
    json["wall_stiffness"] = design.wall_stiffness;
    json["damping"] = design.damping;
    json["damping_ratio"] = design.damping_ratio;
    json["wall_damping_ratio"] = design.wall_damping_ratio;
    json["dt"] = design.dt;
    json["contact_duration"] = design.contact_duration;
    json["design_speed"] = design.design_speed;
    json["rms_speed"] = design.rms_speed;
    json["until"] = run.scene.run.until;
    json["steps"] = run.steps;
    json["frames"] = run.frames;
    json["rows"] = run.rows;
    json["memory_bytes"] = run.memory_bytes;
    json["host_memory_bytes"] = run.host_memory_bytes;
    json["output_bytes"] = run.output_bytes;
    json["warnings"] = run.warnings;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string as_text(const PreparedScene& run) {
    const SpringDesign& design = run.design;
    std::string text = run.scene.path + (run.scene.title.empty() ? "" : ": " + run.scene.title) + "\n";
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<18}{}\n", name, value);
    };
    line("balls", fmt::format("{} in {}D", count_text(run.state.balls.size()), run.scene.dimension()));
    line("packing fraction", fmt::format("{:.4g}", design.packing_fraction));
    if (design.size_ratio > 1.0) line("largest radius", fmt::format("{:.4g} times the smallest", design.size_ratio));
    line("stiffness", design.wall_stiffness == design.stiffness
                          ? fmt::format("{:.6g} N/m", design.stiffness)
                          : fmt::format("{:.6g} N/m, at walls {:.6g} N/m", design.stiffness, design.wall_stiffness));
    if (design.damping > 0.0) line("damping", fmt::format("{:.6g} kg/s", design.damping));
    if (design.damping_ratio > 0.0 || design.wall_damping_ratio > 0.0) {
        line("damping ratio", fmt::format("{:.4g}, at walls {:.4g}", design.damping_ratio, design.wall_damping_ratio));
    }
    line("design speed", fmt::format("{:.4g} m/s", design.design_speed));
    if (design.contact_duration > 0.0) {
        line("contact duration",
             fmt::format("{:.4g} s, {:.3g} steps", design.contact_duration, design.contact_duration / design.dt));
    }
    line("time step", fmt::format("{:.6g} s", design.dt));
    line("steps", fmt::format("{} to t = {:.6g} s", count_text(run.steps), run.scene.run.until));
    line("processor", run.processor);
    line("memory", run.processor == "cpu"
                       ? bytes_text(run.memory_bytes)
                       : fmt::format("{} of the GPU's, {} of the machine's", bytes_text(run.memory_bytes),
                                     bytes_text(run.host_memory_bytes)));
    line("output", fmt::format("{} and {}, about {}", plural(run.frames, "frame"), plural(run.rows, "row"),
                               bytes_text(run.output_bytes)));
    for (const std::string& warning : run.warnings) text += "warning: " + warning + "\n";
    return text;
}

int check(const CheckOptions& options) {
    if (options.scene.scene.empty()) throw InputError("no scene given; see carom check --help");
    const PreparedScene run = prepare_scene(options.scene.request());
    if (options.json) {
        fmt::print("{}\n", as_json(run));
    } else if (!options.quiet) {
        fmt::print("{}", as_text(run));
    }
    return 0;
}

}  // namespace

Action add_check_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<CheckOptions>();
    add_scene_options(app, options->scene);
    app.add_flag("--json", options->json, "As one JSON object");
    app.add_flag("--quiet", options->quiet, "Only the exit status says whether the scene is right");
    return [options] { return check(*options); };
}

}  // namespace carom
