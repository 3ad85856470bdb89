#include "host/sweep/run_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "host/io/ball_files.hpp"
#include "host/io/checkpoint.hpp"
#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/run/progress.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/jobs.hpp"
#include "host/sweep/run_sweep.hpp"
#include "kernels/engine_pack.hpp"

namespace carom {

namespace {

/// All copies, and what they have in common.
class Copies {
public:
    explicit Copies(const CopiesOptions& options) : options_(options), request_(options.request) {
        outcome_.copies.resize(options.copies);
        for (std::uint64_t k = 0; k < options.copies; ++k) {
            const OutputFiles& files = options.run.files;
            outcome_.copies[k].files = {name_of(files.trajectory, k), name_of(files.checkpoint, k)};
        }
        request_.threads = 1;
        request_.inputs = &inputs_;
        if (options.resume.empty() && !request_.text) request_.text = read_scene_text(request_.scene);
    }

    CopiesOutcome run() {
        check_files();
        const SignalGuard signals;
        const auto begin = std::chrono::steady_clock::now();
        {
            const PreparedScene first = prepare_first();
            require_no_input(outputs_, loaded_files(first.scene));
            outcome_.at_once = at_once(first);
            if (!options_.quiet) say("{}", start_text(first));
        }
        std::vector<std::uint64_t> left;
        for (std::uint64_t k = 0; k < options_.copies; ++k) {
            if (!outcome_.copies[k].was_over) left.push_back(k);
        }
        SweepProgress progress(progress_style(options_.quiet, stderr), stderr, options_.copies,
                               options_.copies - left.size());
        const auto failure = failure_of([&] {
            do_jobs({.numbers = left,
                     .threads = outcome_.at_once,
                     .job = [this](std::uint64_t k, const std::function<int()>& stopped) -> std::optional<RunResult> {
                         run_copy(k, stopped);
                         return RunResult{};
                     }},
                    [&](const JobsSoFar& so_far) {
                        done_ += so_far.ended.size();
                        progress.update(options_.copies - left.size() + done_);
                        return outcome_.signal = signals.caught();
                    });
            // Those that it did not come to are to be gone on with like the others.
            for (const std::uint64_t k : left) {
                if (outcome_.signal != 0 && !outcome_.copies[k].begun) run_copy(k, [this] { return outcome_.signal; });
            }
        });
        progress.clear();
        if (failure) std::tie(outcome_.status, outcome_.error) = *failure;
        sum_up();
        outcome_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return std::move(outcome_);
    }

private:
    [[nodiscard]] std::string name_of(const std::string& path, std::uint64_t k) const {
        return numbered_file(path, k + 1, options_.copies);
    }

    void check_files() {
        std::map<std::string, std::string> written;  // by where it lies, the name
        for (std::uint64_t k = 0; k < options_.copies; ++k) {
            const bool resume = !options_.resume.empty();
            const std::string input = resume ? name_of(options_.resume, k) : request_.text->path;
            const OutputFiles& files = outcome_.copies[k].files;
            check_output_files(files, input, resume, options_.run.force);
            std::vector<std::string> names{files.trajectory, files.checkpoint};
            if (!options_.run.events_log.empty()) {
                names.push_back(name_of(options_.run.events_log, k));
                check_log_file(names.back(), input, options_.run.force);
            }
            for (const std::string& name : names) {
                std::error_code ignored;
                if (std::filesystem::is_other(name, ignored)) continue;  // a pipe, or /dev/null
                outputs_.push_back(name);
                const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(target_of(name)));
                const auto [other, first] = written.emplace(place.string(), name);
                if (!first) throw InputError(fmt::format("{}: is the same file as {}", name, other->second));
            }
        }
    }

    /// The first that is not over, and the seeds of all.
    PreparedScene prepare_first() {
        std::optional<PreparedScene> first;
        std::string over;
        for (std::uint64_t k = 0; k < options_.copies && (!first || !options_.resume.empty()); ++k) {
            try {
                PreparedScene run = prepare(k);
                outcome_.copies[k].seed = run.scene.seed;
                if (!first) first = std::move(run);
            } catch (const RunIsOver& error) {
                outcome_.copies[k].was_over = true;
                const Checkpoint checkpoint = load_checkpoint(name_of(options_.resume, k));
                outcome_.copies[k].seed = parse_scene(checkpoint.scene_source, checkpoint.scene_path).seed;
                if (over.empty()) over = error.what();
            }
        }
        if (!first) throw InputError(over);
        if (options_.resume.empty()) {
            const std::uint64_t seed = first->scene.seed;
            constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            if (seed > kLargest - (options_.copies - 1)) {
                throw InputError(fmt::format("--copies: {} seeds from {} on are more than there are; allowed: up to {}",
                                             options_.copies, seed, kLargest));
            }
            for (std::uint64_t k = 0; k < options_.copies; ++k) outcome_.copies[k].seed = seed + k;
        }
        return std::move(*first);
    }

