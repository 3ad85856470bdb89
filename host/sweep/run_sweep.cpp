#include "host/sweep/run_sweep.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "carom_build_info.hpp"
#include "host/io/replacement.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/output_files.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/state/hash.hpp"
#include "host/state/text.hpp"
#include "host/sweep/jobs.hpp"
#include "host/sweep/journal.hpp"
#include "kernels/engine_pack.hpp"

namespace carom {

namespace {

/// The same message in terms of the sweep file. "--set KEY=VALUE: ..." is what the scene's reader says of an override;
/// a key that does not exist is blamed on the key, anything else on the value.
std::string blamed(const Sweep& sweep, const std::vector<Assignment>& assignments, std::uint64_t run,
                   const std::string& message) {
    for (const Assignment& assignment : assignments) {
        const std::string prefix = "--set " + assignment.text + ": ";
        if (!message.starts_with(prefix)) continue;
        if (assignment.key_place == nullptr) return message;  // of the command line itself
        const std::string rest = message.substr(prefix.size());
        const bool of_value = rest.find(": must") != std::string::npos;
        return fmt::format("{}: {}", of_value ? *assignment.value_place : *assignment.key_place, rest);
    }
    return fmt::format("{} (in {}, row {}: {})", message, sweep.path, sweep.row_number(run / sweep.runs_per_row()) + 1,
                       sweep.label_of(run));
}

/// "stress.xx" and so on, for "stress": the components of an average, which are numbers of their own.
std::vector<std::string> components_of(const std::vector<ObservableInfo>& infos, const std::string& name) {
    std::vector<std::string> found;
    for (const ObservableInfo& info : infos) {
        if (info.name.starts_with(name + ".") && !info.name.ends_with("_se")) found.push_back(info.name);
    }
    return found;
}

/// The columns of `record`, by what one run can give.
std::vector<std::string> columns_of(const Sweep& sweep, const std::vector<ObservableInfo>& infos) {
    std::vector<std::string> columns;
    for (const RecordName& record : sweep.record) {
        const auto info = std::ranges::find(infos, record.name, &ObservableInfo::name);
        if (info != infos.end() && !info->components.empty()) {
            for (const std::string& component : info->components) columns.push_back(info->name + "." + component);
        } else if (find_value(infos, record.name)) {
            columns.push_back(record.name);
            // Of an average the error comes with it, unless the mean over runs has one of its own.
            if (!sweep.averaged && find_value(infos, record.name + "_se")) columns.push_back(record.name + "_se");
        } else if (const auto parts = components_of(infos, record.name); !parts.empty()) {
            for (const std::string& part : parts) {
                columns.push_back(part);
                if (!sweep.averaged) columns.push_back(part + "_se");
            }
        } else {
            std::vector<std::string> names;
            for (const ObservableInfo& known : infos) {
                if (!known.name.ends_with("_se")) names.push_back(known.name);
            }
            const std::vector<std::string_view> views(names.begin(), names.end());
            const auto nearest = nearest_name(record.name, views);
            throw InputError(nearest.empty() ? fmt::format("{}: there is no observable \"{}\"; allowed: {}",
                                                           record.place, record.name, fmt::join(names, ", "))
                                             : fmt::format("{}: there is no observable \"{}\"; did you mean \"{}\"?",
                                                           record.place, record.name, nearest));
        }
    }
    return columns;
}

/// The same of the first run. \throws InputError  two columns of the table would have one name
std::vector<std::string> record_columns(const Sweep& sweep, const std::vector<ObservableInfo>& infos) {
    std::vector<std::string> columns = columns_of(sweep, infos);
    std::vector<std::string> names = sweep.axis_columns();
    const auto add = [&](const std::string& name) {
        if (std::ranges::find(names, name) != names.end()) {
            throw InputError(fmt::format("{}: two columns would be called {}", sweep.record.front().place, name));
        }
        names.push_back(name);
    };
    for (const std::string& name : columns) {
        if (std::ranges::count(infos, name, &ObservableInfo::name) > 1) {
            throw InputError(fmt::format(
                "{}: \"{}\" is an observable of the scene, and the error of another; give that observable another name",
                sweep.record.front().place, name));
        }
        add(name);
        if (sweep.averaged) add(name + "_se");
    }
    return columns;
}

}  // namespace

PreparedScene prepare_run(const Sweep& sweep, const SweepOptions& options, std::uint64_t run) {
    const std::vector<Assignment> assignments = sweep.assignments(run);
    SceneRequest request{.scene = sweep.scene,
                         .typed = false,
                         .steps = options.steps,
                         .threads = 1,
                         .text = SceneText{.path = sweep.scene, .text = sweep.scene_text},
                         .inputs = sweep.inputs.get()};
    for (const Assignment& assignment : assignments) request.overrides.push_back(assignment.text);
    try {
        return prepare_scene(request);
    } catch (const InputError& error) {
        throw InputError(blamed(sweep, assignments, run, error.what()));
    }
}

namespace {

/// Of one run, which could not start otherwise.
std::vector<ObservableInfo> infos_of(const Sweep& sweep, const SweepOptions& options, std::uint64_t run) {
    const PreparedScene prepared = prepare_run(sweep, options, run);
    try {
        return infos_in_memory(prepared);
    } catch (const InputError& error) {
        throw InputError(blamed(sweep, {}, run, error.what()));
    }
}

/// What is done with each run of a sweep, on any rank.
enum class SweepPart : std::uint8_t { kCheck, kRun };

Job job_of(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns, SweepPart part) {
    if (part == SweepPart::kCheck) {
        return [&](std::uint64_t run, const std::function<int()>&) -> std::optional<RunResult> {
            const auto infos = infos_of(sweep, options, run);
            const auto fail = [&](const std::string& what, const std::string& column) {
                throw InputError(fmt::format("{}: row {} ({}) has {}{}", sweep.record.front().place,
                                             sweep.row_number(run / sweep.runs_per_row()) + 1, sweep.label_of(run),
                                             what, column));
            };
            for (const std::string& column : columns) {
                if (!find_value(infos, column)) fail("no ", column);
            }
            for (const std::string& column : columns_of(sweep, infos)) {
                if (std::ranges::find(columns, column) == columns.end()) fail("more than row 1: ", column);
            }
            return std::nullopt;
        };
    }
    return [&, pack = std::make_shared<EnginePack>()](std::uint64_t run,
                                                      const std::function<int()>& stopped) -> std::optional<RunResult> {
        PreparedScene prepared = prepare_run(sweep, options, run);
        share_launches(prepared, pack);
        const MemoryRun done = run_in_memory(std::move(prepared), stopped);
        if (done.outcome.status == ExitStatus::kSystemFailure) throw SystemError(done.outcome.error);
        if (done.outcome.signal != 0) return std::nullopt;
        RunResult result;
        result.error = done.outcome.error;
        if (!done.values.empty()) {
            for (const std::string& column : columns) {
                result.values.push_back(done.values[find_value(done.infos, column).value()]);
            }
        }
        return result;
    };
}

/// sweep_key(), and what the files are that the runs load. Good for nothing once `interrupted`.
std::string key_of(
    const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns,
    const std::function<int()>& interrupted = [] { return 0; }) {
    std::string key = sweep_key(sweep, options, columns);
    std::vector<std::string> first;
    for (const Assignment& assignment : sweep.assignments(0)) first.push_back(assignment.text);
    if (parse_scene(sweep.scene_text, sweep.scene, first).loads.empty()) return key;
    // Runs that may load other files, or other parts of them: one for each combination of such axes. A formula may be
    // of any axis.
    const auto loads = [](const auto& one) {
        return std::ranges::any_of(one.keys, [](const std::string& key) { return key.starts_with("load"); });
    };
    const bool by_formula =
        std::ranges::any_of(sweep.settings, [&](const Setting& setting) { return setting.formula && loads(setting); });
    std::vector<std::size_t> loading;
    for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
        if (by_formula || loads(sweep.axes[k])) loading.push_back(k);
    }
    std::set<std::vector<std::size_t>> seen;
    std::uint64_t hash = 0;
    for (std::uint64_t run = 0; run < (loading.empty() ? 1 : sweep.runs()); ++run) {
        const std::vector<std::size_t> all = sweep.values_of(run);
        std::vector<std::size_t> at;
        for (const std::size_t k : loading) at.push_back(all[k]);
        if (!seen.insert(at).second) continue;
        if (interrupted() != 0) break;
        const PreparedScene prepared = prepare_run(sweep, options, run);
        prepared.state.for_each_part([&hash](const Balls& part) {
            const auto add = [&hash](const auto& values) {
                hash = absorb_bytes(hash, values.data(), values.size() * sizeof(values[0]));
            };
            for (const auto* of_axes : {&part.position, &part.velocity, &part.spin})
                std::ranges::for_each(*of_axes, add);
            add(part.species);
            for (const Species& species : part.species_table) {
                add(std::array{species.radius, species.mass, species.radius_of_gyration});
            }
        });
    }
    return hash == 0 ? key : fmt::format("{}-{:016x}", key, hash);
}

/// The order to other ranks: they read the same files, and look whether they have found the same in them. As
/// MessagePack, since paths may be of any bytes.
std::vector<std::byte> order_of(const Sweep& sweep, const SweepOptions& options,
                                const std::vector<std::string>& columns, SweepPart part) {
    nlohmann::json order;
    order["part"] = static_cast<int>(part);
    order["sweep"] = sweep.path;
    order["overrides"] = sweep.overrides;
    order["shard"] = {sweep.shard, sweep.shards};
    order["steps"] = options.steps ? nlohmann::json(*options.steps) : nlohmann::json();
    order["threads"] = options.threads;
    order["columns"] = columns;
    order["key"] = key_of(sweep, options, columns);
    std::vector<std::byte> bytes;
    for (const std::uint8_t byte : nlohmann::json::to_msgpack(order)) bytes.push_back(std::byte{byte});
    return bytes;
}

SharedJobs jobs_of(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns,
                   SweepPart part, std::vector<std::uint64_t> runs) {
    const int threads =
        static_cast<int>(std::clamp<std::uint64_t>(runs.size(), 1, static_cast<std::uint64_t>(sweep_threads(options))));
    return {.ranks = options.ranks,
            .order = options.ranks != nullptr ? order_of(sweep, options, columns, part) : std::vector<std::byte>{},
            .numbers = std::move(runs),
            .threads = threads,
            .job = job_of(sweep, options, columns, part),
            .columns = columns.size()};
}

}  // namespace

