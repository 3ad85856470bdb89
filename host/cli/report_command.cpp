#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "host/cli/command.hpp"
#include "host/io/replacement.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/report/report.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct ReportOptions {
    std::string file;
    std::string output;
    bool quiet = false;
    bool force = false;
};

int report(const ReportOptions& options) {
    const std::string output =
        options.output.empty() ? std::filesystem::path(options.file).stem().string() + ".html" : options.output;
    if (!output.ends_with(".html")) throw InputError(output + ": a report ends in .html");
    const TrajectoryReader trajectory(options.file);
    check_output_file(output, options.file, options.force);
    const std::string page = report_page(trajectory);
    ReplacementFile file(output);
    file.write(page);
    file.commit();
    if (!options.quiet) say("{}\n", output);
    return 0;
}

}  // namespace

Action add_report_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<ReportOptions>();
    app.add_option("FILE", options->file, "Trajectory")->required()->type_name("");
    app.add_option("-o,--output", options->output, "The page; FILE.html in the current folder by default")
        ->type_name("REPORT.html");
    app.add_flag("--quiet", options->quiet, "Say nothing");
    app.add_flag("--force", options->force, "Overwrite the page if it exists");
    return [options] { return report(*options); };
}

}  // namespace carom
