#include "host/window/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <variant>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/quantity_figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/opengl.hpp"
#include "host/window/live_run.hpp"

namespace carom {

void RateMeter::add(double amount, double seconds) {
    constexpr double kMemory = 1.0;  // [s]
    const double left = std::exp(-seconds / kMemory);
    amount_ = left * amount_ + amount;
    seconds_ = left * seconds_ + seconds;
}

double RateMeter::rate() const {
    constexpr double kLeast = 0.3;  // [s]
    return seconds_ >= kLeast ? amount_ / seconds_ : 0.0;
}

namespace {

/// What charts of a live run show.
struct LiveChart {
    const char* name;
    const char* unit;
    double (*value)(const LiveFrame& frame, int dimension);
};

constexpr std::array kLiveCharts{
    LiveChart{"total energy", "J", [](const LiveFrame& f, int) { return f.totals.energy(); }},
    LiveChart{"kinetic energy", "J", [](const LiveFrame& f, int) { return f.totals.kinetic + f.totals.rotational; }},
    LiveChart{"temperature", "J",
              [](const LiveFrame& f, int dimension) {
                  return 2.0 * f.totals.kinetic / (static_cast<double>(f.totals.mobile) * dimension);
              }},
    LiveChart{"momentum x", "kg m s-1", [](const LiveFrame& f, int) { return f.totals.momentum[0]; }},
    LiveChart{"momentum y", "kg m s-1", [](const LiveFrame& f, int) { return f.totals.momentum[1]; }},
    LiveChart{"contacts", "", [](const LiveFrame& f, int) { return static_cast<double>(f.totals.contacts); }},
    LiveChart{"collisions", "", [](const LiveFrame& f, int) { return static_cast<double>(f.tallies.collisions); }},
    LiveChart{"largest overlap", "", [](const LiveFrame& f, int) { return f.totals.overlap; }},
    LiveChart{"largest speed", "m s-1", [](const LiveFrame& f, int) { return f.totals.speed; }},
    LiveChart{"balls", "", [](const LiveFrame& f, int) { return static_cast<double>(f.totals.balls); }},
};
constexpr const char* kEnergies = "energy";  // the first two

class LiveShow final : public Show {
public:
    LiveShow(const SceneRequest& request, const RecordRequest& record)
        : run_(request, prepare_scene(request)), path_(record.path) {
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
        if (fresh && now_ != nullptr) {
            std::array<double, kLiveCharts.size()> values{};
            for (std::size_t k = 0; k < values.size(); ++k) {
                values[k] = kLiveCharts[k].value(*now_, run_.scene().dimension());
            }
            history_.add(now_->time, values);
            ball_.add(run_.balls(), *now_->frame);
            ++edition_;
        }
        return fresh;
    }

    [[nodiscard]] const Frame* frame() const override { return now_ != nullptr ? now_->frame.get() : nullptr; }
    [[nodiscard]] double time() const override { return now_ != nullptr ? now_->time : 0.0; }
    [[nodiscard]] std::uint64_t step_number() const override { return now_ != nullptr ? now_->step : 0; }
    void want_frames(bool each) override { run_.want_frames(each); }

