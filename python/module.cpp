// What Python sees of scenes and runs: as little as the package carom (python/carom) needs to say the rest in Python.

#include <cxxabi.h>
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "carom_build_info.hpp"
#include "host/io/ball_files.hpp"
#include "host/io/replacement.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/run/prepare.hpp"
#include "host/run/say.hpp"
#include "host/run/schedule.hpp"
#include "host/run/simulate.hpp"
#include "host/scene/faults.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "python/frame.hpp"

namespace py = pybind11;

namespace carom::python {

namespace {

/// A scene is wrong: all that is, line by line.
class WrongScene : public InputError {
public:
    explicit WrongScene(std::vector<std::string> lines) : InputError(lines.at(0)), lines_(std::move(lines)) {}
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    std::vector<std::string> lines_;
};

/// Does what reads a scene, while other threads of Python go on.
template <class Action>
auto with_scene_errors(const Action& action) {
    try {
        return action();
    } catch (const SceneErrors& errors) {
        throw WrongScene(errors.lines());
    } catch (const InputError& error) {
        throw WrongScene({error.what()});
    }
}

template <class Action>
auto reading_scene(const Action& action) {
    const OthersMayRun others;
    return with_scene_errors(action);
}

/// Does what may wait for another process, while other threads of Python go on. A signal ends it as Python wants it.
template <class Action>
auto waiting(const Action& action) {
    try {
        const OthersMayRun others;
        return action();
    } catch (const SystemError&) {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        throw;
    }
}

/// \throws std::runtime_error  it has been used up by a run
void require_unused(const PreparedScene& prepared) {
    if (prepared.plan == nullptr) throw std::runtime_error("the scene that was prepared has been run already");
}

/// Errors become the classes of carom.errors, which know what to make of their words: the line of the command line.
void raise(const char* name, const py::object& what) {
    const py::object type = py::module_::import("carom.errors").attr(name);
    PyErr_SetObject(type.ptr(), type(what).ptr());
}

/// What would break a line, as visible() shows it. Names of files stay what they are, to the byte: see InputError.file.
py::object line_of(std::string_view text) {
    std::string line;
    for (const char letter : text) {
        const bool control = static_cast<unsigned char>(letter) < 0x20;
        line += control ? visible(std::string_view(&letter, 1)) : std::string(1, letter);
    }
    return text_of(line);
}

void translate(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const WrongScene& error) {
        py::list lines;
        for (const std::string& line : error.lines()) lines.append(line_of(line));
        raise("SceneError", lines);
    } catch (const InputError& error) {
        py::list lines;
        lines.append(line_of(error.what()));
        raise("InputError", lines);
    } catch (const SimulationError& error) {
        raise("SimulationError", line_of(error.what()));
    } catch (const SystemError& error) {
        raise("SystemError", line_of(error.what()));
    }
}

/// What a run has written, for those who ask while it goes on or afterwards.
class KeptOutput final : public RunSink {
public:
    explicit KeptOutput(bool keeps_frames) : keeps_frames_(keeps_frames) {}

    struct KeptFrame {
        std::shared_ptr<const Frame> frame;
        std::vector<AverageTable> averages;  ///< as of then
    };

    void write_frame(const Frame& frame) override {
        if (keeps_frames_) frames.push_back({std::make_shared<const Frame>(frame), averages_});
    }
    void write_row(const ObservableRow& row) override { rows.push_back(row); }
    void write_averages(const std::vector<AverageTable>& tables) override {
        if (keeps_frames_) averages_ = tables;
    }
    bool write_checkpoint(SolverState& /*state*/) override { return false; }

    std::vector<KeptFrame> frames;
    std::vector<ObservableRow> rows;

private:
    bool keeps_frames_;
    std::vector<AverageTable> averages_;  // of the frame that follows
};

/// Calls Python's code in a thread that it did not begin in. Once the interpreter ends, Python ends a thread that asks
/// for its lock within such code, by an unwinding that would leave here through our objects without the lock: it stays
/// for good instead, as in OthersMayRun.
/// \param call  has no objects of its own
template <class Call>
auto in_python(const Call& call) {
    try {
        return call();
    } catch (const abi::__forced_unwind&) {
        for (;;) ::pause();
    }
}

/// A function of a frame, a number or several. What goes wrong in it leaves the run as it is, with NaN in the row, and
/// is told when the run stops.
class PythonObservable final : public Observable {
public:
    PythonObservable(ObservableInfo info, py::function function, std::shared_ptr<const FrameContext> context)
        : info_(std::move(info)), function_(std::move(function)), context_(std::move(context)) {}
    ~PythonObservable() override {
        const PythonAgain mine;
        function_ = {};
        error_.reset();
    }

