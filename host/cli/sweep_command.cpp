#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "host/cli/options.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/run_sweep.hpp"
#include "host/sweep/sweep.hpp"

namespace carom {

namespace {

constexpr std::size_t kNamedFailures = 10;  // in the summary; --json names all

struct SweepCommandOptions {
    SceneOptions scene;  ///< its `scene` is the sweep file
    std::string output;
    std::string shard;
    bool json = false;
    bool quiet = false;
    bool force = false;
};

/// "i/n", from 1 on.
void parse_shard(const std::string& text, Sweep& sweep) {
    const auto slash = text.find('/');
    if (slash == std::string::npos) throw InputError("--shard: '" + text + "' is not I/N, as in 2/8");
    sweep.shards = parse_whole("--shard", text.substr(slash + 1), 1);
    const std::uint64_t shard = parse_whole("--shard", text.substr(0, slash), 1);
    if (shard > sweep.shards) {
        throw InputError(fmt::format("--shard: {0} is not one of {1}; allowed: 1/{1} to {1}/{1}", shard, sweep.shards));
    }
    sweep.shard = shard - 1;
}

/// The command as it was given, for the message after an interruption.
std::string how_to_go_on(const SweepCommandOptions& options, const std::string& program) {
    const bool like_option = options.scene.scene.starts_with('-');
    std::vector<std::string> words{program, "sweep"};
    if (!like_option) words.push_back(options.scene.scene);
    const auto add = [&words](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--solver", options.scene.solver);
    add("--backend", options.scene.backend);
    add("--precision", options.scene.precision);
    add("--until", options.scene.until);
    add("--steps", options.scene.steps);
    add("--seed", options.scene.seed);
    for (const std::string& assignment : options.scene.set) add("--set", assignment);
    add("--threads", options.scene.threads);
    add("--device", options.scene.device);
    add("--shard", options.shard);
    add("-o", options.output);
    if (options.force) words.emplace_back("--force");
    if (like_option) words.insert(words.end(), {"--", options.scene.scene});
    std::string command;
    for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_quoted(word);
    return command;
}

/// What is to be said at the end beside the exit status.
int report(const SweepOutcome& outcome, const SweepCommandOptions& options, const SweepOutput& output,
           const std::string& program) {
    const bool one = outcome.runs_done == 1;
    const std::string journal = visible(journal_path(output.table));
    const std::string kept =
        fmt::format("{} of {} {}: {}", count_text(outcome.runs_done), plural(outcome.runs, "run"),
                    outcome.kept ? fmt::format("{} kept in {}; to go on", one ? "is" : "are", journal)
                                 : fmt::format("{} done, but {} has been removed or replaced; unless it is put back, "
                                               "this begins anew",
                                               one ? "was" : "were", journal),
                    how_to_go_on(options, program));
    if (outcome.signal != 0 && !outcome.checked) {
        say("carom: interrupted before the first run; to go on: {}\n", how_to_go_on(options, program));
        return 128 + outcome.signal;
    }
    if (outcome.signal != 0) {
        say("carom: interrupted; {}\n", kept);
        return 128 + outcome.signal;
    }
    if (!outcome.error.empty()) {
        say("carom: {}; {}\n", visible(outcome.error), kept);
        return static_cast<int>(outcome.status);
    }
    if (!options.quiet) {
        const double runs = static_cast<double>(outcome.runs_done - outcome.runs_before);
        say("{} in {}: {} in {:.3g} s, {:.3g} runs/s\n", plural(outcome.rows, "row"), visible(output.table),
            plural(outcome.runs_done - outcome.runs_before, "run"), outcome.wall_seconds, runs / outcome.wall_seconds);
    }
    if (!outcome.failed.empty()) {
        say("carom: {} of {} could not go on; the cells are empty in {}:\n", count_text(outcome.failed.size()),
            plural(outcome.runs, "run"), visible(output.table));
        for (std::size_t k = 0; k < outcome.failed.size(); ++k) {
            if (k == kNamedFailures) {
                say("  and {} more, which --json names\n", count_text(outcome.failed.size() - k));
                break;
            }
            const FailedRun& run = outcome.failed[k];
            say("  row {} ({}): {}\n", run.row, visible(run.label), visible(run.error));
        }
    }
    return static_cast<int>(outcome.status);
}

int sweep(const SweepCommandOptions& options, const std::string& program) {
    const SceneRequest request = options.scene.request();
    Sweep sweep = load_sweep(request.scene, request.overrides);
    if (!options.shard.empty()) parse_shard(options.shard, sweep);
    const SweepOutput output{.table = options.output.empty() ? default_table(sweep.path) : options.output,
                             .force = options.force,
                             .quiet = options.quiet};
    const SweepOptions sweep_options{.steps = request.steps, .threads = request.threads, .ranks = ranks_of_sweep()};
    const SweepOutcome outcome = run_sweep(sweep, sweep_options, output);
    if (options.json) fmt::print("{}\n", sweep_json(outcome, sweep, output));
    return report(outcome, options, output, program);
}

}  // namespace

Action add_sweep_command(CommandOptions& command, const std::string& program) {
    const auto options = std::make_shared<SweepCommandOptions>();
    add_scene_options(command, options->scene);
    command.leave_out("SCENE");
    command.required_argument("SWEEP", options->scene.scene, "Sweep file, or the name of an installed sweep");
    command.describe(
        "--threads",
        "Runs at once, each on one thread; by default as many as there are cores, or as a GPU has room for");
    command.describe("--seed", "Seed of all randomness, the same in all runs");
    command.option("-o,--output", options->output, "FILE", "Table; SWEEP.csv in this folder by default");
    command.option("--shard", options->shard, "I/N",
                   "Only every N-th row, from the I-th on: a part for one machine of N");
    command.flag("--json", options->json, "End with a summary as one JSON object on standard output");
    command.flag("--quiet", options->quiet, "No summaries and no progress");
    command.flag("--force", options->force, "Overwrite the table, or another sweep's unfinished one");
    return options->scene.naming_options([options, program] { return sweep(*options, program); });
}

}  // namespace carom