    void draw(Painter& painter, const std::vector<std::string>& notes, const LineList& extra) override {
        // The thread may not have got around to another quantity; and how balls are turned is added up here, as
        // formulas are evaluated.
        if (now_->quantity != painter.quantity() || painter.draws_frames(*now_->frame)) {
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
        run_.set_playing(false);
        if (direction < 0) {
            run_.rewind(std::nullopt);
        } else {
            run_.step();
        }
    }
    [[nodiscard]] Rewind rewind() const override { return now_ != nullptr ? now_->rewind : Rewind{}; }
    void rewind_to(double time) override {
        run_.set_playing(false);
        run_.rewind(time);
    }
    void reset() override {
        run_.reset();
        path_.clear();  // the file ends there
    }
    [[nodiscard]] double speed() const override { return run_.speed(); }
    void set_speed(double speed) override { run_.set_speed(speed); }
    [[nodiscard]] double reached() const override { return now_ != nullptr && run_.playing() ? now_->reached : 0.0; }
    void set_quantity(Quantity quantity) override {
        if (quantity != Quantity::kFormula) run_.set_quantity(quantity);  // which draw() does from frames
    }

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
        const std::string energy = run_.scene().units.behind("J");
        std::vector<Reading> all{
            {"time", fmt::format("{:.6g}{}", now_->time, run_.scene().units.behind("s"))},
            {run_.description().solver == "events" ? "events" : "step", count_text(now_->step)},
            {"balls", count_text(totals.balls)},
            {"kinetic energy", fmt::format("{:.8g}{}", totals.kinetic + totals.rotational, energy)},
            {"total energy", fmt::format("{:.8g}{}", totals.energy(), energy)}};
        if (totals.mobile > 0) {
            all.emplace_back(
                "temperature",
                fmt::format("{:.6g}{}",
                            2.0 * totals.kinetic / (static_cast<double>(totals.mobile) * run_.scene().dimension()),
                            energy));
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
    void kick(const Kick& kick) override { run_.kick(kick); }
    void undo_kick() override { run_.undo_kick(); }
    [[nodiscard]] std::string stored_in() const override { return path_; }
    void change(const std::string& override) override { run_.change({override}); }
    [[nodiscard]] std::vector<std::string> chart_names() const override {
        std::vector<std::string> names{kEnergies};
        const bool events = run_.description().solver == "events";
        for (const LiveChart& chart : kLiveCharts) {
            const std::string name = chart.name;
            if (name != (events ? "contacts" : "collisions") && !(events && name == "largest overlap")) {
                names.push_back(name);
            }
        }
        return names;
    }
    [[nodiscard]] Figure chart(const std::string& name, bool drift) const override {
        Figure figure;
        if (name == kEnergies) {
            figure = figure_over_time(history_, {0, 1}, {"total", "kinetic"}, kEnergies, "J", scene());
        } else {
            const auto* const found = std::ranges::find(kLiveCharts, name, &LiveChart::name);
            if (found == kLiveCharts.end()) throw InputError(name + ": there is no such chart");
            const auto column = static_cast<std::size_t>(found - kLiveCharts.begin());
            figure = figure_over_time(history_, {column}, {""}, name, found->unit, scene());
        }
        return drift && !history_.times().empty() ? drift_of(figure) : figure;
    }
    [[nodiscard]] std::uint64_t chart_edition() const override { return edition_; }
    void watch(std::optional<std::size_t> id) override { ball_.watch(id); }
    [[nodiscard]] const BallHistory& watched() const override { return ball_; }

private:
    std::unique_ptr<CloudStore> store_;  // outlives the run's thread
    LiveRun run_;
    std::string path_;
    History history_{kLiveCharts.size()};
    BallHistory ball_;
    std::uint64_t edition_ = 0;
    const LiveFrame* now_ = nullptr;
};

}  // namespace

std::unique_ptr<Show> make_live_show(const SceneRequest& request, const RecordRequest& record) {
    return std::make_unique<LiveShow>(request, record);
}

namespace {

class StoredShow final : public Show {
public:
    StoredShow(const std::string& path, const std::vector<std::string>& look)
        : reader_(path), scene_(reader_.scene(look)) {
        reader_.require_positions();
        const TrajectoryHeader& header = reader_.header();
        balls_.dimension = header.dimension();
        balls_.species_table = header.species_table;
        balls_.species = header.species.rows();
        if (reader_.frame_count() == 0) throw InputError(path + ": holds no frame");
        // A run that took simulated years is to be seen within seconds.
        constexpr double kSeconds = 10.0;
        const double length = reader_.times().back() - reader_.times().front();
        if (length > 0.0) speed_ = length / kSeconds;
        time_ = reader_.times().front();
        std::error_code error;
        written_ = std::filesystem::last_write_time(path, error);
    }

