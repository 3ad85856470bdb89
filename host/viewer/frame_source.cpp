#include "host/viewer/frame_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/io/trajectory_reader.hpp"
#include "host/run/say.hpp"
#include "host/run/schedule.hpp"
#include "host/state/errors.hpp"

namespace carom {

void check_frame_count(const std::string& key, double count) {
    constexpr double kMost = 1e6;
    if (count <= kMost) return;
    throw InputError(fmt::format("{}: makes {:.3g} frames; allowed: up to {:.0f}", key, count, kMost));
}

namespace {

class RunSource final : public FrameSource {
public:
    RunSource(const SceneRequest& request, const FrameChoice& choice, std::function<int()> interrupted)
        : run_(prepare_scene(request)), interrupted_(std::move(interrupted)) {
        balls_.dimension = run_.state.balls.dimension;
        balls_.species_table = run_.state.balls.species_table;
        balls_.species = run_.state.balls.species;
        solver_ = run_.plan->make_solver(run_.state, "");
        run_.state = {};  // the solver has its own
        choose(choice);
    }

    [[nodiscard]] const Scene& scene() const override { return run_.scene; }
    [[nodiscard]] const Balls& balls() const override { return balls_; }
    [[nodiscard]] std::size_t count() const override { return times_.size(); }
    [[nodiscard]] std::string warning() const override { return warning_; }

    const Frame* next() override {
        if (next_ >= times_.size()) return nullptr;
        const double target = times_[next_++];
        constexpr double kSlice = 0.1;  // [s]
        while (solver_->time() < target && !solver_->advance_to(target, kSlice)) {
            if (interrupted_() != 0) return nullptr;
        }
        solver_->request_frame(frame_);
        solver_->finish_frame(frame_);
        return &frame_;
    }

    [[nodiscard]] std::vector<std::string> notes() override {
        const Totals totals = solver_->totals();
        const SolverDescription description = solver_->describe();
        std::vector<std::string> lines{fmt::format("{} on {}", description.solver, description.backend)};
        lines.push_back(description.solver == "events" ? plural(solver_->tallies().collisions, "collision")
                                                       : fmt::format("step {}", count_text(solver_->step())));
        const std::string unit = run_.scene.units.behind("J");
        lines.push_back(fmt::format("kinetic energy {:.6g}{}", totals.kinetic + totals.rotational, unit));
        lines.push_back(fmt::format("total energy {:.6g}{}", totals.energy(), unit));
        if (description.solver != "events") lines.push_back(plural(totals.contacts, "contact"));
        return lines;
    }

private:
    /// When a run stores frames, behind its first one.
    [[nodiscard]] Schedule frames(double every) const {
        return {every, 0.0, [this](double time) { return solver_->reachable_time(time); }};
    }

    /// Of the frame that a run would give this index.
    [[nodiscard]] double time_of(std::size_t index, double every, double end) const {
        if (index == 0) return 0.0;
        if (every > 0.0) {
            check_frame_count("--frame", std::min(static_cast<double>(index), end / every));
        }
        Schedule due = frames(every);
        std::size_t last = 1;  // at the end
        for (; due.next() < end; due.take(due.next()), ++last) {
            if (last == index) return due.next();
        }
        if (index > last) {
            throw InputError(fmt::format("--frame: {} gives the frames 0 to {}", visible(run_.scene.path), last));
        }
        return end;
    }

    void choose(const FrameChoice& choice) {
        const double end = solver_->reachable_time(run_.scene.run.until);
        const double every = choice.every > 0.0 ? choice.every : run_.scene.output.every;
        switch (choice.kind) {
            case FrameChoice::Kind::kAll: {
                if (every > 0.0) {
                    check_frame_count(choice.every > 0.0 ? "--every" : "output.every",
                                      end / std::max(every, run_.plan->least_interval()));
                }
                for (Schedule due = frames(every); due.next() < end; due.take(due.next())) times_.push_back(due.next());
                times_.insert(times_.begin(), 0.0);
                times_.push_back(end);
                break;
            }
            case FrameChoice::Kind::kLast:
                times_.push_back(end);
                break;
            case FrameChoice::Kind::kTime:
                times_.push_back(solver_->reachable_time(choice.time));
                if (choice.time > run_.scene.run.until * (1.0 + 1e-9)) {
                    warning_ = fmt::format("run.until is {:.6g}: the run goes on to {:.6g}", run_.scene.run.until,
                                           choice.time);
                }
                break;
            case FrameChoice::Kind::kIndex:
                times_.push_back(time_of(choice.index, every, end));
                break;
        }
    }

