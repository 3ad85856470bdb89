#include "host/sweep/run_sweep.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "carom_build_info.hpp"
#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/run/run_in_memory.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/run/text.hpp"
#include "host/state/text_file.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/pool.hpp"
#include "host/sweep/sweep_progress.hpp"
#include "host/sweep/table.hpp"

namespace carom {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(50);  // between two looks at signals

/// Ended runs on their way from the threads to the journal.
class Inbox {
public:
    void put(std::uint64_t run, RunResult result) {
        const std::lock_guard lock(mutex_);
        results_.emplace_back(run, std::move(result));
        arrived_.notify_one();
    }
    /// What has come since, after waiting a little if that is nothing.
    std::vector<std::pair<std::uint64_t, RunResult>> take() {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, kLook, [this] { return !results_.empty(); });
        return std::exchange(results_, {});
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::pair<std::uint64_t, RunResult>> results_;
};

class SweepRun {
public:
    SweepRun(const Sweep& sweep, const SweepOptions& options, const SweepOutput& output,
             const std::vector<std::string>& columns, Journal& journal)
        : sweep_(sweep), options_(options), output_(output), columns_(columns), journal_(journal) {
        for (std::uint64_t run = 0; run < sweep.runs(); ++run) {
            if (!journal.results().contains(run)) left_.push_back(run);
        }
        outcome_.checked = true;
        outcome_.rows = sweep.rows();
        outcome_.runs = sweep.runs();
        outcome_.runs_before = outcome_.runs - left_.size();
        outcome_.threads = sweep_threads(options, left_.size());
    }

    SweepOutcome run(const SignalGuard& signals) {
        const auto begin = Clock::now();
        if (!output_.quiet) say_to(stderr, start_summary());
        SweepProgress progress(progress_style(output_.quiet, stderr), stderr, outcome_.runs, outcome_.runs_before);
        try {
            do_runs(signals, progress);
            if (outcome_.signal == 0) write_table();
        } catch (const InputError& error) {
            fail(ExitStatus::kBadInput, error.what());
        } catch (const SystemError& error) {
            fail(ExitStatus::kSystemFailure, error.what());
        } catch (const std::bad_alloc&) {
            fail(ExitStatus::kSystemFailure, "out of memory; fewer --threads need less");
        }
        progress.clear();
        outcome_.runs_done = journal_.results().size();
        list_failures();
        outcome_.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        return outcome_;
    }

private:
    std::string start_summary() const {
        std::string grid;
        for (const Axis& axis : sweep_.axes) grid += fmt::format("{}{}", grid.empty() ? "" : " x ", axis.values.size());
        std::string text = fmt::format("{}: scene {}, {} values", sweep_.path, sweep_.scene, grid);
        if (sweep_.shards > 1) text += fmt::format(", part {} of {}", sweep_.shard + 1, sweep_.shards);
        text += fmt::format(": {} for {}", plural(outcome_.runs, "run"), plural(outcome_.rows, "row"));
        if (outcome_.runs_before > 0) text += fmt::format(", {} done before", count_text(outcome_.runs_before));
        return text + fmt::format("; {} at once; table: {}\n", outcome_.threads, output_.table);
    }

    void do_runs(const SignalGuard& signals, SweepProgress& progress) {
        Inbox inbox;
        std::atomic<int> stop = 0;
        const auto job = [&](std::uint64_t k) {
            const MemoryRun done =
                run_in_memory(prepare_run(sweep_, options_, left_[k]), [&stop] { return stop.load(); });
            if (done.outcome.status == ExitStatus::kSystemFailure) throw SystemError(done.outcome.error);
            RunResult result;
            result.error = done.outcome.error;
            if (!done.values.empty()) {
                for (const std::string& column : columns_) {
                    result.values.push_back(done.values[find_value(done.infos, column).value()]);
                }
            }
            if (done.outcome.signal == 0) inbox.put(left_[k], std::move(result));
        };
        Pool pool(outcome_.threads, left_.size(), job);
        try {
            for (bool last = false; !last;) {
                last = pool.done();  // before the inbox is looked at for the last time
                for (auto& [run, result] : inbox.take()) journal_.add(run, std::move(result));
                progress.update(journal_.results().size());
                if (stop != 0) continue;
                outcome_.signal = signals.caught();
                if (outcome_.signal == 0) continue;
                stop = outcome_.signal;
                pool.stop();
            }
        } catch (...) {
            stop = -1;
            throw;
        }
        pool.wait();
        // Everything may have been done when the signal came.
        if (journal_.results().size() == outcome_.runs) outcome_.signal = 0;
    }

