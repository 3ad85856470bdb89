#include "host/run/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "host/observables/frame_sampler.hpp"
#include "host/observables/registry.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "host/theory/gas_facts.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

std::vector<std::unique_ptr<Observable>> make_all(const Scene& scene, const ObservableContext& context) {
    auto all = default_observables(context);
    for (const ObserveEntry& entry : scene.observables) {
        if (is_average(entry.kind)) continue;
        all.push_back(make_observable(entry, context));
    }
    return all;
}

/// The balls at time 0 as the solver holds them: rounded to its own coordinates, so that a ball that rests has not
/// moved.
Balls balls_at_start(const PreparedScene& run, Solver& solver) {
    Frame frame;
    if (run.resumed_from.empty()) {
        solver.request_frame(frame);
        solver.finish_frame(frame);
        Balls balls = run.state.balls;
        balls.position = frame.position;
        balls.image = frame.image;  // a place may be rounded to beyond a face
        return balls;
    }
    // Nor are the files of [[load]] opened again, which a stranger's checkpoint may name.
    if (!run.scene.history.empty() || !run.scene.loads.empty()) {
        throw InputError(run.resumed_from +
                         ": cannot go on with observables of what was at the start, which is in no file: its run began "
                         "with the balls of " +
                         (run.scene.loads.empty() ? "another" : "a [[load]]"));
    }
    SolverState state;
    state.balls = make_balls(run.scene);
    const auto first = make_plan(run.scene, state, 1)->make_solver(state, "");
    first->request_frame(frame);
    first->finish_frame(frame);
    state.balls.position = frame.position;
    state.balls.image = frame.image;
    return std::move(state.balls);
}

}  // namespace

bool needs_start(const Scene& scene) {
    return std::ranges::any_of(scene.observables,
                               [](const ObserveEntry& entry) { return find_observable_kind(entry.kind).from_start; });
}

bool needs_all_balls(const Scene& scene) {
    return std::ranges::any_of(scene.observables, [](const ObserveEntry& entry) { return !is_average(entry.kind); });
}

namespace {

ObservableSet make_observables_of(const Scene& scene, const BallFigures& figures, const Balls& balls, std::size_t count,
                                  const Balls* start) {
    // The work of bodies is counted by the event-driven solver alone.
    const bool bodies_drive = figures.bodies_move && scene.run.solver == SolverKind::kEvents;
    return ObservableSet(make_all(scene, {.box = scene.box,
                                          .mean_radius = figures.mean_radius,
                                          .mass = figures.mobile_mass,
                                          .balls = count,
                                          .species = &balls,
                                          .start = start,
                                          .driven = scene.driven() || bodies_drive,
                                          .walls = scene.walls.size()}));
}

}  // namespace

ObservableSet make_observables(const PreparedScene& run, const Balls* start) {
    return make_observables_of(run.scene, run.figures, run.state.balls, run.state.ball_count(), start);
}

std::vector<ObservableInfo> observable_infos(const Scene& scene, const BallFigures& figures) {
    Balls nothing;
    nothing.dimension = scene.dimension();
    return make_observables_of(scene, figures, nothing, 0, &nothing).infos();
}

ObservableSet observables_of_run(const PreparedScene& run, Solver& solver) {
    if (!needs_start(run.scene)) return make_observables(run, nullptr);
    const Balls start = balls_at_start(run, solver);
    return make_observables(run, &start);
}

namespace {

constexpr double kSamples = 1000.0;  // of a run, at most
// Between two samples of all kinds, so that these cost a twentieth of the run; of fewer kinds as much less.
constexpr double kSteps = 4200.0;            // of the spring solver
constexpr double kMeanFreeTimes = 18.0;      // of the event-driven one
constexpr double kAllKinds = 19.0;           // that this was measured with
constexpr double kSecondsPerBall = 150e-9;   // of a sample of one kind
constexpr double kSecondsPerSample = 20e-6;  // of however few balls
constexpr double kSeconds = 0.5;             // of all samples, that nobody minds
constexpr double kPairs = 3.0;            // samples of pairs cost three times as much as others, and are as much rarer
constexpr double kPerMeanFreeTime = 4.0;  // samples of msd and of a velocity autocorrelation
constexpr std::uint64_t kBurst = 33;      // lags of 0 to 32
constexpr double kBursts = 4.0;           // in a run, at least, however much they cost
constexpr double kLeastSamples = 20.0;    // so many even if that costs up to kDearer times as much
constexpr double kDearer = 4.0;

}  // namespace