    [[nodiscard]] const Scene& scene() const override { return scene_; }
    [[nodiscard]] const Balls& balls() const override { return balls_; }
    void start(bool playing) override {
        playing_ = playing;
        read_rows();
        load(0);
    }

    bool update(double seconds) override {
        look_for_more(seconds);
        if (playing_) {
            const auto times = reader_.times();
            time_ += seconds * speed_;
            if (time_ > times.back() && growing_) {
                time_ = times.back();  // more will come
            } else if (time_ > times.back()) {
                // The last frame is shown before it begins anew.
                if (loop_ && index_ + 1 == reader_.frame_count()) time_ = times.front();
                if (!loop_) playing_ = false;
            }
            load(reader_.frame_at(time_));
        }
        read_ball();
        const bool changed = changed_;
        changed_ = false;
        return changed;
    }

    [[nodiscard]] const Frame* frame() const override { return &frame_; }
    void draw(Painter& painter, const std::vector<std::string>& notes, const LineList& extra) override {
        painter.draw(frame_, notes, &extra);
    }

    [[nodiscard]] bool playing() const override { return playing_; }
    void set_playing(bool playing) override {
        if (playing && !playing_ && !growing_ && index_ + 1 == reader_.frame_count()) go_to(0);
        playing_ = playing;
    }
    void step(int direction) override {
        playing_ = false;
        const std::size_t last = reader_.frame_count() - 1;
        if (direction > 0) go_to(std::min(last, index_ + 1));
        if (direction < 0 && index_ > 0) go_to(index_ - 1);
    }
    void reset() override { go_to(0); }
    [[nodiscard]] double speed() const override { return speed_; }
    void set_speed(double speed) override { speed_ = speed; }
    void set_quantity(Quantity /*quantity*/) override {}

    [[nodiscard]] std::string status() const override {
        const SolverDescription& of = reader_.header().description;
        return fmt::format("stored run: {} on {}, {}; {} frames{}; by frames", of.solver, of.backend, of.precision,
                           reader_.frame_count(), growing_ ? ", being written" : "");
    }
    [[nodiscard]] std::vector<Reading> readings() const override {
        constexpr double kMostBalls = 1e15;  // that can be told; a file may say anything
        const std::string energy = scene().units.behind("J");
        std::vector<Reading> all{{"time", fmt::format("{:.6g}{}", frame_.time, scene().units.behind("s"))},
                                 {"frame", fmt::format("{} of {}", index_, reader_.frame_count() - 1)},
                                 {"step", count_text(frame_.step)}};
        if (const auto balls = table_.value("balls", frame_.time); balls && *balls >= 0.0 && *balls < kMostBalls) {
            all.emplace_back("balls", count_text(static_cast<std::uint64_t>(*balls)));
        }
        for (const auto& [column, words, unit] :
             {std::tuple{"kinetic_energy", "kinetic energy", energy},
              std::tuple{"total_energy", "total energy", energy}, std::tuple{"temperature", "temperature", energy}}) {
            if (const auto value = table_.value(column, frame_.time))
                all.emplace_back(words, fmt::format("{:.8g}{}", *value, unit));
        }
        return all;
    }
    [[nodiscard]] std::vector<std::string> chart_names() const override {
        if (table_.rows() == 0) return {};
        std::vector<std::string> names = figure_quantities(reader_);
        for (const AverageInfo& info : reader_.header().averages) names.push_back(info.name);
        return names;
    }
    [[nodiscard]] Figure chart(const std::string& name, bool drift) const override {
        const Drawing drawing = quantity_figure({&reader_}, name, {.drift = drift});
        if (const auto* const figure = std::get_if<Figure>(&drawing)) return *figure;
        throw InputError(fmt::format("{}: a map, which carom plot draws", name));
    }
    [[nodiscard]] std::uint64_t chart_edition() const override { return edition_; }
    void watch(std::optional<std::size_t> id) override {
        if (id == ball_.id()) return;
        ball_.watch(id);
        ball_frames_ = 0;
    }
    [[nodiscard]] const BallHistory& watched() const override { return ball_; }

