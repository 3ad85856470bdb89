#include "host/run/averages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>

#include "host/observables/frame_sampler.hpp"
#include "host/run/sample_plan.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr std::string_view kPrefix = "average ";  // of names in SolverState::extra
constexpr std::string_view kRows = "row means";
constexpr std::size_t kPlanNumbers = 4;
constexpr std::size_t kWorthThreads = 10000;  // balls

ObserveRequest request_of(const ObserveEntry& entry) {
    return {.name = entry.name,
            .kind = entry.kind,
            .species = entry.species,
            .threshold = entry.threshold,
            .with = entry.with,
            .axis = entry.axis,
            .bins = static_cast<std::size_t>(entry.bins),
            .max = entry.max,
            .region_min = entry.region_min,
            .region_max = entry.region_max,
            .from = entry.from};
}

const std::vector<double>* find(const SolverState& state, const std::string& name) {
    for (const auto& [key, values] : state.extra) {
        if (key == name) return &values;
    }
    return nullptr;
}

std::string key_of(const std::string& name) { return fmt::format("{}{}", kPrefix, name); }

/// The plan that the run started with: its defaults follow from the balls of the start, and from an end that may have
/// been moved since.
SamplePlan plan_of(const PreparedScene& run, const ObserveEntry& entry) {
    const std::vector<double>* saved = run.resumed ? find(run.state, key_of(entry.name)) : nullptr;
    if (saved == nullptr || saved->size() < kPlanNumbers) return sample_plan(run, entry);
    return {.every = (*saved)[0],
            .from = (*saved)[1],
            .burst = static_cast<std::uint64_t>((*saved)[2]),
            .period = static_cast<std::uint64_t>((*saved)[3])};
}

bool wall_moves_while_measured(const Scene& scene) {
    const auto moves = [](double velocity) { return velocity != 0.0; };
    if (scene.stages.empty()) return std::ranges::any_of(scene.walls, moves, &Wall::velocity);
    double begin = 0.0;
    for (const Stage& stage : scene.stages) {
        if (begin < scene.run.until && stage.measure && std::ranges::any_of(stage.wall_velocity, moves)) return true;
        begin = stage.until;
    }
    return false;
}

}  // namespace

Averages::Averages(const PreparedScene& run, const std::vector<ObservableInfo>& rows)
    : rows_(rows, run.scene.output.observables_every),
      averages_rows_(!rows.empty()),
      resumed_(run.resumed),
      threads_(run.threads > 0 ? run.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
    stages_.stages = run.scene.stages;
    wall_moves_ = wall_moves_while_measured(run.scene);
    for (const ObserveEntry& entry : run.scene.observables) {
        if (!is_average(entry.kind)) continue;
        if (!population_) {
            auto population = std::make_shared<Population>();
            population->table = run.state.balls.species_table;
            population->species = run.state.balls.species;
            masses_ = finite_masses(population->table);
            population_ = std::move(population);
        }
        const SamplePlan plan = plan_of(run, entry);
        const AverageContext context{.box = run.scene.box,
                                     .population = population_,
                                     .every = plan.every,
                                     .samples = plan.in_a_row(run.scene.run.until),
                                     .gravity = run.scene.physics.gravity};
        entries_.push_back({make_averager(request_of(entry), context), plan, nullptr});
    }
    if (resumed_) restore(run.state);
    for (const Entry& entry : entries_) infos_.push_back(entry.averager->info());
}

void Averages::restore(const SolverState& state) {
    try {
        for (Entry& entry : entries_) {
            const std::vector<double>* values = find(state, key_of(entry.averager->info().name));
            if (values == nullptr) continue;  // by a version that knew no averages
            SavedNumbers saved(*values);
            saved.next(kPlanNumbers);
            entry.averager->restore(saved);
            if (!saved.empty()) throw std::invalid_argument("saved averages are too long");
        }
        const std::vector<double>* values = find(state, key_of(std::string(kRows)));
        if (values != nullptr && averages_rows_) {
            SavedNumbers saved(*values);
            rows_.restore(saved);
        }
    } catch (const std::invalid_argument& error) {
        throw InputError(
            fmt::format("--resume: the checkpoint's averages are not those of its scene: {}", error.what()));
    }
}

