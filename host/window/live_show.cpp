#include <fmt/format.h>

#include "host/run/text.hpp"
#include "host/viewer/egl_context.hpp"
#include "host/window/live_run.hpp"
#include "host/window/show.hpp"

namespace carom {

namespace {

class LiveShow final : public Show {
public:
    LiveShow(const SceneRequest& request, const RecordRequest& record) : run_(request, prepare_scene(request)) {
        if (!record.path.empty()) run_.record(record.path, record.force);
    }

    [[nodiscard]] const Scene& scene() const override { return run_.scene(); }
    [[nodiscard]] const Balls& balls() const override { return run_.balls(); }

    void start(bool playing) override {
        store_ = run_.make_store();
        run_.start(*store_, playing, software_gl());
    }

    void stop() override {
        run_.stop();
        store_.reset();
    }

    bool update(double /*seconds*/) override {
        const bool fresh = run_.fresh();
        now_ = run_.take();
        return fresh;
    }

    [[nodiscard]] const Frame* frame() const override { return now_ != nullptr ? now_->frame.get() : nullptr; }
    [[nodiscard]] double time() const override { return now_ != nullptr ? now_->time : 0.0; }
    [[nodiscard]] std::uint64_t step_number() const override { return now_ != nullptr ? now_->step : 0; }
    void want_frames(bool each) override { run_.want_frames(each); }

    void draw(Painter& painter, const std::vector<std::string>& notes, const LineList& extra) override {
        if (now_->quantity != painter.quantity()) {
            // The thread has not got around to the new one.
            painter.draw(*now_->frame, notes, &extra);
            return;
        }
        painter.see(now_->range);
        painter.draw(store_->buffers(run_.slot()), now_->time, now_->totals.balls, notes, &extra, now_->frame.get());
        store_->drawn(run_.slot());
    }

    [[nodiscard]] bool playing() const override { return run_.playing(); }
    void set_playing(bool playing) override { run_.set_playing(playing); }
    void step(int direction) override {
        if (direction < 0) return;
        run_.set_playing(false);
        run_.step();
    }
    void reset() override { run_.reset(); }
    [[nodiscard]] double speed() const override { return run_.speed(); }
    void set_speed(double speed) override { run_.set_speed(speed); }
    void set_quantity(Quantity quantity) override { run_.set_quantity(quantity); }

    [[nodiscard]] std::string status() const override {
        const SolverDescription of = run_.description();
        const double rate = now_ == nullptr ? 0.0 : now_->steps_per_second;
        const bool events = of.solver == "events";
        const double work = events ? rate : rate * static_cast<double>(run_.balls().size());
        return fmt::format("{} on {}, {}; {:.3g} {}/s; {}", of.solver, of.backend, of.precision, work,
                           events ? "events" : "ball-steps",
                           store_ ? store_->way(now_ != nullptr && now_->by_frames) : "");
    }

    [[nodiscard]] std::vector<Reading> readings() const override {
        if (now_ == nullptr) return {};
        const Totals& totals = now_->totals;
        std::vector<Reading> all{{"time", fmt::format("{:.6g} s", now_->time)},
                                 {run_.description().solver == "events" ? "events" : "step", count_text(now_->step)},
                                 {"balls", count_text(totals.balls)},
                                 {"kinetic energy", fmt::format("{:.8g} J", totals.kinetic)},
                                 {"total energy", fmt::format("{:.8g} J", totals.energy())}};
        if (totals.mobile > 0) {
            all.emplace_back(
                "temperature",
                fmt::format("{:.6g} J",
                            2.0 * totals.kinetic / (static_cast<double>(totals.mobile) * run_.scene().dimension())));
        }
        if (run_.description().solver == "events") {
            all.emplace_back("collisions", count_text(now_->tallies.collisions));
        } else {
            all.emplace_back("contacts", count_text(totals.contacts));
            all.emplace_back("overlap", fmt::format("{:.3g} radii", totals.overlap));
        }
        return all;
    }

    [[nodiscard]] std::string error() const override { return run_.error(); }
    [[nodiscard]] std::string take_message() override { return run_.take_message(); }
    [[nodiscard]] bool live() const override { return true; }
    [[nodiscard]] std::optional<SpringNumbers> spring() const override { return run_.spring(); }
    void kick(std::size_t id, const Vector3& change) override { run_.kick(id, change); }
    void change(const std::string& override) override { run_.change({override}); }
    [[nodiscard]] std::optional<std::pair<double, double>> energies() const override {
        if (now_ == nullptr) return std::nullopt;
        return std::pair{now_->totals.kinetic, now_->totals.energy()};
    }

private:
    std::unique_ptr<CloudStore> store_;  // outlives the run's thread
    LiveRun run_;
    const LiveFrame* now_ = nullptr;
};

}  // namespace

std::unique_ptr<Show> make_live_show(const SceneRequest& request, const RecordRequest& record) {
    return std::make_unique<LiveShow>(request, record);
}

}  // namespace carom