    void write_table() {
        ReplacementFile file(output_.table);
        file.write(table_text(sweep_, columns_, journal_.results()));
        file.commit();
        journal_.remove();
    }

    void list_failures() {
        for (const auto& [run, result] : journal_.results()) {
            if (!result.values.empty()) continue;
            const std::uint64_t row = sweep_.row_number(run / sweep_.runs_per_row()) + 1;
            outcome_.failed.push_back({row, sweep_.label_of(run), result.error});
        }
        if (outcome_.status == ExitStatus::kDone && outcome_.signal == 0 && !outcome_.failed.empty()) {
            outcome_.status = ExitStatus::kCannotContinue;
        }
    }

    void fail(ExitStatus status, const std::string& error) {
        outcome_.status = status;
        outcome_.error = error;
        outcome_.signal = 0;
    }

    const Sweep& sweep_;
    const SweepOptions& options_;
    const SweepOutput& output_;
    const std::vector<std::string>& columns_;
    Journal& journal_;
    std::vector<std::uint64_t> left_;  // runs to do, in order
    SweepOutcome outcome_;
};

}  // namespace

std::string default_table(const std::string& sweep) {
    std::filesystem::path name = std::filesystem::path(sweep).filename();
    for (const char* ending : {".toml", ".sweep"}) {
        if (name.extension() == ending) name = name.stem();
    }
    return name.string() + ".csv";
}

void check_table(const Sweep& sweep, const SweepOutput& output) {
    check_output_file(output.table, sweep.path, output.force);
    check_output_file(output.table, sweep.scene, output.force);
}

std::string sweep_key(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns) {
    std::string all = fmt::format("{}\n{}\n", build_info::kVersion, read_text_file(sweep.scene));
    all += fmt::format("{} {} {}\n", sweep.shard, sweep.shards, options.steps.value_or(0));
    const auto add = [&all](const std::string& text) { all += fmt::format("{}:{},", text.size(), text); };
    for (const std::string& text : sweep.overrides) add(text);
    for (const std::string& name : columns) add(name);
    for (const Axis& axis : sweep.axes) {
        add(axis.name);
        for (const std::string& key : axis.keys) add(key);
        for (const AxisValue& value : axis.values) add(value.toml);
    }
    add(fmt::format("{}", sweep.averaged ? static_cast<long>(*sweep.averaged) : -1L));
    for (const Setting& setting : sweep.settings) {
        for (const std::string& key : setting.keys) add(key);
        add(setting.toml);
        add(setting.formula_text);
    }
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

SweepOutcome run_sweep(const Sweep& sweep, const SweepOptions& options, const SweepOutput& output) {
    check_table(sweep, output);
    const SignalGuard signals;
    const ProgressStyle style = progress_style(output.quiet, stderr);
    SweepProgress progress(style, stderr, sweep.runs(), 0, "checked");
    const auto columns = check_sweep(
        sweep, options, [&signals] { return signals.caught(); }, progress);
    if (columns.empty()) return {.signal = signals.caught(), .rows = sweep.rows(), .runs = sweep.runs()};
    Journal journal(journal_path(output.table), sweep_key(sweep, options, columns), columns.size(), output.force);
    return SweepRun(sweep, options, output, columns, journal).run(signals);
}

std::string sweep_json(const SweepOutcome& outcome, const Sweep& sweep, const SweepOutput& output) {
    nlohmann::ordered_json json;
    json["sweep"] = sweep.path;
    json["scene"] = sweep.scene;
    json["rows"] = outcome.rows;
    json["runs"] = outcome.runs;
    json["runs_done"] = outcome.runs_done;
    json["runs_before"] = outcome.runs_before;
    json["runs_failed"] = outcome.failed.size();
    json["failed"] = std::vector<nlohmann::ordered_json>();
    for (const FailedRun& run : outcome.failed) {
        json["failed"].push_back({{"row", run.row}, {"at", run.label}, {"error", run.error}});
    }
    json["threads"] = outcome.threads;
    json["wall_seconds"] = outcome.wall_seconds;
    const bool whole =
        outcome.signal == 0 && (outcome.status == ExitStatus::kDone || outcome.status == ExitStatus::kCannotContinue);
    json["output"] = whole ? nlohmann::ordered_json(output.table) : nlohmann::ordered_json(nullptr);
    json["exit_status"] = outcome.signal != 0 ? 128 + outcome.signal : static_cast<int>(outcome.status);
    if (!outcome.error.empty()) json["error"] = outcome.error;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace carom
