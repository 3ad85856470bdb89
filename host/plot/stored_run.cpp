#include "host/plot/stored_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "host/observables/frame_sampler.hpp"
#include "host/observables/registry.hpp"
#include "host/observables/time_series.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double number_or_nan(const nlohmann::ordered_json& value) { return value.is_number() ? value.get<double>() : kNan; }

/// An object in another; an empty one if there is none.
nlohmann::ordered_json object_in(const nlohmann::ordered_json& outer, const char* key) {
    return outer.contains(key) && outer[key].is_object() ? outer[key] : nlohmann::ordered_json::object();
}

/// The run's summary; an empty object if there is none.
nlohmann::ordered_json summary_of(const TrajectoryReader& trajectory) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(trajectory.summary(), nullptr, false);
    return json.is_object() ? json : nlohmann::ordered_json::object();
}

void add_energy(MeasuredRun& run, const nlohmann::ordered_json& summary) {
    const auto told = [&](const char* key) { return number_or_nan(summary.value(key, nlohmann::ordered_json())); };
    run.energy_defect = {told("energy_balance"), told("energy_balance_scale")};
    // Of files of before: it is no less than that.
    if (std::isnan(run.energy_defect.scale)) run.energy_defect.scale = std::abs(told("energy_total"));
    const bool events = summary.contains("events");
    run.events = events ? told("events") - told("first_event") : told("steps") - told("first_step");
}

void add_means(MeasuredRun& run, const TrajectoryReader& trajectory, const ObservableTable& table) {
    const nlohmann::ordered_json summary = summary_of(trajectory);
    add_energy(run, summary);
    const nlohmann::ordered_json json = object_in(summary, "means");
    if (json.contains("values")) {
        const nlohmann::ordered_json values = object_in(json, "values");
        for (const auto& [name, value] : values.items()) {
            const auto number = [&of = value](const char* key) {
                return of.is_object() && of.contains(key) ? number_or_nan(of[key]) : kNan;
            };
            run.means.push_back({name, number("mean"), number("error"), number("correlation_time"),
                                 Steadiness(number("independent"), number("drift")), number("error_at_temperature")});
        }
    } else if (summary.empty()) {  // the run was killed; one that is whole says so where nothing was measured
        const std::size_t half = table.rows() / 2 + 1;
        if (half < table.rows()) run.means = means_of_rows(table, run.scene, {.from = table.time[half]});
    }
    const auto times = trajectory.times();
    run.means_since = json.contains("since") ? number_or_nan(json["since"])
                      : times.empty()        ? 0.0
                                             : 0.5 * (times.front() + times.back());
    const bool told = json.contains("equilibrated") && json.contains("since");
    const nlohmann::ordered_json equilibrated = told ? json["equilibrated"] : nlohmann::ordered_json();
    run.judge_equilibrium(equilibrated.is_boolean() ? std::optional(equilibrated.get<bool>()) : std::nullopt);
}

/// The columns of an observable; none if rows do not have it.
std::vector<std::vector<double>> columns_of(const ObservableTable& table, const std::string& name) {
    const auto info = std::ranges::find(table.observables, name, &ObservableInfo::name);
    if (info == table.observables.end()) return {};
    const std::size_t first = table.column(name);
    std::vector<std::vector<double>> columns(info->width());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k].push_back(table.at(row, first + k));
    }
    return columns;
}

bool stores(const TrajectoryReader& trajectory, std::string_view field) {
    const auto& fields = trajectory.header().fields;
    return std::ranges::find(fields, field) != fields.end();
}

/// A kind that frames give, and the fields of them that it needs.
struct FromFrames {
    std::string_view kind;
    bool position;
    bool velocity;
};

constexpr std::array<FromFrames, 11> kFromFrames{{{"speed", false, true},
                                                  {"velocity", false, true},
                                                  {"density", true, false},
                                                  {"temperature_profile", true, true},
                                                  {"velocity_profile", true, true},
                                                  {"density_map", true, false},
                                                  {"temperature_map", true, true},
                                                  {"velocity_map", true, true},
                                                  {"gr", true, false},
                                                  {"msd", true, false},
                                                  {"vacf", false, true}}};

