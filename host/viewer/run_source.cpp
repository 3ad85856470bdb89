#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/run/schedule.hpp"
#include "host/run/text.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/frame_source.hpp"

namespace carom {

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
        lines.push_back(fmt::format("kinetic energy {:.6g}", totals.kinetic));
        lines.push_back(fmt::format("total energy {:.6g}", totals.energy()));
        if (description.solver != "events") lines.push_back(plural(totals.contacts, "contact"));
        return lines;
    }

private:
    void choose(const FrameChoice& choice) {
        const double end = solver_->reachable_time(run_.scene.run.until);
        const double every = choice.every > 0.0 ? choice.every : run_.scene.output.every;
        switch (choice.kind) {
            case FrameChoice::Kind::kAll: {
                if (every > 0.0) {
                    check_frame_count(choice.every > 0.0 ? "--every" : "output.every",
                                      end / std::max(every, run_.plan->least_interval()));
                }
                Schedule schedule(every, 0.0, [this](double time) { return solver_->reachable_time(time); });
                times_.push_back(0.0);
                while (schedule.next() < end) {
                    times_.push_back(schedule.next());
                    schedule.take(schedule.next());
                }
                times_.push_back(end);
                break;
            }
            case FrameChoice::Kind::kLast:
                times_.push_back(end);
                break;
            case FrameChoice::Kind::kTime:
                times_.push_back(solver_->reachable_time(choice.time));
                break;
            case FrameChoice::Kind::kIndex:
                times_.push_back(std::min(end, solver_->reachable_time(static_cast<double>(choice.index) * every)));
                break;
        }
    }

    PreparedScene run_;
    std::function<int()> interrupted_;
    Balls balls_;
    std::unique_ptr<Solver> solver_;
    std::vector<double> times_;
    std::size_t next_ = 0;
    Frame frame_;
};

}  // namespace

std::unique_ptr<FrameSource> start_run(const SceneRequest& request, const FrameChoice& choice,
                                       std::function<int()> interrupted) {
    return std::make_unique<RunSource>(request, choice, std::move(interrupted));
}

}  // namespace carom