    [[nodiscard]] ObservableInfo info() const override { return info_; }
    [[nodiscard]] bool needs_frame() const override { return true; }
    /// A row is asked for again where means are taken over several.
    void evaluate(const Sample& sample, std::span<double> values) const override {
        if (values_.empty() || sample.time != time_ || sample.step != step_) ask(sample);
        std::copy(values_.begin(), values_.end(), values.begin());
    }
    /// The GIL must be held. What went wrong since the last time; null if nothing did.
    [[nodiscard]] std::optional<py::error_already_set> take_error() const { return std::exchange(error_, {}); }

    [[nodiscard]] const py::object& function() const { return function_; }
    /// Rows have NaN from then on.
    void drop_function() { function_ = {}; }

private:
    void ask(const Sample& sample) const {
        time_ = sample.time;
        step_ = sample.step;
        values_.assign(info_.width(), std::numeric_limits<double>::quiet_NaN());
        const PythonAgain mine;
        if (error_ || !function_) return;
        call(sample);
        if (!error_ || !error_->matches(PyExc_KeyboardInterrupt)) return;
        // Ctrl-C stops the run where it is, and leaves no hole in a row: the function is called once more.
        const auto stop = take_error();
        call(sample);
        if (!error_) error_.emplace(*stop);
    }

    void call(const Sample& sample) const {
        try {
            const py::object frame = py::cast(FrameView{context_, std::make_shared<const Frame>(*sample.frame)});
            auto given = py::reinterpret_steal<py::object>(
                in_python([&] { return PyObject_CallOneArg(function_.ptr(), frame.ptr()); }));
            if (!given) throw py::error_already_set();
            leave_if_forked();
            if (py::hasattr(given, "filled")) {  // below a mask of NumPy lies anything
                given = given.attr("astype")("f8").attr("filled")(std::numeric_limits<double>::quiet_NaN());
            }
            using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
            const auto numbers = in_python([&] { return Numbers::ensure(given); });
            if (!numbers || given.is_none()) throw py::type_error(info_.name + " gives no number");
            if (numbers.ndim() > 1 || numbers.size() != static_cast<py::ssize_t>(values_.size()) ||
                (numbers.ndim() == 1) == info_.components.empty()) {
                throw py::value_error(fmt::format(
                    "{} gives an array of {} axes and {} numbers, and not {}", info_.name, numbers.ndim(),
                    numbers.size(), info_.components.empty() ? "a number" : fmt::format("{}", values_.size())));
            }
            std::copy(numbers.data(), numbers.data() + numbers.size(), values_.begin());
        } catch (py::error_already_set& error) {
            leave_if_forked();
            error_.emplace(error);
        } catch (const py::builtin_exception& error) {
            error.set_error();
            error_.emplace();
        }
    }

    /// The function was called in the middle of a run, whose threads the child of a fork does not have: there is no way
    /// back to Python for it.
    void leave_if_forked() const {
        if (getpid() == process_) return;
        say_to(stderr,
               fmt::format("carom: a process that was forked within {} cannot go on with the run\n", info_.name));
        _exit(1);
    }

    ObservableInfo info_;
    py::object function_;
    std::shared_ptr<const FrameContext> context_;
    pid_t process_ = getpid();
    mutable double time_ = 0.0;
    mutable std::uint64_t step_ = 0;
    mutable std::vector<double> values_;  // of that row; none before the first
    mutable std::optional<py::error_already_set> error_;
};

/// Name, unit, label and components of an observable, and the function that gives its values.
using GivenObservable = std::tuple<std::string, std::string, std::string, std::vector<std::string>, py::function>;

/// A run, for one thread at a time.
class PythonRun {
public:
    /// \param prepared  is used up
    PythonRun(PreparedScene& prepared, SimulateOptions options, const std::vector<GivenObservable>& observables,
              bool keep_frames)
        : context_(std::make_shared<FrameContext>(FrameContext{prepared.scene.box, prepared.state.balls.species_table,
                                                               prepared.state.balls.species, prepared.scene.source,
                                                               prepared.scene.path})),
          kept_(std::make_unique<KeptOutput>(keep_frames)) {
        for (const auto& [name, unit, label, components, function] : observables) {
            observables_.push_back(std::make_shared<PythonObservable>(
                ObservableInfo{.name = name, .unit = unit, .label = label, .components = components}, function,
                context_));
        }
        options.observables.assign(observables_.begin(), observables_.end());
        begin(prepared, std::move(options));
    }