void help_with_sweep(Transport& transport, std::span<const std::byte> order) {
    std::optional<Sweep> sweep;
    SweepOptions options;
    std::vector<std::string> columns;
    Job job;
    std::exception_ptr hindrance;
    try {
        std::vector<std::uint8_t> bytes(order.size());
        std::ranges::transform(order, bytes.begin(),
                               [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
        const nlohmann::json said = nlohmann::json::from_msgpack(bytes);
        options.threads = said["threads"].get<int>();
        if (!said["steps"].is_null()) options.steps = said["steps"].get<std::uint64_t>();
        columns = said["columns"].get<std::vector<std::string>>();
        sweep = load_sweep(said["sweep"], said["overrides"]);
        sweep->shard = said["shard"][0];
        sweep->shards = said["shard"][1];
        if (key_of(*sweep, options, columns) != said["key"]) {
            throw InputError(fmt::format("{}: rank {} finds another sweep or scene there than rank 0 does", sweep->path,
                                         transport.rank()));
        }
        job = job_of(*sweep, options, columns, static_cast<SweepPart>(said["part"].get<int>()));
    } catch (const std::exception&) {
        hindrance = std::current_exception();
    }
    help_with_jobs(transport, sweep_threads(options), job, hindrance);
}

std::vector<std::string> check_sweep(const Sweep& sweep, const SweepOptions& options,
                                     const std::function<int()>& interrupted, SweepProgress& progress) {
    const std::vector<std::string> columns = record_columns(sweep, infos_of(sweep, options, 0));
    std::vector<std::uint64_t> runs(sweep.runs());
    std::iota(runs.begin(), runs.end(), std::uint64_t{0});
    do_jobs(jobs_of(sweep, options, columns, SweepPart::kCheck, std::move(runs)), [&](const JobsSoFar& so_far) {
        progress.update(so_far.begun);
        return interrupted();
    });
    progress.clear();
    return interrupted() != 0 ? std::vector<std::string>{} : columns;
}

int sweep_threads(const SweepOptions& options) {
    if (options.threads > 0) return options.threads;
    if (launch().ranks > 1) return threads_of_rank(launch());
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

constexpr double kBarSeconds = 0.1;    // between two drawings of the bar
constexpr double kLineSeconds = 10.0;  // between two plain lines
constexpr double kSpeedSeconds = 0.5;  // before these the speed says little
constexpr int kBarWidth = 24;          // characters

std::string duration(double seconds) {
    const auto total = static_cast<long long>(std::ceil(seconds));
    return total >= 3600 ? fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60)
                         : fmt::format("{}:{:02}", total / 60, total % 60);
}

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace

std::string sweep_progress_text(std::uint64_t done, std::uint64_t runs, double per_second, int width,
                                const std::string& word) {
    const double fraction = runs > 0 ? static_cast<double>(done) / static_cast<double>(runs) : 1.0;
    std::string text =
        fmt::format("  {} of {}", count_text(done), plural(runs, "run") + (word.empty() ? "" : " " + word));
    if (per_second > 0.0) {
        text += fmt::format("  {:.2g} runs/s  {} left", per_second,
                            duration(static_cast<double>(runs - done) / per_second));
    }
    const std::string percent = fmt::format("{:3.0f} %", std::floor(100.0 * fraction));
    const int room = width - static_cast<int>(percent.size() + text.size()) - 3;
    if (room < 5) return width > 0 ? (percent + text).substr(0, static_cast<std::size_t>(width)) : percent + text;
    const int bar = std::min(kBarWidth, room);
    const int filled = static_cast<int>(fraction * bar);
    std::string picture(static_cast<std::size_t>(bar), ' ');
    std::fill_n(picture.begin(), filled, '=');
    if (filled < bar) picture[static_cast<std::size_t>(filled)] = '>';
    return percent + " [" + picture + "]" + text;
}

SweepProgress::SweepProgress(ProgressStyle style, std::FILE* stream, std::uint64_t runs, std::uint64_t before,
                             std::string word)
    : style_(style),
      stream_(stream),
      runs_(runs),
      before_(before),
      word_(std::move(word)),
      begin_(Clock::now()),
      last_print_(begin_) {}

void SweepProgress::update(std::uint64_t done) {
    if (style_ == ProgressStyle::kNone) return;
    const auto now = Clock::now();
    const double waited = std::chrono::duration<double>(now - last_print_).count();
    if (waited < (style_ == ProgressStyle::kBar ? kBarSeconds : kLineSeconds)) return;
    last_print_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double speed = seconds > kSpeedSeconds ? static_cast<double>(done - before_) / seconds : 0.0;
    if (style_ == ProgressStyle::kBar) {
        say_to(stream_, "\r" + sweep_progress_text(done, runs_, speed, terminal_width(stream_) - 1, word_) + "\x1b[K");
        drawn_ = true;
    } else {
        say_to(stream_, sweep_progress_text(done, runs_, speed, 0, word_) + "\n");
    }
}

void SweepProgress::clear() {
    if (!drawn_) return;
    say_to(stream_, "\r\x1b[K");
    drawn_ = false;
}

namespace {

/// As CSV has it: in quotes where a comma or a quote would mislead.
std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

/// Mean and standard error of the mean, of two values or more.
std::pair<double, double> mean_and_error(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double sum = 0.0;
    for (const double value : values) sum += value;
    const double mean = sum / count;
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, std::sqrt(squares / (count - 1.0) / count)};
}

}  // namespace

std::string table_text(const Sweep& sweep, const std::vector<std::string>& columns,
                       const std::map<std::uint64_t, RunResult>& results) {
    std::string text;
    const auto end_line = [&text] { text.back() = '\n'; };  // in place of a comma
    for (const std::string& name : sweep.axis_columns()) text += cell(name) + ",";
    for (const std::string& name : columns) {
        text += cell(name) + ",";
        if (sweep.averaged) text += cell(name + "_se") + ",";
    }
    end_line();
    const std::uint64_t per_row = sweep.runs_per_row();
    for (std::uint64_t row = 0; row < sweep.rows(); ++row) {
        const std::vector<std::size_t> at = sweep.values_of(row * per_row);
        for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
            if (k != sweep.averaged) text += cell(sweep.axes[k].values[at[k]].text) + ",";
        }
        bool whole = true;
        for (std::uint64_t run = row * per_row; run < (row + 1) * per_row; ++run) {
            whole = whole && !results.at(run).values.empty();
        }
        for (std::size_t column = 0; column < columns.size(); ++column) {
            if (!whole) {
                text += sweep.averaged ? ",," : ",";
                continue;
            }
            std::vector<double> values;
            for (std::uint64_t run = row * per_row; run < (row + 1) * per_row; ++run) {
                values.push_back(results.at(run).values[column]);
            }
            if (sweep.averaged) {
                const auto [mean, error] = mean_and_error(values);
                text += fmt::format("{},{},", mean, error);
            } else {
                text += fmt::format("{},", values.front());
            }
        }
        end_line();
    }
    return text;
}