    [[nodiscard]] std::size_t frame_count() const override { return reader_.frame_count(); }
    [[nodiscard]] std::size_t frame_index() const override { return index_; }
    void go_to(std::size_t index) override {
        load(index);
        time_ = reader_.times()[index_];
    }
    [[nodiscard]] bool looping() const override { return loop_; }
    void set_looping(bool looping) override { loop_ = looping; }

private:
    void load(std::size_t index) {
        if (loaded_ && index == index_) return;
        reader_.read(index, frame_);
        index_ = index;
        loaded_ = changed_ = true;
    }

    /// Another process may still be writing the file. Whoever is at the last frame sees the one that comes.
    /// \param seconds  since the last time
    void look_for_more(double seconds) {
        constexpr double kSeconds = 0.5;
        since_look_ += seconds;
        if (since_look_ < kSeconds) return;
        since_look_ = 0.0;
        std::error_code error;
        const auto written = std::filesystem::last_write_time(reader_.path(), error);
        constexpr double kPatience = 30.0;  // [s]
        since_growth_ += kSeconds;
        if (error || written == written_) {
            growing_ = growing_ && since_growth_ < kPatience;  // who wrote it may have been killed
            return;
        }
        since_growth_ = 0.0;
        written_ = written;
        try {
            TrajectoryReader now(reader_.path());
            const bool same = now.header().scene_source == reader_.header().scene_source &&
                              difference(now.header(), reader_.header()).empty() &&
                              now.frame_count() >= reader_.frame_count() &&
                              now.times().front() == reader_.times().front();
            if (!same) return;  // another run has taken its place
            const bool more = now.frame_count() > reader_.frame_count();
            const bool at_end = index_ + 1 == reader_.frame_count();
            reader_ = std::move(now);
            growing_ = reader_.summary().empty();
            read_rows();
            changed_ = true;
            if (more && at_end && !playing_) go_to(reader_.frame_count() - 1);
        } catch (const std::exception&) {
            written_ = {};  // in the middle of being written: later
        }
    }

    void read_rows() {
        table_ = reader_.observables();
        ++edition_;
    }

    /// A few frames on: of a long file it takes many pictures, which do not wait for it.
    void read_ball() {
        using Steady = std::chrono::steady_clock;
        const auto end = Steady::now() + std::chrono::milliseconds(5);
        while (ball_.id() && ball_frames_ < reader_.frame_count() && Steady::now() < end) {
            reader_.read(ball_frames_++, ball_frame_);
            ball_.add(balls_, ball_frame_);
            changed_ = true;
        }
    }

    TrajectoryReader reader_;
    Scene scene_;
    Balls balls_;
    ObservableTable table_;
    std::uint64_t edition_ = 0;  // of it
    BallHistory ball_;
    std::size_t ball_frames_ = 0;  // that have been read for it
    Frame ball_frame_;
    Frame frame_;
    std::size_t index_ = 0;
    double since_look_ = 0.0;    // at the file [s]
    double since_growth_ = 0.0;  // that was seen [s]
    std::filesystem::file_time_type written_;
    bool growing_ = false;
    bool loaded_ = false;
    bool changed_ = false;
    bool playing_ = false;
    bool loop_ = true;
    double time_ = 0.0;
    double speed_ = 1.0;
};

}  // namespace

std::unique_ptr<Show> make_stored_show(const std::string& path, const std::vector<std::string>& look) {
    return std::make_unique<StoredShow>(path, look);
}

}  // namespace carom
