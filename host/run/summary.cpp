#include "host/run/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "host/run/driving_text.hpp"
#include "host/run/observe.hpp"
#include "host/run/say.hpp"
#include "host/theory/gas_facts.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

namespace {

std::string box_text(const Box& box) {
    std::string text = fmt::format("{:.6g} x {:.6g}", box.size[0], box.size[1]);
    if (box.dimension == 3) text += fmt::format(" x {:.6g}", box.size[2]);
    return text;
}

std::string scene_name(const Scene& scene) { return visible(scene.title.empty() ? scene.path : scene.title); }

/// Of translation and spin together.
double kinetic(const Totals& totals) { return totals.kinetic + totals.rotational; }

double work_per_second(const RunOutcome& outcome, const WorkUnit& work) {
    if (outcome.wall_seconds <= 0.0) return 0.0;
    return static_cast<double>(outcome.step - outcome.first_step) * work.per_step / outcome.wall_seconds;
}

/// JSON knows no infinities.
nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// What the run came to in the mean, and whether it can be trusted.
std::string means_text(const RowMeans& means, const Scene& scene) {
    if (means.means.empty()) return "";
    std::string text;
    for (const char* name : {"temperature", "virial_pressure", "gravitational_energy"}) {
        const auto mean = std::ranges::find(means.means, name, &RowMean::name);
        if (mean == means.means.end() || mean->mean == 0.0) continue;
        std::string words = name;
        std::ranges::replace(words, '_', ' ');
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, with_error(mean->mean, mean->error));
    }
    if (text.empty()) return "";
    std::string since = fmt::format("means since t = {:.6g}", means.since);
    since += means.equilibrated == true    ? conducts(scene) ? " (steady)" : " (equilibrated)"
             : means.equilibrated == false ? fmt::format(" (not at equilibrium: {})", means.reason)
                                           : fmt::format(" (equilibrium unknown: {})", means.reason);
    return since + ": " + text + "\n";
}

nlohmann::ordered_json means_json(const RowMeans& means) {
    nlohmann::ordered_json json;
    json["equilibrated"] =
        means.equilibrated ? nlohmann::ordered_json(*means.equilibrated) : nlohmann::ordered_json(nullptr);
    if (means.equilibrated != true) json["reason"] = means.reason;
    json["since"] = number(means.since);
    json["rows"] = means.rows;
    for (const RowMean& mean : means.means) {
        nlohmann::ordered_json& value = json["values"][mean.name];
        value = {{"mean", number(mean.mean)},
                 {"error", number(mean.error)},
                 {"correlation_time", number(mean.correlation_time)},
                 {"independent", number(mean.steadiness.independent())},
                 {"drift", number(mean.steadiness.drift())}};
        if (std::isfinite(mean.error_at_temperature)) value["error_at_temperature"] = mean.error_at_temperature;
    }
    return json;
}

/// Whose errors are none where samples saw too few contacts (host/observables/stress.cpp).
bool of_contacts(const std::string& kind) {
    return kind == "stress" || kind == "pressure" || kind == "compressibility";
}

bool few_samples(const AveragedNumber& number) { return number.samples < kLeastSamplesForError; }

bool few_contacts(const AveragedNumber& number) {
    return !few_samples(number) && std::isfinite(number.mean) && !std::isfinite(number.error) &&
           of_contacts(number.kind);
}

std::string samples_text(const AveragedNumber& number) {
    return plural(static_cast<std::uint64_t>(number.samples), "sample");
}

/// Of the solver, and of averages that have no error, one for all components of each.
std::vector<std::string> end_warnings(const RunOutcome& outcome) {
    std::vector<std::string> warnings = outcome.report.warnings;
    std::string before;
    for (const AveragedNumber& number : outcome.numbers) {
        const std::string name = number.name.substr(0, number.name.find('.'));
        if (name == before) continue;
        before = name;
        if (few_samples(number)) {
            warnings.push_back(fmt::format("{} took {}, too few for an error: shorten its observe.every, or run longer",
                                           name, samples_text(number)));
        } else if (few_contacts(number)) {
            warnings.push_back(fmt::format(
                "{} has no error: too few contacts were seen; shorten its observe.every, or run longer", name));
        }
    }
    return warnings;
}