    void begin(PreparedScene& prepared, SimulateOptions options) {
        options.also = kept_.get();
        options.quiet = true;
        options.changeable = true;
        options.same_observables = true;
        waiting([&] {
            run_ = std::make_unique<SimulationRun>(std::move(prepared), options);
            if (!observables_.empty()) try_observables();
        });
        tell_errors();
        waiting([&] { loop_ = &run_->begin(); });  // for the other end of an events log, where that is a pipe
        note_scene();
    }

    /// What goes wrong in them at once shall not cost an older file. They remember what they give for the first row.
    void try_observables() {
        Solver& solver = run_->solver();
        const Totals totals;
        const Tallies tallies;
        Frame frame;
        solver.request_frame(frame);
        solver.finish_frame(frame);
        for (const auto& observable : observables_) {
            std::vector<double> values(observable->info().width());
            observable->evaluate(
                {.time = solver.time(), .step = solver.step(), .totals = totals, .tallies = tallies, .frame = &frame},
                values);
        }
    }

    /// A run that nobody ended ends where it is; in the child of a fork it is none of ours.
    ~PythonRun() {
        if (getpid() != process_) {
            static_cast<void>(run_.release());
            static_cast<void>(kept_.release());
            return;
        }
        end_unseen();
    }
    void end_unseen() {
        if (summary_ || getpid() != process_) return;
        summary_.emplace();
        try {
            summary_ = run_->finish().json;
        } catch (const std::exception&) {
            // Nobody is left to tell.
        }
    }
    PythonRun(const PythonRun&) = delete;
    PythonRun& operator=(const PythonRun&) = delete;

    /// Goes on to a time, and ends the run where that is its end. Ctrl-C leaves it where it is.
    void advance(double until) {
        const auto used = use();
        // A time whose nearest step is the present one has been reached.
        const auto is_past = [&] {
            return until < time() && (until < 0.0 || run_->solver().reachable_time(until) < time());
        };
        if (!std::isfinite(until) || is_past()) {
            throw py::value_error(py::str("until is {!r}; it must be a time from {!r} on").format(until, time()));
        }
        const double goal = run_->solver().reachable_time(until);
        if (goal > loop_->end()) {
            throw py::value_error(
                py::str("until is {!r}, and the run ends at run.until = {!r}").format(until, run_->scene().run.until));
        }
        require_open();
        for (bool there = false; !there;) {
            {
                const OthersMayRun others;
                there = loop_->advance(goal);
            }
            note_place();
            tell_errors();
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        }
        if (loop_->failed() || run_->solver().time() >= loop_->end()) end();
    }

    void close() {
        const auto used = use();
        if (!summary_) return end();
        tell_errors();
    }

    /// What there is of the run up to now is in its files when this returns.
    void flush_files() {
        const auto used = use();
        const OthersMayRun others;
        run_->flush();
    }

    /// What there is of the run up to now, as a trajectory: the frames that are in memory, each with the averages as of
    /// then, and the present one.
    void store(const FileName& path) {
        const auto used = use();
        const OthersMayRun others;
        loop_->flush();
        std::vector<KeptOutput::KeptFrame> frames = kept_->frames;
        // A device that has failed has none.
        if (frames.empty() || (!loop_->failed() && frames.back().frame->time < run_->solver().time())) {
            const auto frame = std::make_shared<Frame>();
            run_->solver().request_frame(*frame);
            run_->solver().finish_frame(*frame);
            frames.push_back({frame, run_->averages().tables()});
        }
        TrajectoryWriter writer(path.bytes, run_->header(balls_of(*context_, frames[0].frame->dimension)), true);
        for (const ObservableRow& row : kept_->rows) writer.append_row(row);
        for (const auto& [frame, averages] : frames) {
            writer.append_averages(averages);
            writer.append(*frame);
        }
        for (const auto& [time, step, what] : changes_) writer.append_change({time, step, what});
        if (summary_) writer.close(*summary_);
    }

