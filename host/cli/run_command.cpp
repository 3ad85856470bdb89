#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "host/cli/options.hpp"
#include "host/io/replacement.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/say.hpp"
#include "host/run/simulate.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/run_copies.hpp"

namespace carom {

namespace {

constexpr std::uint64_t kMostCopies = 1'000'000;

std::string plural_copies(std::uint64_t count) { return count_text(count) + (count == 1 ? " copy" : " copies"); }

struct RunOptions {
    SceneOptions scene;
    std::string output;
    std::string checkpoint;
    std::string checkpoint_every;
    std::string resume;
    std::string events_log;
    std::string ranks_per_axis;
    std::string copies;
    bool json = false;
    bool quiet = false;
    bool force = false;
};

/// The command that goes on where the run ended, if it ended early and left a checkpoint.
std::string how_to_go_on(const std::string& program, const RunOutcome& outcome, const OutputFiles& files) {
    if (!outcome.checkpoint_time) return "no checkpoint could be written";
    if (outcome.over && *outcome.checkpoint_time == outcome.time) {
        return fmt::format("the run is over, its checkpoint is {}", visible(files.checkpoint));
    }
    return fmt::format("to go on from t = {:.6g}: {} run --resume {}", *outcome.checkpoint_time, shell_quoted(program),
                       shell_quoted(files.checkpoint));
}

/// No checkpoint is made of a state from which no run goes on.
std::string checkpoint_of_a_fault(const RunOutcome& outcome, const OutputFiles& files) {
    if (!outcome.checkpoint_time) return "no checkpoint, since no run goes on from there";
    if (*outcome.checkpoint_time == outcome.time) return "checkpoint in " + visible(files.checkpoint);
    return fmt::format("checkpoint of t = {:.6g} in {}, since no run goes on from there", *outcome.checkpoint_time,
                       visible(files.checkpoint));
}

int report(const Simulation& simulation, const std::string& program, const OutputFiles& files) {
    const RunOutcome& outcome = simulation.outcome;
    const std::string go_on = how_to_go_on(program, outcome, files);
    switch (outcome.status) {
        case ExitStatus::kCannotContinue:
            say("carom: {}; {} in {}, {}\n", visible(outcome.error), plural(outcome.frames, "frame"),
                visible(files.trajectory), checkpoint_of_a_fault(outcome, files));
            break;
        case ExitStatus::kSystemFailure:
            say("carom: {}; {}\n", visible(outcome.error), go_on);
            break;
        default:
            if (outcome.signal != 0) {
                say("carom: interrupted at t = {:.6g}; {}\n", outcome.time, go_on);
                return 128 + outcome.signal;
            }
    }
    return static_cast<int>(outcome.status);
}

/// What is to be said at the end of copies beside the exit status.
int report_copies(const CopiesOutcome& outcome, const RunOptions& options, const std::string& program,
                  const OutputFiles& files) {
    const auto& copies = outcome.copies;
    const auto saved = static_cast<std::uint64_t>(std::ranges::count_if(copies, &CopyOutcome::saved));
    const std::string go_on =
        saved + static_cast<std::uint64_t>(std::ranges::count_if(copies, &CopyOutcome::was_over)) == copies.size()
            ? fmt::format("to go on: {} run --copies {} --resume {}", shell_quoted(program), copies.size(),
                          shell_quoted(files.checkpoint))
            : fmt::format("{} of {} left a checkpoint", saved, plural_copies(copies.size()));
    if (outcome.signal != 0) {
        say("carom: interrupted; {}\n", go_on);
        return 128 + outcome.signal;
    }
    if (!outcome.error.empty()) {
        say("carom: {}; {}\n", visible(outcome.error), go_on);
        return static_cast<int>(outcome.status);
    }
    for (const CopyOutcome& copy : copies) {
        if (copy.status != ExitStatus::kCannotContinue) continue;
        say("carom: seed {}: {}; {} in {}\n", copy.seed, visible(copy.error), copy.saved ? "checkpoint" : "trajectory",
            visible(copy.saved ? copy.files.checkpoint : copy.files.trajectory));
    }
    if (!options.quiet) {
        if (outcome.are_one()) say("warning: nothing in this scene is by chance: all copies ended in the same state\n");
        say("{} in {:.3g} s; trajectories: {} to {}\n", plural_copies(copies.size()), outcome.wall_seconds,
            visible(copies.front().files.trajectory), visible(copies.back().files.trajectory));
    }
    return static_cast<int>(outcome.status);
}

int run_all_copies(const RunOptions& options, const SceneRequest& request, const SimulateOptions& simulate_options,
                   const std::string& program) {
    if (ranks_of_run() != nullptr) {
        throw InputError("--copies: each is a run of one process; allowed: without mpirun and srun");
    }
    CopiesOptions copies{.request = request,
                         .resume = options.resume,
                         .run = simulate_options,
                         .copies = parse_whole("--copies", options.copies, 1),
                         .quiet = options.quiet};
    if (copies.copies > kMostCopies) {
        throw InputError(fmt::format("--copies: {} are too many; allowed: up to {}", copies.copies, kMostCopies));
    }
    const CopiesOutcome outcome = run_copies(copies);
    if (options.json) fmt::print("{}\n", copies_json(outcome));
    return report_copies(outcome, options, program, simulate_options.files);
}

int run(const RunOptions& options, const std::string& program) {
    const bool resume = !options.resume.empty();
    if (resume && !options.scene.scene.empty()) {
        throw InputError("--resume takes the scene from the checkpoint; leave out '" + options.scene.scene + "'");
    }
    if (!resume && options.scene.scene.empty()) throw InputError("no scene given; see carom run --help");
    SceneRequest request = options.scene.request();
    request.force = options.force;
    if (Ranks* const ranks = ranks_of_run()) {
        request.in_parts = true;
        if (request.threads == 0) request.threads = threads_of_rank(launch());
        if (!options.ranks_per_axis.empty()) ranks->cut_into(parse_layers(options.ranks_per_axis, ranks->count()));
    } else if (!options.ranks_per_axis.empty()) {
        throw InputError("--ranks-per-axis: this is a run of one process; allowed under mpirun or srun");
    }
    SimulateOptions simulate_options;
    OutputFiles& files = simulate_options.files;
    files.trajectory = !options.output.empty() ? options.output
                       : resume                ? default_resumed_trajectory(options.resume)
                                               : default_trajectory(request.scene);
    files.checkpoint = options.checkpoint.empty() ? default_checkpoint(files.trajectory) : options.checkpoint;
    simulate_options.force = options.force;
    simulate_options.quiet = options.quiet;
    if (!options.checkpoint_every.empty()) {
        simulate_options.checkpoint_every = parse_time("--checkpoint-every", options.checkpoint_every);
    }
    simulate_options.events_log = options.events_log;
    if (!options.copies.empty()) return run_all_copies(options, request, simulate_options, program);
    const std::string input = resume ? options.resume : find_scene(request.scene);
    check_output_files(files, input, resume, options.force);
    if (!options.events_log.empty()) {
        check_log_file(options.events_log, input, options.force);
        for (const std::string& other : {files.trajectory, files.checkpoint}) {
            if (same_file(options.events_log, other)) {
                throw InputError(options.events_log + ": is to be both the events log and another output");
            }
        }
    }

    PreparedScene prepared = resume ? prepare_resume(options.resume, request) : prepare_scene(request);
    require_no_input({{files.trajectory, files.checkpoint, options.events_log}}, loaded_files(prepared.scene));
    const Simulation simulation = simulate(std::move(prepared), simulate_options);
    if (options.json) fmt::print("{}\n", simulation.json);
    return report(simulation, program, files);
}

}  // namespace

Action add_run_command(CommandOptions& command, const std::string& program) {
    const auto options = std::make_shared<RunOptions>();
    add_scene_options(command, options->scene);
    command.option("-o,--output", options->output, "FILE", "Trajectory; SCENE.h5 in this folder by default");
    command.option("--checkpoint", options->checkpoint, "FILE", "Checkpoint; OUTPUT.checkpoint.h5 by default");
    command.option("--checkpoint-every", options->checkpoint_every, "T",
                   "Simulated time between checkpoints; always one at the end, and when interrupted");
    command.option("--resume", options->resume, "FILE", "Go on from a checkpoint, into a new trajectory");
    command.option("--events-log", options->events_log, "FILE", "CSV of every collision (events solver)");
    command.option("--ranks-per-axis", options->ranks_per_axis, "X,Y[,Z]",
                   "Under mpirun or srun: into how many layers of ranks each axis is cut; as is best by default");
    command.option("--copies", options->copies, "N",
                   "Run so many copies side by side, each with the seed behind that of the one before; files are "
                   "numbered, as in SCENE.001.h5");
    command.flag("--json", options->json, "End with a summary as one JSON object on standard output");
    command.flag("--quiet", options->quiet, "No summaries and no progress");
    command.flag("--force", options->force, "Overwrite files that exist, and insist on an unstable time step");
    return options->scene.naming_options([options, program] { return run(*options, program); });
}

}  // namespace carom