/// A line for each average that is a single number, with its standard error, beside theory.
std::string numbers_text(const std::vector<AveragedNumber>& numbers, std::span<const TheoryCheck> theory) {
    std::string text;
    for (const AveragedNumber& number : numbers) {
        text += "average " + number.name + " ";
        if (!std::isfinite(number.mean)) {
            text += fmt::format("has no value from {}\n", samples_text(number));
            continue;
        }
        text += with_error(number.mean, number.error);
        if (few_samples(number)) text += fmt::format(", {}: too few for an error", samples_text(number));
        if (few_contacts(number)) text += ", no error: too few contacts were seen";
        const auto check = std::ranges::find(theory, number.name, &TheoryCheck::what);
        if (check != theory.end()) text += "; " + theory_words(*check);
        text += '\n';
    }
    return text;
}

/// A line for each check that is of no average.
std::string checks_text(const std::vector<AveragedNumber>& numbers, std::span<const TheoryCheck> theory) {
    std::string text;
    for (const TheoryCheck& check : theory) {
        if (std::ranges::find(numbers, check.what, &AveragedNumber::name) != numbers.end()) continue;
        text += fmt::format("{} {}; {}\n", check.what, with_error(check.measured, check.error), theory_words(check));
    }
    return text;
}

nlohmann::ordered_json theory_json(std::span<const TheoryCheck> theory) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const TheoryCheck& check : theory) {
        nlohmann::ordered_json one{{"what", check.what},
                                   {"unit", check.unit},
                                   {"measured", number(check.measured)},
                                   {"error", number(check.error)},
                                   {"expected", number(check.expected)},
                                   {"uncertainty", number(check.uncertainty)},
                                   {"source", check.theory},
                                   {"sigma", number(check.sigmas)},
                                   {"would_show", number(check.would_show)},
                                   {"verdict", nullptr}};
        if (check.verdict == TheoryVerdict::kUnknown) {
            one["reason"] = check.reason;
        } else {
            one["verdict"] = check.words();
        }
        json.push_back(std::move(one));
    }
    return json;
}