namespace {

using Clock = std::chrono::steady_clock;

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
    }

    SweepOutcome run(const SignalGuard& signals) {
        const auto begin = Clock::now();
        SweepProgress progress(progress_style(output_.quiet, stderr), stderr, outcome_.runs, outcome_.runs_before);
        const auto failure = failure_of([&] {
            do_runs(signals, progress);
            if (outcome_.signal == 0) write_table();
        });
        progress.clear();
        if (failure) {
            std::tie(outcome_.status, outcome_.error) = *failure;
            outcome_.signal = 0;
        }
        outcome_.runs_done = journal_.results().size();
        outcome_.kept = journal_.in_place();
        list_failures();
        outcome_.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        return outcome_;
    }

private:
    std::string start_summary() const {
        std::string grid;
        for (const Axis& axis : sweep_.axes) grid += fmt::format("{}{}", grid.empty() ? "" : " x ", axis.values.size());
        std::string text = fmt::format("{}: scene {}, {} values", visible(sweep_.path), visible(sweep_.scene), grid);
        if (sweep_.shards > 1) text += fmt::format(", part {} of {}", sweep_.shard + 1, sweep_.shards);
        text += fmt::format(": {} for {}", plural(outcome_.runs, "run"), plural(outcome_.rows, "row"));
        if (outcome_.runs_before > 0) text += fmt::format(", {} done before", count_text(outcome_.runs_before));
        return text + fmt::format("; {} at once; table: {}\n", outcome_.threads, visible(output_.table));
    }

    void do_runs(const SignalGuard& signals, SweepProgress& progress) {
        do_jobs(jobs_of(sweep_, options_, columns_, SweepPart::kRun, left_), [&](JobsSoFar so_far) {
            if (outcome_.threads == 0) {
                outcome_.threads = static_cast<int>(std::clamp<std::uint64_t>(left_.size(), 1, so_far.threads));
                if (!output_.quiet) say_to(stderr, start_summary());
            }
            for (auto& [run, result] : so_far.ended) journal_.add(run, std::move(result));
            if (!so_far.ended.empty()) look_for_journal(progress);
            progress.update(journal_.results().size());
            outcome_.signal = signals.caught();
            return outcome_.signal;
        });
        // Everything may have been done when the signal came.
        if (journal_.results().size() == outcome_.runs) outcome_.signal = 0;
    }

    /// Without it nothing is lost yet, if only the sweep comes to its end: it goes on.
    void look_for_journal(SweepProgress& progress) {
        const bool before = std::exchange(outcome_.kept, journal_.in_place());
        if (outcome_.kept || !before) return;
        progress.clear();
        say("carom: {}: has been removed or replaced; what is done is lost if the sweep does not come to its end\n",
            visible(journal_.path()));
    }

    void write_table() {
        ReplacementFile file(output_.table, output_.force);  // one that was not there at the start is somebody's
        file.write(table_text(sweep_, columns_, journal_.results()));
        file.commit(true);  // before what it is made of goes
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
    return unled(name.string() + ".csv");
}