    [[nodiscard]] double time() const { return time_; }
    [[nodiscard]] double end_time() const { return end_; }
    [[nodiscard]] double reachable_time(double time) {
        const auto used = use();
        return run_->solver().reachable_time(time);
    }
    [[nodiscard]] double time_of_step(std::uint64_t step) {
        const auto used = use();
        return run_->time_of_step(step);
    }
    [[nodiscard]] std::uint64_t step() const { return step_; }
    [[nodiscard]] const std::optional<std::string>& summary() const { return summary_; }
    [[nodiscard]] int dimension() const { return context_->box.dimension; }
    [[nodiscard]] const std::string& source() const { return source_; }

    Totals totals() {
        const auto used = use();
        return run_->solver().totals();
    }

    FrameView frame() {
        const auto used = use();
        const OthersMayRun others;
        const auto frame = std::make_shared<Frame>();
        Solver& solver = run_->solver();
        solver.request_frame(*frame);
        solver.finish_frame(*frame);
        return {context_, frame};
    }

    DeviceFrameView device_frame() {
        const auto used = use();
        const OthersMayRun others;
        Solver& solver = run_->solver();
        DeviceFrameView view{.time = solver.time(), .step = solver.step(), .frame = nullptr};
        if (auto* const in_place = dynamic_cast<BallsInPlace*>(&solver.itself())) view.frame = in_place->device_frame();
        if (view.frame != nullptr) return view;
        Frame frame;
        solver.request_frame(frame);
        solver.finish_frame(frame);
        view.frame = copy_on_host(frame, solver.describe().precision == "single");
        return view;
    }

    /// Names, widths and components of the columns; times; steps; values, row by row.
    py::tuple rows() {
        const auto used = use();
        flush();
        std::vector<double> times;
        std::vector<std::uint64_t> steps;
        std::vector<double> values;
        for (const ObservableRow& row : kept_->rows) {
            times.push_back(row.time);
            steps.push_back(row.step);
            values.insert(values.end(), row.values.begin(), row.values.end());
        }
        return py::make_tuple(run_->infos(), array_of(std::move(times)), array_of(std::move(steps)),
                              array_of(std::move(values)));
    }

    std::vector<FrameView> frames() {
        const auto used = use();
        flush();
        std::vector<FrameView> views;
        for (const KeptOutput::KeptFrame& kept : kept_->frames) views.push_back({context_, kept.frame});
        return views;
    }

    std::vector<std::pair<AverageInfo, AverageTable>> averages() {
        const auto used = use();
        const OthersMayRun others;
        std::vector<AverageTable> tables = run_->averages().tables();
        std::vector<std::pair<AverageInfo, AverageTable>> all;
        for (std::size_t k = 0; k < tables.size(); ++k) {
            all.emplace_back(run_->averages().infos()[k], std::move(tables[k]));
        }
        return all;
    }

    void kick(std::size_t ball, const std::vector<double>& velocity, bool add) {
        Kick kick{.id = ball, .add = add};
        if (velocity.size() > kick.velocity.size()) throw py::value_error("velocity has more than three components");
        std::copy(velocity.begin(), velocity.end(), kick.velocity.begin());
        change([&](ChangingSolver& solver) { return std::vector{solver.kick(kick)}; });
    }

    /// \param velocity  balls by axes
    void set_velocities(const py::array_t<double, py::array::f_style | py::array::forcecast>& velocity) {
        ChangingSolver::Columns columns;
        if (velocity.ndim() != 2 || velocity.shape(1) > static_cast<py::ssize_t>(columns.size())) {
            throw py::value_error("velocities must have a row a ball, of three numbers at most");
        }
        for (py::ssize_t axis = 0; axis < velocity.shape(1); ++axis) {
            if (velocity.shape(0) == 0) break;
            const double* const begin = velocity.data(0, axis);
            columns[static_cast<std::size_t>(axis)].assign(begin, begin + velocity.shape(0));
        }
        change([&](ChangingSolver& solver) {
            solver.set_velocities(columns);
            return std::vector{fmt::format("velocities of {} balls set", columns[0].size())};
        });
    }

    /// \returns  what to beware of
    std::string change_keys(const std::vector<std::string>& asked) {
        std::string beware;
        change([&](ChangingSolver& solver) {
            beware = with_scene_errors([&] { return solver.change(asked); });
            return asked;
        });
        return beware;
    }

    /// Time, step and words of each change: a copy, for while Python makes its list others may come.
    [[nodiscard]] std::vector<std::tuple<double, std::uint64_t, std::string>> changes() const { return changes_; }

    void save(const FileName& path) {
        const auto used = use();
        require_open();
        const OthersMayRun others;
        run_->save(path.bytes);
    }