nlohmann::ordered_json numbers_json(const std::vector<AveragedNumber>& averages) {
    nlohmann::ordered_json json;
    for (const AveragedNumber& average : averages) {
        json[average.name] = {{"mean", number(average.mean)},
                              {"error", number(average.error)},
                              {"unit", average.unit},
                              {"kind", average.kind},
                              {"samples", number(average.samples)},
                              {"correlation_time", number(average.correlation_time)},
                              {"independent", number(average.steadiness.independent())},
                              {"drift", number(average.steadiness.drift())}};
    }
    return json;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

double energy_drift(const Totals& first, const Totals& last) {
    const double scale = std::max(std::abs(first.energy()), kinetic(first));
    return scale > 0.0 ? (last.energy() - first.energy()) / scale : std::numeric_limits<double>::quiet_NaN();
}

namespace {

/// Given by a wall in this part of the run, not in what it resumed.
double wall_heat(const RunOutcome& outcome, std::size_t wall) {
    const auto of = [wall](const Tallies& tallies) {
        return wall < tallies.wall_heat.size() ? tallies.wall_heat[wall] : 0.0;
    };
    return of(outcome.tallies) - of(outcome.first_tallies);
}

}  // namespace

EnergyBalance energy_balance(const RunOutcome& outcome) {
    const Tallies& from = outcome.first_tallies;
    const Tallies& to = outcome.tallies;
    EnergyBalance balance;
    balance.heat = to.heat() - from.heat();
    balance.work = to.work - from.work;
    if (!to.lost) return balance;
    balance.lost = *to.lost - from.lost.value_or(0.0);
    if (outcome.status == ExitStatus::kCannotContinue) return balance;  // the last energy is of the row before
    const double change = outcome.last.energy() - outcome.first.energy();
    double through = std::abs(to.thermostat_heat - from.thermostat_heat);
    for (std::size_t wall = 0; wall < to.wall_heat.size(); ++wall) through += std::abs(wall_heat(outcome, wall));
    const double scale = balance.defect.scale =
        std::max({std::abs(outcome.first.energy()), kinetic(outcome.first), std::abs(outcome.last.energy()), through,
                  std::abs(balance.work), std::abs(*balance.lost)});
    if (scale > 0.0) balance.defect.share = (change - balance.heat - balance.work + *balance.lost) / scale;
    return balance;
}

namespace {

/// Empty for a run that nothing drives and that loses nothing.
std::string balance_text(const RunOutcome& outcome) {
    const EnergyBalance balance = energy_balance(outcome);
    const bool driven = std::ranges::any_of(outcome.tallies.wall_heat, [](double heat) { return heat != 0.0; }) ||
                        outcome.tallies.thermostat_heat != 0.0 || outcome.tallies.work != 0.0;
    if (!driven && balance.lost.value_or(0.0) == 0.0) return "";
    std::string text = fmt::format("energy balance: heat {:+.6g}, work {:+.6g}", balance.heat, balance.work);
    if (!balance.lost) return text + "; losses in contacts are not counted\n";
    constexpr double kRounding = 1e-9;  // of the sums of a contact with a moving wall
    if (std::abs(*balance.lost) > kRounding * std::abs(outcome.last.energy()))
        text += fmt::format(", lost {:.6g}", *balance.lost);
    return text + (std::isfinite(balance.defect.share)
                       ? fmt::format("; closes to {:.2g}\n", std::abs(balance.defect.share))
                       : "\n");
}

/// What each thermal wall gave of the balance's heat; empty without such walls.
std::string wall_heat_text(const RunOutcome& outcome, const Scene& scene) {
    std::string text;
    for (const WallNumber wall : thermal_walls(scene)) {
        text += fmt::format("{}{} {:+.6g}", text.empty() ? "heat by source: " : ", ", wall.name(),
                            wall_heat(outcome, wall.index()));
    }
    if (text.empty()) return text;
    const double thermostat = outcome.tallies.thermostat_heat - outcome.first_tallies.thermostat_heat;
    return text + (thermostat != 0.0 ? fmt::format(", thermostat {:+.6g}\n", thermostat) : "\n");
}

/// Which files the balls of each [[load]] came from; nothing where none were read.
void add_loaded(const Scene& scene, nlohmann::ordered_json& json) {
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded == nullptr) continue;
        nlohmann::ordered_json one{
            {"file", load.loaded->path}, {"balls", load.loaded->count}, {"bytes", load.loaded->bytes}};
        if (load.loaded->text) one["checksum"] = hash_text(load.loaded->checksum);
        if (load.loaded->time) one["time"] = *load.loaded->time;
        json["loaded"].push_back(std::move(one));
    }
}

}  // namespace

std::string start_summary(const PreparedScene& run, const SolverDescription& solver, const OutputFiles& files) {
    const Scene& scene = run.scene;
    std::string text = fmt::format("{}: {} in {}D, box {}, packing fraction {:.4g}\n", scene_name(scene),
                                   plural(run.state.ball_count(), "ball"), scene.dimension(), box_text(scene.box),
                                   run.figures.packing_fraction);
    text += fmt::format("{}: {}", solver.solver, run.plan->headline());
    text += run.steps > 0 ? ", " + plural(run.steps, run.plan->work().step_name) + " " : ", ";
    text += fmt::format("from t = {:.6g} to {:.6g}\n", run.state.time, scene.run.until);
    text += fmt::format("{}: {}, {}, {} precision, {} of memory\n", solver.backend, solver.device,
                        plural(static_cast<std::uint64_t>(solver.threads), "thread"), solver.precision,
                        bytes_text(run.memory_bytes));
    text += fmt::format("output: {}, {} and {}, about {}\n", visible(files.trajectory), plural(run.frames, "frame"),
                        plural(run.rows, "row"), bytes_text(run.output_bytes));
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) text += fmt::format("loaded: {}\n", visible(load.loaded->summary()));
    }
    if (!scene.history.empty()) text += fmt::format("started from: {}\n", visible(scene.history));
    text += fmt::format("observed: {}\n", sampling_text(run));
    for (const auto& [name, value] : driving_lines(scene)) text += fmt::format("{}: {}\n", name, value);
    for (const std::string& warning : run.warnings) text += "warning: " + warning + "\n";
    return text;
}