void check_table(const Sweep& sweep, const SweepOutput& output) {
    const std::string journal = journal_path(output.table);
    for (const std::string& input : {sweep.path, sweep.scene}) {
        if (!same_file(journal, input)) continue;
        throw InputError(fmt::format("{}: is the input, and would be overwritten by the runs of {}; name another file",
                                     journal, output.table));
    }
    check_output_file(output.table, sweep.path, output.force);
    check_output_file(output.table, sweep.scene, output.force);
}

std::string sweep_key(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns) {
    // 2: lines of journals are marked with their sweep.
    std::string all = fmt::format("{} 2\n{}\n", build_info::kVersion, sweep.scene_text);
    all += fmt::format("{} {} {}\n", sweep.shard, sweep.shards, options.steps.value_or(0));
    const auto add = [&all](const std::string& text) { all += fmt::format("{}:{},", text.size(), text); };
    for (const std::string& text : sweep.overrides) add(text);
    for (const std::string& name : columns) add(name);
    for (const Axis& axis : sweep.axes) {
        add(axis.name);
        for (const std::string& key : axis.keys) add(key);
        for (std::size_t k = 0; k < axis.values.size(); ++k) add(axis.values[k].toml);
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

namespace {

/// The runs do not differ in their end, which is one for all.
void require_free_end(const Sweep& sweep) {
    const auto sets_end = [](const auto& one) { return std::ranges::find(one.keys, "run.until") != one.keys.end(); };
    const auto refuse = [&sweep](const char* what, std::ptrdiff_t number) {
        throw InputError(fmt::format("--steps: {}[{}] of {} sets run.until", what, number, sweep.path));
    };
    const auto axis = std::ranges::find_if(sweep.axes, sets_end);
    if (axis != sweep.axes.end()) refuse("axis", axis - sweep.axes.begin());
    const auto set = std::ranges::find_if(sweep.settings,
                                          [&](const Setting& setting) { return setting.formula && sets_end(setting); });
    if (set != sweep.settings.end()) refuse("set", set - sweep.settings.begin());
}

}  // namespace

SweepOutcome run_sweep(const Sweep& sweep, const SweepOptions& options, const SweepOutput& output) {
    check_table(sweep, output);
    if (options.steps) require_free_end(sweep);
    const SignalGuard signals;
    const ProgressStyle style = progress_style(output.quiet, stderr);
    SweepProgress progress(style, stderr, sweep.runs(), 0, "checked");
    const auto columns = check_sweep(
        sweep, options, [&signals] { return signals.caught(); }, progress);
    if (columns.empty()) return {.signal = signals.caught(), .rows = sweep.rows(), .runs = sweep.runs()};
    require_no_input({{output.table, journal_path(output.table)}}, sweep.inputs->paths());
    const std::string key = key_of(sweep, options, columns, [&signals] { return signals.caught(); });
    if (signals.caught() != 0) return {.signal = signals.caught(), .rows = sweep.rows(), .runs = sweep.runs()};
    Journal journal(journal_path(output.table), key, {sweep.runs(), columns.size()}, output.force,
                    [&signals] { return signals.caught(); });
    if (signals.caught() != 0) return {.signal = signals.caught(), .rows = sweep.rows(), .runs = sweep.runs()};
    SweepOptions side_by_side = options;
    if (options.threads == 0 && options.ranks == nullptr) {
        side_by_side.threads = runs_at_once(prepare_run(sweep, options, 0));
    }
    return SweepRun(sweep, side_by_side, output, columns, journal).run(signals);
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
    return json_text(json);
}

}  // namespace carom