    [[nodiscard]] const std::vector<std::shared_ptr<PythonObservable>>& observables() const { return observables_; }

private:
    /// \param what  as SimulationRun::change takes it
    template <class Change>
    void change(const Change& what) {
        const auto used = use();
        require_open();
        {
            const OthersMayRun others;
            run_->change([&](ChangingSolver& solver) {
                std::vector<std::string> said = what(solver);
                const PythonAgain mine;  // others look at them
                for (const std::string& one : said) changes_.emplace_back(solver.time(), solver.step(), one);
                return said;
            });
        }
        note_scene();
    }

    /// While it lives nobody else uses the run.
    class Use {
    public:
        explicit Use(PythonRun& run) : run_(run) {
            if (getpid() != run.process_) {
                throw std::runtime_error("the run belongs to the process that made it, and does not outlive a fork");
            }
            if (run.used_.exchange(true)) throw std::runtime_error("the run is in use by another thread");
        }
        ~Use() { run_.used_ = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        PythonRun& run_;
    };
    [[nodiscard]] Use use() { return Use(*this); }

    /// What went wrong in observables of Python.
    void tell_errors() const {
        for (const auto& observable : observables_) {
            if (auto error = observable->take_error()) throw py::error_already_set(*error);
        }
    }

    void require_open() const {
        if (summary_) throw std::runtime_error("the run has ended");
    }

    /// What others may ask for at any moment.
    void note_place() {
        time_ = run_->solver().time();
        step_ = run_->solver().step();
    }
    void note_scene() {
        note_place();
        end_ = loop_->end();
        source_ = run_->scene().source;
    }

    void flush() {
        const OthersMayRun others;
        loop_->flush();
    }

    void end() {
        Simulation simulation;
        {
            const OthersMayRun others;
            simulation = run_->finish();
        }
        summary_ = std::move(simulation.json);
        // All that has failed up to now, where nobody has been told: rows and frames let a full disk pass.
        const RunOutcome& outcome = simulation.outcome;
        if (outcome.status == ExitStatus::kCannotContinue) throw SimulationError(outcome.error);
        if (outcome.status == ExitStatus::kSystemFailure) throw SystemError(outcome.error);
        tell_errors();
    }