std::string end_summary(const RunOutcome& outcome, const Scene& scene, const WorkUnit& work, const OutputFiles& files,
                        std::span<const TheoryCheck> theory) {
    std::string text = fmt::format("t = {:.6g} after {} in {:.3g} s: {:.3g} {}/s\n", outcome.time,
                                   plural(outcome.step - outcome.first_step, work.step_name), outcome.wall_seconds,
                                   work_per_second(outcome, work), work.name);
    if (outcome.rows > 0) {
        const double drift = energy_drift(outcome.first, outcome.last);
        text += fmt::format("energy {:.6g}, at the start {:.6g}{}; largest overlap {:.3g} of the smaller radius",
                            outcome.last.energy(), outcome.first.energy(),
                            std::isfinite(drift) ? fmt::format(" (drift {:+.2g})", drift) : "",
                            outcome.tallies.max_overlap);
        if (outcome.tallies.balls_left > 0) {
            text += fmt::format("; {} left the box", plural(outcome.tallies.balls_left, "ball"));
        }
        text += '\n';
    }
    if (outcome.rows > 0) text += balance_text(outcome) + wall_heat_text(outcome, scene);
    text += means_text(outcome.means, scene);
    text += checks_text(outcome.numbers, theory);
    text += numbers_text(outcome.numbers, theory);
    for (const std::string& line : outcome.report.lines) text += line + "\n";
    for (const std::string& warning : end_warnings(outcome)) text += "warning: " + warning + "\n";
    text += fmt::format("{} and {} in {}", plural(outcome.frames, "frame"), plural(outcome.rows, "row"),
                        visible(files.trajectory));
    if (outcome.checkpoint_time) {
        text += fmt::format("; checkpoint at t = {:.6g} in {}", *outcome.checkpoint_time, visible(files.checkpoint));
    } else if (outcome.status == ExitStatus::kDone) {
        text += "; no checkpoint, since no run goes on from there";
    }
    text += '\n';
    if (outcome.hash) text += fmt::format("state hash {}\n", hash_text(*outcome.hash));
    return text;
}

std::string check_json(const PreparedScene& run, std::optional<double> seconds,
                       const std::optional<RankMemory>& ranks) {
    const SolverPlan& plan = *run.plan;
    nlohmann::ordered_json json;
    json["scene"] = run.scene.path;
    json["title"] = run.scene.title;
    json["dimension"] = run.scene.dimension();
    json["balls"] = run.state.ball_count();
    add_loaded(run.scene, json);
    json["packing_fraction"] = run.figures.packing_fraction;
    json["size_ratio"] = run.figures.size_ratio;
    json["rms_speed"] = run.figures.rms_speed;
    json["solver"] = plan.name();
    json["backend"] = plan.processor();
    json["precision"] = plan.precision();
    for (const PlanFact& fact : plan.facts()) json[fact.key] = fact.value;
    add_driving(run.scene, json);
    json["until"] = run.scene.run.until;
    if (run.steps > 0) json["steps"] = run.steps;
    json["frames"] = run.frames;
    json["rows"] = run.rows;
    for (const AverageInfo& info : average_infos(run)) {
        json["averages"][info.name] = {
            {"kind", info.kind}, {"every", info.every}, {"from", measured_from(run.scene, info.from)}};
    }
    json["memory_bytes"] = run.memory_bytes;
    json["host_memory_bytes"] = run.host_memory_bytes;
    if (ranks) {
        json["ranks"] = ranks->ranks;
        json["ranks_per_axis"] = std::vector<int>(ranks->layers.begin(), ranks->layers.begin() + run.scene.dimension());
        json["rank_0_memory_bytes"] = ranks->rank_0;
        json["rank_0_has_all_balls"] = !ranks->has_all.empty();
        json["rank_memory_bytes"] = ranks->other;
    }
    json["output_bytes"] = run.output_bytes;
    if (seconds) json["estimated_seconds"] = *seconds;
    json["warnings"] = run.warnings;
    return json_text(json);
}