std::vector<double> Averages::expected_samples(double until) const {
    std::vector<double> expected;
    for (const Entry& entry : entries_) {
        const std::vector<Stage>& stages = stages_.stages;
        double samples = stages.empty() ? entry.plan.samples_until(until) : 0.0;
        double before = 0.0;  // in the stages before
        for (std::size_t k = 0; k < stages.size(); ++k) {
            const double end = k + 1 < stages.size() ? std::min(stages[k].until, until) : until;
            const double so_far = entry.plan.samples_until(end);
            if (stages[k].measure) samples += so_far - before;
            before = so_far;
        }
        expected.push_back(samples);
    }
    return expected;
}

std::uint64_t Averages::most_bytes() const {
    // Of what is gathered there are three copies while a checkpoint is written, and a list that grows takes as much
    // again for a moment. Tables, values and errors, wait for the disk: one is made, one is being written, and one is
    // in the queue.
    constexpr std::uint64_t kCopies = 3;
    constexpr std::uint64_t kTables = 3;
    std::uint64_t numbers = 0;
    for (const Entry& entry : entries_) {
        const AverageInfo info = entry.averager->info();
        numbers += kCopies * entry.averager->most_numbers() + kTables * 2 * info.width();
    }
    return 8 * numbers;
}

void Averages::start(Solver& solver) {
    const auto reachable = [&solver](double time) { return solver.reachable_time(time); };
    for (Stage& stage : stages_.stages) stage.until = reachable(stage.until);
    spare_threads_ = std::max(0, threads_ - solver.describe().threads);
    const double after = resumed_ ? solver.time() : -1.0;
    for (Entry& entry : entries_) entry.schedule = std::make_unique<SampleSchedule>(entry.plan, after, reachable);
    std::vector<Averager*> watchers;
    std::vector<std::uint8_t> followed;
    for (const Entry& entry : entries_) {
        const std::span<const std::uint8_t> more = entry.averager->followed();
        if (more.empty()) continue;
        watchers.push_back(entry.averager.get());
        followed.resize(more.size());
        for (std::size_t id = 0; id < more.size(); ++id) followed[id] |= more[id];
    }
    if (!watchers.empty()) {
        const auto stage_at = [this](std::size_t stage, double time) {
            while (stage + 1 < stages_.stages.size() && time >= stages_.stages[stage].until) ++stage;
            return stage;
        };
        const auto enter = [this, watchers](std::size_t stage, bool begins) {
            if (stages_.stages.empty()) return;
            for (Averager* const watcher : watchers) watcher->enter_stage(stages_.stages[stage].gravity, begins);
        };
        // A state at the very end of a stage is saved before the next one begins.
        std::size_t now = 0;
        while (now + 1 < stages_.stages.size() && solver.time() > stages_.stages[now].until) ++now;
        enter(now, false);
        const auto watch = [watchers, stage_at, enter, stage = now](const LoggedImpact& hit) mutable {
            if (const std::size_t then = stage_at(stage, hit.time); then != stage) {
                stage = then;
                enter(stage, true);
            }
            for (Averager* const watcher : watchers) watcher->impact(hit);
        };
        solver.watch_impacts(watch, std::move(followed));
    }
    if (!resumed_) take(solver);
}

void Averages::add_row(bool due, const ObservableSet& observables, const ObservableRow& row, const Totals& totals,
                       const Tallies& tallies, const Frame* frame) {
    if (!stages_.measures(row.time)) {
        rows_.skip(row.time, tallies);
        return;
    }
    if (due || !resumed_) rows_.add(observables, row, totals, tallies, frame);
}

double Averages::next() const {
    double next = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries_) next = std::min(next, entry.schedule->next());
    return next;
}