/// Numbers that later parts of a run are given anew; by themselves they are no quantities of frames, for rows are
/// called so.
constexpr std::array<FromFrames, 4> kNumbersFromFrames{{{"temperature", true, true},
                                                        {"kurtosis", false, true},
                                                        {"kinetic_stress", false, true},
                                                        {"self_diffusion", true, false}}};

/// Whether frames have the fields that it needs.
bool have_fields_for(const TrajectoryReader& trajectory, const FromFrames& one) {
    return (!one.position || stores(trajectory, "position")) && (!one.velocity || stores(trajectory, "velocity"));
}

/// Off its multiple by more of the interval than this, a frame is no regular one. Steps round times by less, unless
/// frames are a few steps apart.
constexpr double kOffTime = 0.05;

int default_axis(const Scene& scene, const std::string& kind) {
    if (kind.ends_with("_map")) return scene.dimension() - 1;
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (scene.physics.gravity[static_cast<std::size_t>(axis)] != 0.0) return axis;
    }
    return 0;
}

/// The interval that most frames have: the median of theirs.
double usual_interval(std::span<const double> times) {
    std::vector<double> intervals;
    for (std::size_t k = 0; k + 1 < times.size(); ++k) intervals.push_back(times[k + 1] - times[k]);
    if (intervals.empty()) return 0.0;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::ranges::nth_element(intervals, middle);
    return *middle;
}

/// The frames that an average is taken from: those in the window, or else of the second half.
std::vector<std::size_t> frames_of(const TrajectoryReader& trajectory, const TimeWindow& window) {
    std::vector<std::size_t> frames;
    const std::size_t count = trajectory.frame_count();
    for (std::size_t k = window.given() ? 0 : count / 2; k < count; ++k) {
        if (window.holds(trajectory.times()[k])) frames.push_back(k);
    }
    if (frames.empty()) throw InputError(trajectory.path() + ": holds no frames" + window.words());
    return frames;
}

/// \param each  told of the average so far at each frame
RunAverage computed(const TrajectoryReader& trajectory, const Scene& scene, ObserveEntry entry,
                    const TimeWindow& window, const std::function<void(double, const Average&)>& each = {}) {
    const auto needs = std::ranges::find(kFromFrames, std::string_view(entry.kind), &FromFrames::kind);
    if (needs != kFromFrames.end() && !have_fields_for(trajectory, *needs)) {
        throw InputError(fmt::format("{}: its frames hold no {}, from which '{}' would follow", trajectory.path(),
                                     needs->position && !stores(trajectory, "position") ? "positions" : "velocities",
                                     entry.name));
    }
    const std::vector<std::size_t> frames = frames_of(trajectory, window);
    std::vector<double> times;
    for (const std::size_t frame : frames) times.push_back(trajectory.times()[frame]);
    double every = usual_interval(times);
    if (!(every > 0.0)) every = std::max(scene.run.until, 1.0);
    entry.from = times[0];
    const auto population =
        std::make_shared<Population>(Population{trajectory.header().species_table, trajectory.header().species});
    const std::vector<std::uint32_t> species = population->species.rows();
    const auto averager = make_average(
        entry, {.box = trajectory.header().box, .population = population, .every = every, .samples = times.size()});
    const std::vector<double> masses = finite_masses(population->table);
    Frame frame;
    for (std::size_t k = 0; k < times.size(); ++k) {
        const double intervals = (times[k] - times[0]) / every;
        if (!scene.measures(times[k]) || std::abs(intervals - std::round(intervals)) > kOffTime) continue;
        trajectory.read(frames[k], frame);
        FrameSampler balls(frame, {.species = species, .mass = masses});
        // Of the stress frames give the part that contacts have none of.
        if (averager->needs_accounts()) averager->account({.time = times[k], .tallies = Tallies{}, .totals = Totals{}});
        averager->add(balls, {.time = times[k], .index = static_cast<std::uint64_t>(std::llround(intervals))});
        if (each) each(times[k], *averager);
    }
    return {averager->info(), averager->table()};
}