std::string summary_json(const RunOutcome& outcome, const Scene& scene, std::size_t balls, const WorkUnit& work,
                         const SolverDescription& solver, const OutputFiles& files,
                         std::span<const TheoryCheck> theory) {
    const std::size_t dimension = static_cast<std::size_t>(scene.dimension());
    nlohmann::ordered_json json;
    json["time"] = number(outcome.time);
    json[work.step_name + "s"] = outcome.step;
    json["first_" + work.step_name] = outcome.first_step;
    json["balls"] = balls;
    add_loaded(scene, json);
    json["balls_left"] = outcome.tallies.balls_left;
    json["wall_seconds"] = number(outcome.wall_seconds);
    json["observables_seconds"] = number(outcome.observables_seconds);
    json[work.key] = number(work_per_second(outcome, work));
    json["solver"] = solver.solver;
    json["backend"] = solver.backend;
    json["device"] = solver.device;
    json["threads"] = solver.threads;
    json["precision"] = solver.precision;
    json["dt"] = number(solver.dt);
    json["memory_bytes"] = solver.memory_bytes;
    json["energy_kinetic"] = number(kinetic(outcome.last));
    json["energy_translational"] = number(outcome.last.kinetic);
    json["energy_rotational"] = number(outcome.last.rotational);
    json["energy_total"] = number(outcome.last.energy());
    json["energy_drift"] = number(energy_drift(outcome.first, outcome.last));
    const EnergyBalance balance = energy_balance(outcome);
    json["heat"] = number(balance.heat);
    json["work"] = number(balance.work);
    json["energy_lost"] = balance.lost ? number(*balance.lost) : nlohmann::ordered_json(nullptr);
    json["energy_balance"] = number(balance.defect.share);
    json["energy_balance_scale"] = number(balance.defect.scale);
    json["momentum"] = std::vector<nlohmann::ordered_json>();
    for (std::size_t axis = 0; axis < dimension; ++axis)
        json["momentum"].push_back(number(outcome.last.momentum[axis]));
    json["max_overlap"] = number(outcome.tallies.max_overlap);
    json["wall_impulse"] = std::vector<nlohmann::ordered_json>();
    for (const double impulse : outcome.tallies.wall_impulse) json["wall_impulse"].push_back(number(impulse));
    if (scene.driven()) {
        json["wall_heat"] = nlohmann::ordered_json::object();
        for (const WallNumber wall : thermal_walls(scene))
            json["wall_heat"][wall.plain_name()] = number(wall_heat(outcome, wall.index()));
        json["thermostat_heat"] = number(outcome.tallies.thermostat_heat - outcome.first_tallies.thermostat_heat);
    }
    if (scene.run.solver == SolverKind::kSpring) json["sorts"] = outcome.tallies.sorts;
    for (const auto& [key, value] : outcome.report.figures) json[key] = number(value);
    if (const auto warnings = end_warnings(outcome); !warnings.empty()) json["warnings"] = warnings;
    json["state_hash"] = outcome.hash ? nlohmann::ordered_json(hash_text(*outcome.hash)) : nlohmann::ordered_json();
    if (!outcome.means.means.empty()) json["means"] = means_json(outcome.means);
    if (!outcome.numbers.empty()) json["averages"] = numbers_json(outcome.numbers);
    if (!theory.empty()) json["theory"] = theory_json(theory);
    json["frames"] = outcome.frames;
    json["rows"] = outcome.rows;
    json["output"] = files.trajectory;
    json["checkpoint"] =
        outcome.checkpoint_time ? nlohmann::ordered_json(files.checkpoint) : nlohmann::ordered_json(nullptr);
    json["exit_status"] = outcome.signal != 0 ? 128 + outcome.signal : static_cast<int>(outcome.status);
    if (!outcome.error.empty()) json["error"] = outcome.error;
    // File names and messages may hold bytes that are no UTF-8.
    return json_text(json);
}

}  // namespace carom