void Averages::take(Solver& solver) {
    const double now = solver.time();
    if (next() > now) return;
    wait();
    std::optional<Tallies> tallies;
    std::optional<double> path_length;
    Totals totals;
    std::vector<Due> at_once;  // those that are told of impacts while the solver goes on, and know no other threads
    std::vector<Due> due;
    for (Entry& entry : entries_) {
        if (entry.schedule->next() > now) continue;
        (entry.averager->followed().empty() ? due : at_once).push_back({entry.averager.get(), entry.schedule->index()});
        entry.schedule->advance(now);
        if (begins_anew(entry.plan, now)) entry.averager->skip();
        if (entry.averager->needs_accounts()) {
            if (!tallies) {
                tallies = solver.tallies();
                if (!tallies->collisional_virial) totals = solver.totals();
            }
            if (entry.averager->needs_path_length() && !path_length) path_length = solver.path_length();
            entry.averager->account(
                {.time = now, .tallies = *tallies, .totals = totals, .path_length = path_length.value_or(0.0)});
        }
    }
    const bool measured = stages_.measures(now);
    const BallKinds kinds{.species = population_->species, .mass = masses_};
    if (BallSampler* const balls = solver.sample_balls(kinds)) {
        due.insert(due.end(), at_once.begin(), at_once.end());
        look(*balls, now, due, measured, 1);
        return;
    }
    solver.request_frame(frame_);
    const auto look_at_frame = [this, &solver, kinds, measured, now](const std::vector<Due>& at, int threads) {
        solver.finish_frame(frame_);
        FrameSampler balls(frame_, kinds);
        look(balls, now, at, measured, threads);
    };
    if (population_->species.size() >= kWorthThreads && spare_threads_ > 0) {
        if (!at_once.empty()) look_at_frame(at_once, threads_);
        if (due.empty()) return;
        looking_ = std::async(std::launch::async, [look_at_frame, due = std::move(due), threads = spare_threads_] {
            look_at_frame(due, threads);
        });
    } else {
        due.insert(due.end(), at_once.begin(), at_once.end());
        look_at_frame(due, population_->species.size() >= kWorthThreads ? threads_ : 1);
    }
}

void Averages::wait() {
    if (looking_.valid()) looking_.get();
}

/// Whether a sample is the first behind a stage that is not measured: not even one that no sample falls into may count.
bool Averages::begins_anew(const SamplePlan& plan, double now) const {
    return std::ranges::any_of(stages_.stages, [&](const Stage& stage) {
        return !stage.measure && stage.until < now && plan.samples_until(now) - plan.samples_until(stage.until) <= 1.0;
    });
}

/// Each gathers on its own, so which thread does it changes no bit.
void Averages::look(BallSampler& balls, double now, const std::vector<Due>& due, bool measured, int threads) {
    std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (due.size() > 1 && threads > 1)
    for (std::size_t k = 0; k < due.size(); ++k) {
        try {
            if (measured) {
                due[k].averager->add(balls, {.time = now, .index = due[k].index});
            } else {
                due[k].averager->skip();
            }
        } catch (...) {
#pragma omp critical(carom_averages)
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

std::vector<AverageTable> Averages::tables() {
    wait();
    std::vector<AverageTable> tables;
    for (const Entry& entry : entries_) tables.push_back(entry.averager->table());
    return tables;
}

std::vector<AveragedNumber> Averages::numbers() {
    wait();
    std::vector<AverageInfo> infos;
    std::vector<AverageTable> tables;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        if (number_names(infos_[k]).empty()) continue;
        infos.push_back(infos_[k]);
        tables.push_back(entries_[k].averager->table());
    }
    return averaged_numbers(infos, tables);
}

void Averages::save(SolverState& state) {
    wait();
    std::erase_if(state.extra, [](const auto& extra) { return extra.first.starts_with(kPrefix); });
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const SamplePlan& plan = entries_[k].plan;
        std::vector<double> out{plan.every, plan.from, static_cast<double>(plan.burst),
                                static_cast<double>(plan.period)};
        entries_[k].averager->save(out);
        state.extra.emplace_back(key_of(infos_[k].name), std::move(out));
    }
    std::vector<double> out;
    rows_.save(out);
    state.extra.emplace_back(key_of(std::string(kRows)), std::move(out));
}

std::optional<double> saved_row_interval(const SolverState& state) {
    const std::vector<double>* values = find(state, key_of(std::string(kRows)));
    if (values == nullptr || values->empty()) return std::nullopt;
    return RowStatistics::saved_interval(*values);
}

std::vector<AverageInfo> average_infos(const PreparedScene& run) { return Averages(run, {}).infos(); }

}  // namespace carom