    PreparedScene run_;
    std::function<int()> interrupted_;
    Balls balls_;
    std::unique_ptr<Solver> solver_;
    std::vector<double> times_;
    std::string warning_;
    std::size_t next_ = 0;
    Frame frame_;
};

}  // namespace

std::unique_ptr<FrameSource> start_run(const SceneRequest& request, const FrameChoice& choice,
                                       std::function<int()> interrupted) {
    return std::make_unique<RunSource>(request, choice, std::move(interrupted));
}

namespace {

class TrajectorySource final : public FrameSource {
public:
    TrajectorySource(const std::string& path, const FrameChoice& choice, const std::vector<std::string>& look)
        : reader_(path), scene_(reader_.scene(look)) {
        const TrajectoryHeader& header = reader_.header();
        balls_.dimension = header.dimension();
        balls_.species_table = header.species_table;
        balls_.species = header.species.rows();
        const std::size_t stored = reader_.frame_count();
        if (stored == 0) throw InputError(path + ": holds no frame");
        reader_.require_positions();
        switch (choice.kind) {
            case FrameChoice::Kind::kAll:
                choose_all(choice.every);
                break;
            case FrameChoice::Kind::kLast:
                indices_.push_back(stored - 1);
                break;
            case FrameChoice::Kind::kTime:
                indices_.push_back(reader_.frame_at(choice.time));
                warning_ = beyond_frames(reader_, choice.time);
                break;
            case FrameChoice::Kind::kIndex:
                if (choice.index >= stored) {
                    throw InputError(fmt::format("--frame: {} holds the frames 0 to {}", path, stored - 1));
                }
                indices_.push_back(choice.index);
                break;
        }
    }

    [[nodiscard]] const Scene& scene() const override { return scene_; }
    [[nodiscard]] const Balls& balls() const override { return balls_; }
    [[nodiscard]] std::size_t count() const override { return indices_.size(); }

    const Frame* next() override {
        if (next_ >= indices_.size()) return nullptr;
        reader_.read(indices_[next_++], frame_);
        return &frame_;
    }

    [[nodiscard]] std::string warning() const override { return warning_; }

    [[nodiscard]] std::vector<std::string> notes() override {
        std::vector<std::string> lines{fmt::format("frame {} of {}", indices_[next_ - 1], reader_.frame_count() - 1),
                                       fmt::format("step {}", count_text(frame_.step))};
        if (table_.width == 0) table_ = reader_.observables();
        for (const auto* name : {"kinetic_energy", "total_energy", "temperature"}) {
            const auto value = table_.value(name, frame_.time);  // a row of another time would pass for this one's
            if (!value) continue;
            std::string words = name;
            std::ranges::replace(words, '_', ' ');
            lines.push_back(fmt::format("{} {:.6g}{}", words, *value, scene_.units.behind("J")));
        }
        return lines;
    }

private:
    void choose_all(double every) {
        const auto times = reader_.times();
        if (every <= 0.0) {
            for (std::size_t k = 0; k < times.size(); ++k) indices_.push_back(k);
            return;
        }
        const double intervals = (times.back() - times.front()) / every;
        check_frame_count("--every", intervals);
        const double rounding = std::min(1e-12 * times.back() / every, 0.01);
        for (double k = 0.0; k <= intervals + rounding; k += 1.0) {
            indices_.push_back(reader_.frame_at(times.front() + k * every));
        }
    }

    TrajectoryReader reader_;
    Scene scene_;
    Balls balls_;
    std::vector<std::size_t> indices_;
    std::string warning_;
    std::size_t next_ = 0;
    Frame frame_;
    ObservableTable table_;
};

}  // namespace

std::unique_ptr<FrameSource> open_trajectory(const std::string& path, const FrameChoice& choice,
                                             const std::vector<std::string>& look) {
    return std::make_unique<TrajectorySource>(path, choice, look);
}

}  // namespace carom