/// Whether a window begins later than the average that is stored.
bool begins_later(const TrajectoryReader& trajectory, const AverageInfo& info, const TimeWindow& window) {
    return window.from && trajectory.frame_count() > 0 &&
           *window.from > std::max(info.from, trajectory.times().front());
}

}  // namespace

std::vector<MeasuredMean> means_of_rows(const ObservableTable& table, const Scene& scene, const TimeWindow& window) {
    std::vector<MeasuredMean> means;
    std::vector<std::size_t> rows;
    for (std::size_t row = 1; row < table.rows(); ++row) {
        if (window.holds(table.time[row]) && scene.measures(table.time[row - 1], table.time[row])) rows.push_back(row);
    }
    std::size_t column = 0;
    for (const ObservableInfo& info : table.observables) {
        for (std::size_t k = 0; k < info.width(); ++k, ++column) {
            BatchSeries series(1, BatchSeries::kMostBatches);
            for (const std::size_t row : rows) {
                const double value = table.at(row, column);
                series.add(std::span(&value, 1));
            }
            if (series.samples() == 0 || !std::isfinite(series.mean(0))) continue;
            const MeanWithError mean = mean_of(series, 0);
            means.push_back({info.components.empty() ? info.name : info.name + "." + info.components[k], mean.value,
                             mean.error, kNan});
        }
    }
    return means;
}

TimeWindow TimeWindow::of(const TrajectoryReader& trajectory) const {
    const ObservableTable rows = trajectory.observables();
    const auto frames = trajectory.times();
    const double end = std::max(rows.time.empty() ? 0.0 : rows.time.back(), frames.empty() ? 0.0 : frames.back());
    const auto counted = [&](const std::optional<double>& time, double least) {
        return time && std::signbit(*time) ? std::optional(std::max(least, end + *time)) : time;
    };
    // What begins before the run begins with it; what ends before it holds nothing.
    const TimeWindow window{counted(from, 0.0), counted(to, -std::numeric_limits<double>::infinity())};
    if (window.from.value_or(0.0) > window.to.value_or(end)) {
        throw InputError(fmt::format("{}: nothing is from t = {:.10g} to {:.10g}; the run ends at {:.10g}",
                                     trajectory.path(), window.from.value_or(0.0), window.to.value_or(end), end));
    }
    return window;
}

std::string TimeWindow::words() const {
    if (from && to) return fmt::format(", t = {:.6g} to {:.6g}", *from, *to);
    return from ? fmt::format(", from t = {:.6g}", *from) : to ? fmt::format(", up to t = {:.6g}", *to) : "";
}

MeasuredRun stored_run(const TrajectoryReader& trajectory) {
    const TrajectoryHeader& header = trajectory.header();
    const ObservableTable table = trajectory.observables();
    MeasuredRun run{.scene = trajectory.scene(),
                    .species = header.species_table,
                    .counts = std::vector<double>(header.species_table.size(), 0.0),
                    .solver = header.description,
                    .changed = !trajectory.changes().empty(),
                    .time = table.time};
    header.species.for_each_stretch(
        [&](std::uint32_t row, std::size_t count) { run.counts[row] += static_cast<double>(count); });
    if (const auto columns = columns_of(table, "temperature"); !columns.empty()) run.temperature = columns.front();
    const auto motion = columns_of(table, "translational_energy");
    const auto contacts = columns_of(table, "spring_energy");
    if (!motion.empty() && !contacts.empty()) {
        run.energy = motion.front();
        std::ranges::transform(run.energy, contacts.front(), run.energy.begin(), std::plus<>());
    }
    run.wall_pressure = columns_of(table, "wall_pressure");
    if (run.wall_pressure.size() != 2 * static_cast<std::size_t>(header.dimension())) run.wall_pressure.clear();
    if (const auto balls = columns_of(table, "balls"); !balls.empty() && table.rows() > 0) {
        run.left = balls.front().back() < static_cast<double>(header.ball_count());  // none comes back
    }
    if (trajectory.frame_count() > 0 && stores(trajectory, "position") && stores(trajectory, "velocity")) {
        trajectory.read(0, run.first_frame.emplace());
        run.look_at_start(*run.first_frame, header.species.rows());
        // Of a moment of a run in memory: what its rows began with is not known.
        if (!run.time.empty() && run.first_frame->time > run.time.front()) run.first_frame.reset();
    }
    add_means(run, trajectory, table);
    return run;
}