    [[nodiscard]] PreparedScene prepare(std::uint64_t k) const {
        if (!options_.resume.empty()) return prepare_resume(name_of(options_.resume, k), request_);
        if (k == 0) return prepare_scene(request_);
        SceneRequest request = request_;
        request.overrides.push_back(fmt::format("scene.seed={}", outcome_.copies[k].seed));
        return prepare_scene(request);
    }

    [[nodiscard]] int at_once(const PreparedScene& first) const {
        const int wanted = options_.request.threads > 0 ? options_.request.threads : runs_at_once(first);
        return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), options_.copies));
    }

    [[nodiscard]] std::string start_text(const PreparedScene& first) const {
        const auto& copies = outcome_.copies;
        std::string text;
        for (const std::string& warning : first.warnings) text += "warning: " + warning + "\n";
        return text + fmt::format("copies: {} of {}, seeds {} to {}; {} at once; trajectories: {} to {}\n",
                                  count_text(options_.copies), visible(first.scene.path), copies.front().seed,
                                  copies.back().seed, outcome_.at_once, visible(copies.front().files.trajectory),
                                  visible(copies.back().files.trajectory));
    }

    /// \param stopped  gives a signal's number once it is to end
    void run_copy(std::uint64_t k, const std::function<int()>& stopped) {
        CopyOutcome& copy = outcome_.copies[k];
        PreparedScene prepared = prepare(k);
        share_launches(prepared, pack_);
        SimulateOptions options = options_.run;
        options.files = copy.files;
        options.quiet = true;
        if (!options.events_log.empty()) options.events_log = name_of(options.events_log, k);
        SimulationRun run(std::move(prepared), options);
        copy.begun = true;
        RunLoop& loop = run.begin();
        int signal = stopped();
        while (signal == 0 && !loop.advance(loop.end())) signal = stopped();
        const Simulation done = run.finish(signal);
        copy.status = done.outcome.status;
        copy.signal = done.outcome.signal;
        copy.error = done.outcome.error;
        copy.saved = done.outcome.checkpoint_time.has_value();
        copy.hash = done.outcome.hash;
        copy.json = done.json;
        if (copy.status == ExitStatus::kSystemFailure) throw SystemError(copy.error);
    }

    void sum_up() {
        const auto stopped = [](const CopyOutcome& copy) { return copy.signal != 0; };
        if (outcome_.status != ExitStatus::kDone) {
            outcome_.signal = 0;
        } else {
            // Everything may have been done when the signal came.
            if (std::ranges::none_of(outcome_.copies, stopped)) outcome_.signal = 0;
            for (const CopyOutcome& copy : outcome_.copies) outcome_.status = std::max(outcome_.status, copy.status);
        }
    }

    const CopiesOptions& options_;
    SceneRequest request_;
    SharedInputs inputs_;
    std::vector<std::string> outputs_;
    std::shared_ptr<EnginePack> pack_ = std::make_shared<EnginePack>();
    std::uint64_t done_ = 0;
    CopiesOutcome outcome_;
};

}  // namespace

bool CopiesOutcome::are_one() const {
    return copies.size() > 1 && status == ExitStatus::kDone && signal == 0 &&
           std::ranges::all_of(copies,
                               [&](const CopyOutcome& copy) { return copy.hash && copy.hash == copies[0].hash; });
}

CopiesOutcome run_copies(const CopiesOptions& options) { return Copies(options).run(); }

std::string copies_json(const CopiesOutcome& outcome) {
    nlohmann::ordered_json json;
    json["copies"] = std::vector<nlohmann::ordered_json>();
    for (const CopyOutcome& copy : outcome.copies) {
        nlohmann::ordered_json told{{"seed", copy.seed}, {"was_over", copy.was_over}};
        if (!copy.json.empty()) told.update(nlohmann::ordered_json::parse(copy.json));
        json["copies"].push_back(std::move(told));
    }
    json["at_once"] = outcome.at_once;
    json["wall_seconds"] = outcome.wall_seconds;
    json["exit_status"] = outcome.signal != 0 ? 128 + outcome.signal : static_cast<int>(outcome.status);
    if (!outcome.error.empty()) json["error"] = outcome.error;
    return json_text(json);
}

}  // namespace carom