    std::shared_ptr<const FrameContext> context_;
    std::unique_ptr<KeptOutput> kept_;
    std::vector<std::shared_ptr<PythonObservable>> observables_;
    std::unique_ptr<SimulationRun> run_;
    RunLoop* loop_ = nullptr;
    std::vector<std::tuple<double, std::uint64_t, std::string>> changes_;
    std::optional<std::string> summary_;  // once it has ended
    std::atomic<bool> used_ = false;
    std::atomic<double> time_ = 0.0;
    std::atomic<std::uint64_t> step_ = 0;
    double end_ = 0.0;
    std::string source_;
    const pid_t process_ = getpid();
};

template <std::size_t Size>
py::tuple tuple_of(const std::array<double, Size>& values) {
    py::tuple tuple(Size);
    for (std::size_t k = 0; k < Size; ++k) tuple[k] = values[k];
    return tuple;
}

void define_numbers(py::module_& module) {
    py::class_<Totals>(module, "Totals", "Sums over all balls at one time.")
        .def_readonly("kinetic", &Totals::kinetic, "translational kinetic energy")
        .def_readonly("rotational", &Totals::rotational, "energy of spins")
        .def_readonly("spring", &Totals::spring, "energy stored in contacts")
        .def_readonly("gravitational", &Totals::gravitational, "energy of heights above the box's lower corner")
        .def_property_readonly("energy", &Totals::energy, "all of these together")
        .def_property_readonly("momentum", [](const Totals& totals) { return tuple_of(totals.momentum); })
        .def_property_readonly("angular_momentum",
                               [](const Totals& totals) { return tuple_of(totals.angular_momentum); })
        .def_readonly("virial", &Totals::virial)
        .def_readonly("contacts", &Totals::contacts, "pairs that touch")
        .def_readonly("wall_contacts", &Totals::wall_contacts)
        .def_readonly("overlap", &Totals::overlap, "the largest, as a fraction of the smaller radius")
        .def_readonly("speed", &Totals::speed, "the largest")
        .def_readonly("balls", &Totals::balls, "balls still in the box")
        .def_readonly("mobile", &Totals::mobile, "of these, with finite mass")
        .def("__repr__", [](const Totals& totals) {
            return py::str("Totals(energy={!r}, kinetic={!r}, contacts={}, balls={})")
                .format(totals.energy(), totals.kinetic, totals.contacts, totals.balls);
        });
    py::class_<ObservableInfo>(module, "ObservableInfo", "What a column of rows is.")
        .def_readonly("name", &ObservableInfo::name)
        .def_readonly("unit", &ObservableInfo::unit)
        .def_readonly("label", &ObservableInfo::label)
        .def_readonly("components", &ObservableInfo::components);
    py::class_<AverageInfo>(module, "AverageInfo", "What an average over a run is.")
        .def_readonly("name", &AverageInfo::name)
        .def_readonly("kind", &AverageInfo::kind)
        .def_readonly("unit", &AverageInfo::unit)
        .def_readonly("label", &AverageInfo::label)
        .def_readonly("normalisation", &AverageInfo::normalisation)
        .def_readonly("species", &AverageInfo::species)
        .def_readonly("components", &AverageInfo::components)
        .def_property_readonly("x_label", [](const AverageInfo& info) { return info.x.label; })
        .def_property_readonly("y_label", [](const AverageInfo& info) { return info.y.label; })
        .def_property_readonly("shape", [](const AverageInfo& info) {
            return py::make_tuple(info.components.empty() ? 1 : info.components.size(), info.x.points, info.y.points);
        });
    py::class_<AverageTable>(module, "AverageTable", "The values of an average.")
        .def_readonly("samples", &AverageTable::samples)
        .def_property_readonly("x", [](const AverageTable& table) { return array_of(table.x); })
        .def_property_readonly("y", [](const AverageTable& table) { return array_of(table.y); })
        .def_property_readonly("values", [](const AverageTable& table) { return array_of(table.values); })
        .def_property_readonly("errors", [](const AverageTable& table) { return array_of(table.errors); });
}

/// Tells runs in other threads to end, and knows what files they have found.
struct Stop {
    std::atomic<bool> set = false;
    SharedInputs inputs;
};

/// Ends what goes on without Python where Ctrl-C comes, or a sweep is to end. \param stop  null: of no sweep
std::function<void()> listening(const Stop* stop) {
    using Clock = std::chrono::steady_clock;
    return [stop, heard = Clock::now()]() mutable {
        if (stop != nullptr && stop->set) throw std::runtime_error("the sweep has been ended");
        constexpr std::chrono::milliseconds kOften{100};
        if (Clock::now() - heard < kOften) return;
        heard = Clock::now();
        const PythonAgain mine;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    };
}

void define_scene(py::module_& module) {
    module.def(
        "find_scene",
        [](const FileName& name, const FileName& folder) { return FileName{find_scene(name.bytes, folder.bytes)}; },
        py::arg("name"), py::arg("folder"));
    module.def("read_text", [](const FileName& path) {
        return py::bytes(waiting([&] { return read_scene_text(path.bytes); }).text);
    });
    module.def(
        "installed_scenes",
        [](const FileName& folder) {
            std::vector<std::pair<std::string, std::string>> names;
            for (const InstalledScene& scene : installed_scenes(folder.bytes)) {
                if (!scene.sweep) names.emplace_back(scene.name, scene.what);
            }
            return names;
        },
        py::arg("folder"));
    module.def(
        "scene_source",
        [](const std::string& text, const FileName& path, const std::vector<std::string>& overrides) {
            return reading_scene([&] { return parse_scene(text, path.bytes, overrides).source; });
        },
        py::arg("text"), py::arg("path"), py::arg("overrides"));

    py::class_<Stop>(module, "Stop", "Tells runs to end.")
        .def_property(
            "set", [](const Stop& stop) { return stop.set.load(); }, [](Stop& stop, bool set) { stop.set = set; });
    module.def("make_stop", [] { return std::make_unique<Stop>(); });
    py::class_<PreparedScene>(module, "Prepared", "A scene with all that follows from it.")
        .def_readonly("warnings", &PreparedScene::warnings)
        .def_property_readonly("until", [](const PreparedScene& run) { return run.scene.run.until; })
        .def_property_readonly("path", [](const PreparedScene& run) { return FileName{run.scene.path}; })
        .def_property_readonly("source", [](const PreparedScene& run) { return run.scene.source; })
        .def("check", [](const PreparedScene& run) {
            require_unused(run);
            const OthersMayRun others;
            return check_json(run, estimate_seconds(run));
        });
    module.def(
        "prepare",
        [](const std::string& text, const FileName& path, std::vector<std::string> overrides, int threads, bool force,
           Stop* stop) {
            return reading_scene([&] {
                SceneRequest request;
                request.scene = path.bytes;
                request.overrides = std::move(overrides);
                request.threads = threads;
                request.force = force;
                request.text = SceneText{.path = path.bytes, .text = text};
                request.while_placing = listening(stop);
                if (stop != nullptr) request.inputs = &stop->inputs;
                return prepare_scene(request);
            });
        },
        py::arg("text"), py::arg("path"), py::arg("overrides"), py::arg("threads"), py::arg("force"),
        py::arg("stop") = static_cast<Stop*>(nullptr));
    module.def(
        "prepare_resume",
        [](const FileName& checkpoint, std::vector<std::string> overrides, int threads) {
            return reading_scene([&] {
                SceneRequest request;
                request.overrides = std::move(overrides);
                request.threads = threads;
                return prepare_resume(checkpoint.bytes, request);
            });
        },
        py::arg("checkpoint"), py::arg("overrides"), py::arg("threads"));
}

/// As rows have them: "momentum.x" of components.
std::vector<std::string> value_names(const std::vector<ObservableInfo>& infos) {
    std::vector<std::string> names;
    for (const ObservableInfo& info : infos) {
        if (info.components.empty()) names.push_back(info.name);
        for (const std::string& component : info.components) names.push_back(info.name + "." + component);
    }
    return names;
}

void define_sweep(py::module_& module) {
    module.def(
        "names_in_memory",
        [](const PreparedScene& prepared) {
            require_unused(prepared);
            return reading_scene([&] { return value_names(infos_in_memory(prepared)); });
        },
        py::arg("prepared"));
    module.def(
        "run_in_memory",
        [](PreparedScene& prepared, const Stop& stop) {
            require_unused(prepared);
            const OthersMayRun others;
            MemoryRun run = run_in_memory(std::move(prepared), [&stop] { return stop.set ? SIGINT : 0; });
            if (run.outcome.status == ExitStatus::kCannotContinue) throw SimulationError(run.outcome.error);
            if (run.outcome.status != ExitStatus::kDone) throw SystemError(run.outcome.error);
            return run.values;
        },
        py::arg("prepared"), py::arg("stop"));
}

/// What a run of Python drives; null while that is made.
PythonRun* run_in(PyObject* self) {
    auto* const instance = reinterpret_cast<py::detail::instance*>(self);
    return instance->owned ? instance->get_value_and_holder().value_ptr<PythonRun>() : nullptr;
}

/// An observable may belong to whoever has the run: Python's collector sees it, ends the run while all is whole, and
/// lets go.
void collect_runs(PyHeapTypeObject* heap) {
    PyTypeObject& type = heap->ht_type;
    type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        const PythonRun* const run = run_in(self);
        if (run == nullptr) return 0;
        for (const auto& observable : run->observables()) Py_VISIT(observable->function().ptr());
        return 0;
    };
    type.tp_finalize = [](PyObject* self) {
        const py::error_scope as_it_was;
        if (PythonRun* const run = run_in(self)) run->end_unseen();
    };
    type.tp_clear = [](PyObject* self) {
        if (const PythonRun* const run = run_in(self)) {
            for (const auto& observable : run->observables()) observable->drop_function();
        }
        return 0;
    };
}

void define_run(py::module_& module) {
    py::class_<PythonRun, std::shared_ptr<PythonRun>>(module, "Run", "What drives a solver.",
                                                      py::custom_type_setup(collect_runs))
        .def("advance", &PythonRun::advance, py::arg("until"))
        .def("close", &PythonRun::close)
        .def_property_readonly("dimension", [](const PythonRun& run) { return run.dimension(); })
        .def_property_readonly("time", &PythonRun::time)
        .def_property_readonly("end", &PythonRun::end_time)
        .def_property_readonly("step", &PythonRun::step)
        .def_property_readonly("source", &PythonRun::source)
        .def_property_readonly("summary", &PythonRun::summary)
        .def("reachable_time", &PythonRun::reachable_time, py::arg("time"))
        .def("time_of_step", &PythonRun::time_of_step, py::arg("step"))
        .def("totals", &PythonRun::totals)
        .def("frame", &PythonRun::frame)
        .def("device_frame", &PythonRun::device_frame)
        .def("rows", &PythonRun::rows)
        .def("frames", &PythonRun::frames)
        .def("averages", &PythonRun::averages)
        .def("flush_files", &PythonRun::flush_files)
        .def("store", &PythonRun::store, py::arg("path"))
        .def("kick", &PythonRun::kick, py::arg("ball"), py::arg("velocity"), py::arg("add"))
        .def("set_velocities", &PythonRun::set_velocities, py::arg("velocity"))
        .def("change", &PythonRun::change_keys, py::arg("asked"))
        .def("changes", &PythonRun::changes)
        .def("save", &PythonRun::save, py::arg("path"));
    module.def(
        "begin_run",
        [](PreparedScene& prepared, const FileName& output, const FileName& checkpoint, double checkpoint_every,
           const FileName& events_log, bool force, bool keep_frames, const std::vector<GivenObservable>& observables) {
            require_unused(prepared);
            SimulateOptions options;
            options.files.trajectory = output.bytes;
            options.files.checkpoint =
                checkpoint.bytes.empty() && !output.bytes.empty() ? default_checkpoint(output.bytes) : checkpoint.bytes;
            options.checkpoint_every = checkpoint_every;
            options.events_log = events_log.bytes;
            options.force = force;
            const bool resumed = !prepared.resumed_from.empty();
            const std::string& input = resumed ? prepared.resumed_from : prepared.scene.path;
            if (!output.bytes.empty()) check_output_files(options.files, input, resumed, force);
            if (!events_log.bytes.empty()) check_log_file(events_log.bytes, input, force);
            require_no_input({{output.bytes, options.files.checkpoint, events_log.bytes}},
                             loaded_files(prepared.scene));
            return std::make_shared<PythonRun>(prepared, options, observables, keep_frames);
        },
        py::arg("prepared"), py::arg("output"), py::arg("checkpoint"), py::arg("checkpoint_every"),
        py::arg("events_log"), py::arg("force"), py::arg("keep_frames"), py::arg("observables"));
    py::class_<Schedule>(module, "Schedule", "Multiples of a time, each where a run reaches it.")
        .def("next", &Schedule::next)
        .def("renew", &Schedule::renew, py::arg("now"))
        .def("take", &Schedule::take, py::arg("now"));
    module.def(
        "make_schedule",
        [](double every, const std::shared_ptr<PythonRun>& run) {
            return std::make_unique<Schedule>(every, run->time(),
                                              [run](double time) { return run->reachable_time(time); });
        },
        py::arg("every"), py::arg("run"));
}

PyObject* refuse_new(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
    PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
    return nullptr;
}

/// Objects of these classes come from C++ alone. pybind11 hands out memory that nobody has filled as the object of one
/// that was made by __new__, and ends the process where the old protocols of pickle make one so.
void seal(const py::module_& module) {
    for (const auto& [name, value] : py::cast<py::dict>(module.attr("__dict__"))) {
        if (!PyType_Check(value.ptr())) continue;
        auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
        value.attr("__reduce__") = py::cpp_function(
            [](const py::object& self) -> py::object {
                throw py::type_error(fmt::format("cannot pickle '{}' object", Py_TYPE(self.ptr())->tp_name));
            },
            py::name("__reduce__"), py::is_method(value));
        type->tp_new = refuse_new;
        PyType_Modified(type);
    }
}

}  // namespace

}  // namespace carom::python

PYBIND11_MODULE(_carom, module) {
    namespace python = carom::python;
    module.doc() = "What carom is made of, for the package carom.";
    module.attr("version") = carom::build_info::kVersion;
    module.attr("commit") = carom::build_info::commit();
    py::register_exception_translator(python::translate);
    python::OthersMayRun::watch_end();
    python::define_numbers(module);
    python::define_scene(module);
    python::define_frame(module);
    python::define_device_frame(module);
    python::define_reader(module);
    python::define_run(module);
    python::define_sweep(module);
    module.def(
        "write_file",
        [](const python::FileName& path, const py::bytes& content) {
            const std::string_view bytes = content;
            const python::OthersMayRun others;
            carom::ReplacementFile file(path.bytes);
            file.write(bytes.data(), bytes.size());
            file.commit();
        },
        py::arg("path"), py::arg("content"));
    // The threads of OpenMP are not there in the child of a fork, and whoever wants them waits for ever.
    module.def("use_one_thread", [] {
#if defined(_OPENMP)
        omp_set_num_threads(1);
#endif
    });
    python::seal(module);
}