double mean_free_time(const PreparedScene& run) {
    const BallFigures& balls = run.figures;
    const int dimension = run.scene.dimension();
    if (balls.mobile < 2.0 || !(balls.kinetic > 0.0)) return 0.0;
    const double temperature = 2.0 * balls.kinetic / (dimension * balls.mobile);
    const double phi = std::min(run.figures.packing_fraction, largest_fluid_fraction(dimension));
    const double rate = collision_rate(dimension, hard_compressibility(dimension, phi), temperature,
                                       balls.mobile_mass / balls.mobile, 2.0 * balls.mobile_radius / balls.mobile);
    return rate > 0.0 ? 1.0 / rate : 0.0;
}

namespace {

/// When an average is sampled: as the scene says, or so that all averages together cost a twentieth of the run, or half
/// a second.
///
/// The default is the longer of run.until / 1000 and that: for `spring` 4200 / 19 steps for each average of the scene,
/// for `events` 18 / 19 mean free times (Enskog, at the density and temperature of the start; if nothing moves,
/// until / 1000 alone); of `gr` three times as long. `msd` and `vacf` look every quarter of a mean free time, if that
/// costs no more. If it does, `vacf`, which must, takes 33 samples so and pauses until those have cost no more than the
/// others, but at most a quarter of the time from observe.from to the end. In short runs all are taken more often, so
/// that there are 20, or up to four times as often. Intervals of `spring` are whole steps.
SamplePlan sample_plan(const PreparedScene& run, const ObserveEntry& entry) {
    const ObservableKind& kind = find_observable_kind(entry.kind);
    const double dt = run.plan->least_interval();  // 0: any time can be reached
    const auto whole_steps = [dt](double every) {
        return dt > 0.0 ? dt * std::max(1.0, std::round(every / dt)) : every;
    };
    SamplePlan plan{.every = 0.0, .from = entry.from};
    if (entry.every) {
        plan.every = whole_steps(*entry.every);
        return plan;
    }
    const double between_collisions = mean_free_time(run);
    const auto averages = static_cast<double>(
        std::ranges::count_if(run.scene.observables, [](const ObserveEntry& one) { return is_average(one.kind); }));
    const double share = averages / kAllKinds * (dt > 0.0 ? kSteps * dt : kMeanFreeTimes * between_collisions);
    const double seconds = kSecondsPerSample + kSecondsPerBall * static_cast<double>(run.state.ball_count());
    const double minded = averages * run.scene.run.until * seconds / kSeconds;
    const double affordable = std::min(share, minded);
    const double cost = kind.pairs ? kPairs : 1.0;
    plan.every = std::max(run.scene.run.until / kSamples, cost * affordable);
    const double length = run.scene.run.until - plan.from;  // of what is sampled
    if (length > 0.0) {
        plan.every = std::min(plan.every, std::max(length / kLeastSamples, cost * affordable / kDearer));
    }
    if (kind.looks != ObservableKind::Looks::kAsOthers && between_collisions > 0.0) {
        const double often = between_collisions / kPerMeanFreeTime;
        plan.every = std::min(plan.every, std::max(often, cost * affordable));
        if (often < plan.every && kind.looks == ObservableKind::Looks::kInBursts) {
            const double pauses = plan.every / often;
            plan.every = often;
            plan.burst = kBurst;
            const double affordable_period = std::ceil(static_cast<double>(kBurst) * std::max(1.0, pauses));
            const double several = std::max(static_cast<double>(kBurst), std::floor(length / (kBursts * often)));
            plan.period = static_cast<std::uint64_t>(std::min(affordable_period, several));
        }
    }
    if (!(plan.every > 0.0)) plan.every = 1.0;  // a run of no length
    plan.every = whole_steps(plan.every);
    return plan;
}

constexpr std::size_t kPlanNumbers = 4;
constexpr std::size_t kWorthThreads = 10000;  // balls

/// What was saved of the average of that name; null where there is none.
const std::vector<double>* find(const SolverState& state, const std::string& name) {
    for (const SavedAverage& saved : state.records.averages) {
        if (saved.name == name) return &saved.numbers;
    }
    return nullptr;
}

/// The plan that the run started with: its defaults follow from the balls of the start, and from an end that may have
/// been moved since.
SamplePlan plan_of(const PreparedScene& run, const ObserveEntry& entry) {
    if (run.resumed_from.empty()) return sample_plan(run, entry);
    const std::vector<double>* saved = find(run.state, entry.name);
    SamplePlan plan;
    if (saved == nullptr || saved->size() < kPlanNumbers) {
        plan = sample_plan(run, entry);
    } else {
        SavedNumbers numbers(*saved);
        plan = {.every = numbers.next(), .from = numbers.next()};
        plan.burst = numbers.next_count();
        plan.period = numbers.next_count();
    }
    constexpr double kMostSamples = 0x1p53;  // each has a number
    const bool timed = plan.every > 0.5 * run.plan->least_interval() && std::isfinite(plan.every) &&
                       std::isfinite(plan.from) && run.state.time / plan.every < kMostSamples;
    if (!timed || (plan.burst > 0 && plan.period < plan.burst)) {
        throw std::invalid_argument("the times of its samples make no sense");
    }
    return plan;
}

/// As of an average, the energy of all balls.
constexpr const char* kEnergy = "energy of all";

/// As of an average, the names of rows that neither the scene nor every run has, a number a letter.
constexpr const char* kOwnRows = "rows of one's own";

std::string own_rows(const Scene& scene, const std::vector<ObservableInfo>& rows) {
    std::string names;
    for (const ObservableInfo& row : rows) {
        const auto observed = std::ranges::find(scene.observables, row.name, &ObserveEntry::name);
        if (find_row_kind(row.name) != nullptr || observed != scene.observables.end()) continue;
        names += (names.empty() ? "" : ", ") + row.name;
        if (!row.components.empty()) names += fmt::format(" ({})", fmt::join(row.components, ", "));
    }
    return names;
}

std::string text_of(const std::vector<double>& letters) {
    std::string text;
    for (const double letter : letters) text += letter > 0.0 && letter < 256.0 ? static_cast<char>(letter) : '?';
    return text;
}

/// Under gravity such balls come to rest, which their rows show.
bool only_cools(const Scene& scene) {
    const bool falls = scene.physics.gravity != Vector3{} ||
                       std::ranges::any_of(scene.stages, [](const Stage& stage) { return stage.gravity != Vector3{}; });
    return loses_energy(scene) && !falls && scene.hottest_bath() == 0.0 && scene.fastest_wall() == 0.0;
}

/// Whether all the energy of the balls is their own: nobody gives or takes any, and there is none of height, whose zero
/// is as one likes.
bool is_isolated(const PreparedScene& run) {
    const Scene& scene = run.scene;
    if (scene.physics.gravity != Vector3{}) return false;
    const auto is_open = [](const auto& faces) { return std::ranges::count(faces, Face::kOpen) > 0; };
    return !scene.driven() && !run.figures.bodies_move && !loses_energy(scene) &&
           std::ranges::none_of(scene.box.faces, is_open);
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

RunAverages::RunAverages(const PreparedScene& run, const std::vector<ObservableInfo>& rows)
    : rows_(rows, run.scene.output.observables_every, is_isolated(run)),
      averages_rows_(!rows.empty()),
      own_rows_(own_rows(run.scene, rows)),
      resumed_(!run.resumed_from.empty()),
      threads_(run.threads > 0 ? run.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
    stages_.stages = run.scene.stages;
    stages_.physics.gravity = run.scene.physics.gravity;
    if (wall_moves_while_measured(run.scene)) never_settles_ = "a wall moves";
    if (only_cools(run.scene)) never_settles_ = "contacts take energy, and nothing gives any";
    try {
        make_averages(run);
        if (resumed_) restore(run);
    } catch (const std::invalid_argument& error) {
        if (!resumed_) throw;
        throw DamagedState(fmt::format("its averages are not those of its scene: {}", error.what()));
    }
    for (const Entry& entry : entries_) infos_.push_back(entry.average->info());
}

void RunAverages::make_averages(const PreparedScene& run) {
    for (const ObserveEntry& entry : run.scene.observables) {
        if (!is_average(entry.kind)) continue;
        if (!population_) {
            auto population = std::make_shared<Population>();
            population->table = run.state.balls.species_table;
            population->species = *run.species;
            masses_ = finite_masses(population->table);
            population_ = std::move(population);
        }
        const SamplePlan plan = plan_of(run, entry);
        const AverageContext context{
            .box = run.scene.box,
            .population = population_,
            .every = plan.every,
            .samples = plan.in_a_row(run.scene.run.until),
            .rms_speed = is_isolated(run) && run.scene.walls.empty() ? run.figures.rms_speed : 0.0};
        if (find_observable_kind(entry.kind).has_energy && !energy_ && is_isolated(run) &&
            run.scene.run.solver == SolverKind::kSpring) {
            energy_.emplace(1, BatchSeries::kMostBatches);
            energy_with_ = entries_.size();
        }
        entries_.push_back({make_average(entry, context), plan, nullptr});
    }
}

void RunAverages::restore(const PreparedScene& run) {
    const SolverState& state = run.state;
    for (Entry& entry : entries_) {
        const std::vector<double>* values = find(state, entry.average->info().name);
        if (values == nullptr) continue;  // by a version that knew no averages
        SavedNumbers saved(*values);
        saved.next(kPlanNumbers);
        entry.average->restore(saved);
        if (!saved.empty()) throw std::invalid_argument("saved averages are too long");
    }
    if (const std::vector<double>* const values = find(state, kEnergy); values != nullptr && energy_) {
        SavedNumbers saved(*values);
        energy_->restore(saved);
    }
    if (!state.records.row_means.empty() && averages_rows_) {
        SavedNumbers saved(state.records.row_means);
        const std::vector<double>* const letters = find(state, kOwnRows);  // null: by a version that did not tell
        const std::string own = letters != nullptr ? text_of(*letters) : own_rows_;
        if (own != own_rows_) {
            const auto shown = [](const std::string& names) { return names.empty() ? "none" : visible(names); };
            other_rows_ = fmt::format("its rows had these observables of one's own: {}; now they have: {}", shown(own),
                                      shown(own_rows_));
        }
        rows_.restore(saved, 2 * static_cast<std::size_t>(run.scene.dimension()), own == own_rows_);
    }
}

std::vector<double> RunAverages::expected_samples(double until) const {
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

std::uint64_t RunAverages::most_bytes() const {
    // Of what is gathered there are three copies while a checkpoint is written, and a list that grows takes as much
    // again for a moment. Tables, values and errors, wait for the disk: one is made, one is being written, and one is
    // in the queue.
    constexpr std::uint64_t kCopies = 3;
    constexpr std::uint64_t kTables = 3;
    std::uint64_t numbers = 0;
    for (const Entry& entry : entries_) {
        const AverageInfo info = entry.average->info();
        numbers += kCopies * entry.average->most_numbers() + kTables * 2 * info.width();
    }
    return 8 * numbers;
}

void RunAverages::start(Solver& solver) {
    half_done_.change([&] {
        begin(solver);
        if (!resumed_) take(solver);
    });
}

void RunAverages::begin(Solver& solver) {
    const auto reachable = [&solver](double time) { return solver.reachable_time(time); };
    for (Stage& stage : stages_.stages) stage.until = reachable(stage.until);
    spare_threads_ = std::max(0, threads_ - solver.describe().threads);
    const double after = resumed_ ? solver.time() : -1.0;
    for (Entry& entry : entries_) entry.schedule = std::make_unique<SampleSchedule>(entry.plan, after, reachable);
    watch(solver);
}

/// Those that follow impacts are told of them from now on.
void RunAverages::watch(Solver& solver) {
    std::vector<Average*> watchers;
    std::vector<std::uint8_t> followed;
    for (const Entry& entry : entries_) {
        const std::span<const std::uint8_t> more = entry.average->followed();
        if (more.empty()) continue;
        watchers.push_back(entry.average.get());
        followed.resize(more.size());
        for (std::size_t id = 0; id < more.size(); ++id) followed[id] |= more[id];
    }
    if (watchers.empty()) return;
    std::vector<GravityUntil> gravity;
    for (const Stage& stage : stages_.stages) gravity.push_back({stage.until, stage.gravity});
    if (gravity.empty()) gravity.push_back({.gravity = stages_.physics.gravity});
    for (Average* const watcher : watchers) watcher->fly_under(gravity);
    const auto watch = [watchers](const LoggedImpact& hit) {
        for (Average* const watcher : watchers) watcher->impact(hit);
    };
    if (auto* const impacts = dynamic_cast<ImpactSource*>(&solver.itself()))
        impacts->watch_impacts(watch, std::move(followed));
}

void RunAverages::change(Solver& solver, const std::function<const Scene&()>& change) {
    wait();
    const Scene& scene = change();
    half_done_.change([&] {
        stages_.stages = scene.stages;
        stages_.physics.gravity = scene.physics.gravity;
        for (Stage& stage : stages_.stages) stage.until = solver.reachable_time(stage.until);
        for (const Entry& entry : entries_) {
            entry.schedule->renew(solver.time());
            entry.average->interrupt();
        }
        watch(solver);
    });
}

void RunAverages::add_row(bool due, const ObservableSet& observables, const ObservableRow& row, const Totals& totals,
                          const Tallies& tallies, const Frame* frame) {
    half_done_.change([&] {
        if (!due && resumed_) return;  // a run that was not stopped has no such row
        if (stages_.measures(rows_.previous_time(), row.time)) {
            rows_.add(observables, row, totals, tallies, frame);
        } else {
            rows_.skip(row.time, tallies);
        }
    });
}

double RunAverages::next() const {
    double next = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries_) next = std::min(next, entry.schedule->next());
    return next;
}

void RunAverages::take(Solver& solver) {
    const double now = solver.time();
    if (next() > now) return;
    wait();
    half_done_.change([&] { sample(solver); });
}

/// What a sampler of the solver's balls is to know of them.
BallKinds RunAverages::kinds_for(Solver& solver) {
    BallKinds kinds{.mass = masses_};
    if (parts_of(solver) != nullptr) {
        kinds.stretches = [population = population_](const BallKinds::Take& take) {
            population->species.for_each_stretch(take);
        };
        return kinds;
    }
    if (rows_of_species_.empty()) rows_of_species_ = population_->species.rows();
    kinds.species = rows_of_species_;
    return kinds;
}

void RunAverages::sample(Solver& solver) {
    const double now = solver.time();
    const bool measured = stages_.measures(now);
    std::optional<Tallies> tallies;
    std::optional<Totals> totals;
    const auto totals_now = [&]() -> const Totals& {
        if (!totals) totals = solver.totals();
        return *totals;
    };
    if (energy_ && measured && entries_[energy_with_].schedule->next() <= now) {
        const double energy = totals_now().energy();
        energy_->add({&energy, 1});
    }
    std::vector<Due> at_once;  // those that are told of impacts while the solver goes on, and know no other threads
    std::vector<Due> due;
    for (Entry& entry : entries_) {
        if (entry.schedule->next() > now) continue;
        (entry.average->followed().empty() ? due : at_once).push_back({entry.average.get(), entry.schedule->index()});
        entry.schedule->advance(now);
        if (begins_anew(entry.plan, now)) entry.average->skip();
        if (entry.average->needs_accounts()) {
            if (!tallies) tallies = solver.tallies();
            const auto* const impacts =
                entry.average->needs_path_length() ? dynamic_cast<const ImpactSource*>(&solver.itself()) : nullptr;
            entry.average->account({.time = now,
                                    .tallies = *tallies,
                                    .totals = tallies->collisional_virial ? Totals{} : totals_now(),
                                    .path_length = impacts != nullptr ? impacts->path_length() : 0.0});
        }
    }
    const BallKinds kinds = kinds_for(solver);
    auto* const in_place = dynamic_cast<BallsInPlace*>(&solver.itself());
    if (BallSampler* const balls = in_place != nullptr ? in_place->sample_balls(kinds) : nullptr) {
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

void RunAverages::wait() {
    if (looking_.valid()) half_done_.change([this] { looking_.get(); });
}

/// Whether a sample is the first behind a stage that is not measured: not even one that no sample falls into may count.
bool RunAverages::begins_anew(const SamplePlan& plan, double now) const {
    return std::ranges::any_of(stages_.stages, [&](const Stage& stage) {
        return !stage.measure && stage.until < now && plan.samples_until(now) - plan.samples_until(stage.until) <= 1.0;
    });
}

/// Each gathers on its own, so which thread does it changes no bit.
void RunAverages::look(BallSampler& balls, double now, const std::vector<Due>& due, bool measured, int threads) {
    std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (due.size() > 1 && threads > 1)
    for (std::size_t k = 0; k < due.size(); ++k) {
        try {
            if (measured) {
                due[k].average->add(balls, {.time = now, .index = due[k].index});
            } else {
                due[k].average->skip();
            }
        } catch (...) {
#pragma omp critical(carom_averages)
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// With what no series of samples shows: the walk of the energy that steps make.
AverageTable RunAverages::table_of(const Entry& entry) const {
    AverageTable table = entry.average->table();
    if (!find_observable_kind(entry.average->info().kind).has_energy) return table;
    if (!energy_ || energy_->batches() == 0) return table;
    const SamplePlan& with = entries_[energy_with_].plan;
    const double length = with.every * static_cast<double>(energy_->batch_samples());
    const auto from = static_cast<std::size_t>(std::max(0.0, (entry.plan.from - with.from) / length));
    const double walk = energy_walk(*energy_, 0, std::min(from, energy_->batches() - 1), with.from / length);
    for (std::size_t k = 0; k < table.errors.size(); ++k) {
        table.errors[k] = std::hypot(table.errors[k], walk * table.values[k]);
    }
    return table;
}

std::vector<AverageTable> RunAverages::tables() {
    wait();
    std::vector<AverageTable> tables;
    for (const Entry& entry : entries_) tables.push_back(table_of(entry));
    return tables;
}

std::vector<AveragedNumber> RunAverages::numbers() {
    wait();
    std::vector<AverageInfo> infos;
    std::vector<AverageTable> tables;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        if (number_names(infos_[k]).empty()) continue;
        infos.push_back(infos_[k]);
        tables.push_back(table_of(entries_[k]));
    }
    return averaged_numbers(infos, tables);
}

void RunAverages::save(SolverState& state) {
    wait();
    half_done_.require_none("what averages hold");
    state.records.averages.clear();
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const SamplePlan& plan = entries_[k].plan;
        std::vector<double> out{plan.every, plan.from, static_cast<double>(plan.burst),
                                static_cast<double>(plan.period)};
        entries_[k].average->save(out);
        state.records.averages.push_back({infos_[k].name, std::move(out)});
    }
    std::vector<double> letters;
    for (const char letter : own_rows_) letters.push_back(static_cast<unsigned char>(letter));
    state.records.averages.push_back({kOwnRows, std::move(letters)});
    if (energy_) {
        std::vector<double> out;
        energy_->save(out);
        state.records.averages.push_back({kEnergy, std::move(out)});
    }
    state.records.row_means.clear();
    rows_.save(state.records.row_means);
}

std::optional<double> saved_row_interval(const SolverState& state) {
    if (state.records.row_means.empty()) return std::nullopt;
    return RowSeries::saved_interval(state.records.row_means);
}

std::string sampling_text(const PreparedScene& run) {
    const double rows = run.scene.output.observables_every;
    const std::string unit = run.scene.units.behind("s");
    std::string text = rows > 0.0 ? fmt::format("a row every {:.6g}{}", rows, unit) : "rows at the ends";
    for (const AverageInfo& info : average_infos(run)) {
        text += fmt::format(", a sample of {} every {:.4g}{}", info.name, info.every, unit);
    }
    return text;
}

std::vector<AverageInfo> average_infos(const PreparedScene& run) { return RunAverages(run, {}).infos(); }

}  // namespace carom