bool keys_changed(const TrajectoryReader& trajectory) {
    return std::ranges::any_of(trajectory.changes(),
                               [](const RunChange& change) { return change.what.find('=') != std::string::npos; });
}

std::string run_name(const TrajectoryReader& trajectory) {
    const std::string& title = trajectory.header().title;
    return title.empty() ? std::filesystem::path(trajectory.path()).stem().string() : title;
}

std::string run_note(const TrajectoryReader& trajectory) {
    const TrajectoryHeader& header = trajectory.header();
    const Scene scene = trajectory.scene();
    const SolverDescription& of = header.description;
    return fmt::format("{}, {}, seed {}, carom {}", plural(header.ball_count(), "ball"),
                       of.dt > 0.0 ? fmt::format("dt = {:.4g}{}", of.dt, scene.units.behind("s")) : of.solver,
                       scene.seed, header.version);
}

std::vector<std::string> run_names(const std::vector<const TrajectoryReader*>& runs) {
    std::vector<std::string> names;
    for (const TrajectoryReader* run : runs) names.push_back(run_name(*run));
    const auto rename_alike = [&](const auto& other) {
        const std::vector<std::string> before = names;
        for (std::size_t k = 0; k < runs.size(); ++k) {
            if (std::ranges::count(before, before[k]) > 1) names[k] = other(runs[k]->path());
        }
    };
    rename_alike([](const std::string& path) { return std::filesystem::path(path).stem().string(); });
    rename_alike([](const std::string& path) { return path; });
    return names;
}

const AverageInfo* find_average(const TrajectoryReader& trajectory, const std::string& quantity) {
    const auto& infos = trajectory.header().averages;
    auto found = std::ranges::find(infos, quantity, &AverageInfo::name);
    if (found == infos.end()) found = std::ranges::find(infos, quantity, &AverageInfo::kind);
    return found == infos.end() ? nullptr : &*found;
}

std::vector<std::string> others_of_kind(const TrajectoryReader& trajectory, const std::string& quantity) {
    const AverageInfo* chosen = find_average(trajectory, quantity);
    std::vector<std::string> others;
    if (chosen == nullptr || chosen->name == quantity) return others;
    for (const AverageInfo& info : trajectory.header().averages) {
        if (info.kind == quantity && &info != chosen) others.push_back(info.name);
    }
    return others;
}

bool follows_from_frames(const std::string& kind) {
    return std::ranges::find(kFromFrames, std::string_view(kind), &FromFrames::kind) != kFromFrames.end();
}

std::vector<std::string> known_averages(const TrajectoryReader& trajectory) {
    std::vector<std::string> known;
    for (const AverageInfo& info : trajectory.header().averages) known.push_back(info.name);
    if (trajectory.frame_count() == 0) return known;
    for (const FromFrames& one : kFromFrames) {
        if (have_fields_for(trajectory, one) && std::ranges::find(known, one.kind) == known.end())
            known.emplace_back(one.kind);
    }
    return known;
}

bool stays_since_its_beginning(const TrajectoryReader& trajectory, const AverageInfo& info, const TimeWindow& window) {
    const auto one = std::ranges::find(kNumbersFromFrames, std::string_view(info.kind), &FromFrames::kind);
    return begins_later(trajectory, info, window) &&
           (one == kNumbersFromFrames.end() || !have_fields_for(trajectory, *one));
}

namespace {

/// Of the stored scene, which may be that of another run: of that name, and of that kind.
std::vector<ObserveEntry>::const_iterator entry_of(const Scene& scene, const AverageInfo& info) {
    return std::ranges::find_if(scene.observables, [&](const ObserveEntry& entry) {
        return entry.name == info.name && entry.kind == info.kind;
    });
}

}  // namespace

NumberCourse number_course(const TrajectoryReader& trajectory, const Scene& scene, const AverageInfo& info,
                           const TimeWindow& window) {
    NumberCourse course{.info = info};
    if (begins_later(trajectory, info, window) && !stays_since_its_beginning(trajectory, info, window)) {
        const auto entry = entry_of(scene, info);
        if (entry == scene.observables.end()) {
            throw InputError(fmt::format("{}: '{}' is no average of its scene", trajectory.path(), info.name));
        }
        course.info = computed(trajectory, scene, *entry, window, [&](double time, const Average& so_far) {
                          course.time.push_back(time);
                          course.tables.push_back(so_far.table());
                      }).info;
        return course;
    }
    for (std::size_t frame = 0; frame < trajectory.frame_count(); ++frame) {
        if (!window.holds(trajectory.times()[frame])) continue;
        course.time.push_back(trajectory.times()[frame]);
        course.tables.push_back(trajectory.average(info.name, frame));
    }
    return course;
}

RunAverage run_average(const TrajectoryReader& trajectory, const Scene& scene, const std::string& quantity,
                       const TimeWindow& window) {
    if (const AverageInfo* info = find_average(trajectory, quantity)) {
        if (trajectory.frame_count() == 0) throw InputError(trajectory.path() + ": holds no frames");
        if (begins_later(trajectory, *info, window)) {
            const auto entry = entry_of(scene, *info);
            if (entry == scene.observables.end() || !follows_from_frames(info->kind)) {
                throw InputError(
                    fmt::format("{}: '{}' is an average since t = {:.6g}, and no later part of it is stored",
                                trajectory.path(), info->name, info->from));
            }
            return computed(trajectory, scene, *entry, window);
        }
        std::size_t last = trajectory.frame_count();
        while (last > 0 && !window.holds(trajectory.times()[last - 1])) --last;
        if (last == 0) throw InputError(trajectory.path() + ": holds no frames" + window.words());
        const auto place = static_cast<std::size_t>(info - trajectory.header().averages.data());
        return {*info, trajectory.averages(last - 1)[place]};
    }
    if (follows_from_frames(quantity)) {
        return computed(trajectory, scene, {.name = quantity, .kind = quantity, .axis = default_axis(scene, quantity)},
                        window);
    }
    throw InputError(fmt::format("{}: holds no average '{}'; allowed: {}", trajectory.path(), quantity,
                                 fmt::join(known_averages(trajectory), ", ")));
}

std::vector<std::string> average_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> names;
    for (const AverageInfo& info : trajectory.header().averages) {
        if (!info.x.label.empty()) names.push_back(info.name);
    }
    if (trajectory.frame_count() == 0) return names;
    const auto observed = [&](const std::string& kind) {
        return std::ranges::find(trajectory.header().averages, kind, &AverageInfo::kind) !=
               trajectory.header().averages.end();
    };
    if (!observed("speed") && stores(trajectory, "velocity")) names.emplace_back("speed");
    if (!observed("density") && stores(trajectory, "position")) names.emplace_back("density");
    return names;
}

std::vector<RunAverage> run_averages(const TrajectoryReader& trajectory, const Scene& scene) {
    if (trajectory.frame_count() == 0) return {};
    const std::vector<AverageInfo>& infos = trajectory.header().averages;
    std::vector<RunAverage> averages;
    for (const AverageInfo& info : infos) averages.push_back(run_average(trajectory, scene, info.name));
    for (const std::string& quantity : average_quantities(trajectory)) {
        if (std::ranges::find(infos, quantity, &AverageInfo::name) == infos.end()) {
            averages.push_back(run_average(trajectory, scene, quantity));
        }
    }
    return averages;
}

}  // namespace carom
