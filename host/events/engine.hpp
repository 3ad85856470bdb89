#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/events/accounts.hpp"
#include "host/events/bubbles.hpp"
#include "host/events/calendar.hpp"
#include "host/events/cells.hpp"
#include "host/events/clusters.hpp"
#include "host/events/enclosure.hpp"
#include "host/events/events_engine.hpp"
#include "host/events/flying_balls.hpp"
#include "host/events/predictor.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/physics/thermal_wall.hpp"

namespace carom {

/// The event that a ball has in the calendar.
struct alignas(16) NextEvent {
    std::uint32_t partner;       ///< a slot; or count + number: a side of the cell or box (0 to 5), or a wall (from 6)
    std::uint32_t partner_hits;  ///< the partner's `hits` when this was predicted: another value makes it stale
    std::uint32_t stamp;         ///< of the entry in the calendar that counts
    std::uint32_t hits;          ///< how often this ball's path has changed
};

/// What else is known of a ball's future, and its cell.
struct alignas(32) Forecast {
    double contact_time;    ///< the earliest contact with a ball or a [[wall]], however far
    double event_time;      ///< of the event in the calendar
    std::uint32_t partner;  ///< of that contact
    std::uint32_t partner_hits;
    CellPlace place;
};

/// The event-driven engine: it drives the parts. What is in flight: flying_balls.hpp; whom a ball may meet: cells.hpp
/// and bubbles.hpp; what stands around: enclosure.hpp; what comes next for a ball: predictor.hpp; what waits:
/// calendar.hpp; what happens where several touch: clusters.hpp; what is counted: accounts.hpp.
///
/// Each ball has one event in the calendar: the earliest of its next contact and of its leaving its cell. A ball's
/// position stands at its own last event and moves only when one of its own comes. A contact is known to the ball that
/// predicted it last; when the partner's path has changed meanwhile (its `hits` tells), the event is stale, and the
/// ball predicts anew. That is enough: a partner whose path changed predicted against this ball itself.
///
/// Nothing that reaches a ball's bits depends on slots, nor on the calendar's layout.
///
/// Lists: contacts are looked for in neighbour lists instead of cells, and leaving a bubble takes the place of leaving
/// a cell; for dense systems.
///
/// Gravity as a template parameter leaves the plain case without its terms; what is rarer (bodies of infinite mass,
/// extra walls, dissipation) is decided once per event, outside the loop over partners.
template <int Dim, bool Gravity, bool Lists>
class Engine final : public EventsEngine {
public:
    Engine(const EventsSetup& setup, const SolverState& state)
        : setup_(setup),
          enclosure_(setup.box, setup.walls, setup.walls_time),
          balls_(state.balls, gravity_of(setup), setup.friction > 0.0 || setup.wall_friction > 0.0),
          cells_(setup.box),
          next_(balls_.count() + 1),
          forecast_(balls_.count() + 1),
          accounts_(enclosure_.count(), balls_.gravity()),
          elastic_(setup.restitution == 1.0 && setup.friction == 0.0 && !balls_.any_heavy()),
          elastic_walls_(setup.wall_restitution == 1.0 && setup.wall_friction == 0.0) {
        if (Lists) bubbles_ = Bubbles<Dim>(setup_.shell, balls_.least_radius(), count());
        if (setup_.tc > 0.0) last_hit_.assign(count(), -kNeverTouch);
        draws_ = state.records.thermal_draws.value_or(0);
        if (state.records.events) {
            resume(state);
        } else {
            start(state);
            take_over(state);
        }
    }

    double time() const override { return time_; }
    std::uint64_t events() const override { return events_; }

    bool advance(double time, std::uint64_t most_events) override {
        // Epochs may go by without an event, each in the time of a look at all balls; whoever waits has signals to look
        // at.
        const std::uint64_t most_epochs = 1000 + 4000000 / (count() + std::uint64_t{1});
        for (std::uint64_t epochs = 0;;) {
            const double target = clock_.in_epoch(time);
            const bool beyond = target >= epoch_end_;
            // Events at the target itself belong to it.
            const double limit = beyond ? epoch_end_ : std::nextafter(target, kNeverTouch);
            bool there = true;
            try {
                there = limit <= now_ || run_before(limit, most_events);
            } catch (...) {
                time_ = since_start();
                throw;
            }
            if (!there) {
                time_ = since_start();
                return false;
            }
            if (beyond) {
                begin_epoch();
                if (++epochs < most_epochs) continue;
                time_ = since_start();
                return false;
            }
            now_ = larger(now_, target);
            time_ = time;
            return true;
        }
    }

    void frame(Frame& frame) const override {
        balls_.show(frame, setup_.box, now_);
        frame.time = time();
        frame.step = events_;
    }
    Totals totals() const override {
        Vector periods = Vector::filled(0.0);  // balls with lists go round when their bubbles are renewed
        for (int axis = 0; Lists && axis < Dim; ++axis) {
            if (enclosure_.periodic(axis)) periods[axis] = enclosure_.size()[axis];
        }
        return balls_.totals(enclosure_.size(), periods, now_);
    }
    Tallies tallies() const override {
        Tallies result = accounts_.tallies();
        result.events = events_;
        return result;
    }
    EventsStatistics statistics() const override {
        EventsStatistics result = accounts_.statistics(now_, time());
        result.path_length = path_so_far();
        const auto virial = balls_.virial(now_);
        result.mobile = virial.mobile;
        result.virial_now = virial.sum;
        result.virial_size = virial.size;
        return result;
    }
    const EventsStatistics& counted() const override { return accounts_.counted(); }
    double path_so_far() const override { return counted().path_length + balls_.ways(now_, speed_now()); }

    /// Asks no ball that is not drawn: of balls drawn with probability p each, the gaps between ids are geometric,
    /// P(gap = g) = (1 - p)^g p.
    void draw_anew(double temperature, double probability, std::uint64_t number) override {
        constexpr RandomPurpose kPurpose = RandomPurpose::kThermostat;
        constexpr std::uint64_t kGaps = std::uint64_t{1} << 32;  // above the balls' ids
        const double per_ball = natural_log(1.0 - probability);
        const std::uint64_t counter = kCountersPerDraw * number;
        const std::vector<Slot>& slot_of = balls_.slots();
        std::vector<Slot> changed;
        double id = -1.0;  // whole: beyond all ids where a gap is
        for (std::uint64_t draw = 0;; ++draw) {
            const double u = random_words(setup_.seed, kGaps + draw, kPurpose, counter).uniform(0);
            id += 1.0 + std::floor(natural_log(u) / per_ball);
            if (!(id < count())) break;
            const Slot i = slot_of[static_cast<std::size_t>(id)];
            if (balls_.gone(i) || balls_.heavy(i)) continue;
            const double spread = square_root(temperature * balls_.inverse_mass(i));
            change_velocity(i, maxwell_velocity<Dim>(spread, setup_.seed, balls_.id(i), kPurpose, number));
            changed.push_back(i);
        }
        for (const Slot i : changed) predict<false>(i);
    }
    void scale_velocities(double factor) override {
        for (const Slot i : balls_.slots()) {
            if (!balls_.gone(i) && !balls_.heavy(i)) change_velocity(i, factor * balls_.at(i, now_).velocity);
        }
        for (const Slot i : balls_.slots()) {
            if (!balls_.gone(i) && !balls_.heavy(i)) predict<false>(i);
        }
    }
    void add_work(double work) override { accounts_.work(work); }
    using EventsEngine::set_log;
    void set_log(std::function<void(const LoggedImpact&)> log, std::vector<std::uint8_t> of) override {
        log_.listen(std::move(log), std::move(of));
    }

    std::size_t memory_bytes() const override {
        return balls_.bytes() + next_.capacity() * sizeof(NextEvent) + forecast_.capacity() * sizeof(Forecast) +
               last_hit_.capacity() * sizeof(double) + bubbles_.bytes() + cells_.bytes() + calendar_.memory_bytes();
    }
    std::vector<std::pair<std::string, double>> parameters() const override {
        const CellGrid& grid = cells_.grid();
        return {{"cells_x", grid.cells[0]},
                {"cells_y", grid.cells[1]},
                {"cells_z", grid.cells[2]},
                {"epoch", epoch_end_},
                {"neighbour_list_shell", setup_.shell}};
    }

    void save(SolverState& state) const override;

private:
    using Vector = Vec<double, Dim>;
    static constexpr std::uint32_t kFaces = WallNumber::kFaces;
    static constexpr std::uint32_t kStale = ~0U;       // as hits of a partner whose path has changed
    static constexpr Slot kFewBalls = 6000;            // they lie in the cache in any order
    static constexpr Slot kShortTicks = 50000;         // the calendar's present is a part of the memory that counts
    static constexpr std::uint64_t kFirstLook = 1024;  // events after which the calendar's ticks are looked at

    static Vector gravity_of(const EventsSetup& setup) {
        Vector gravity;
        for (int axis = 0; axis < Dim; ++axis) gravity[axis] = setup.gravity[axis];
        return gravity;
    }
    [[nodiscard]] Slot count() const { return balls_.count(); }
    [[nodiscard]] double since_start() const { return clock_.since_start(now_); }
    [[nodiscard]] WallGap<Dim> gap_to(std::uint32_t number, const Vector& position) const {
        return enclosure_.gap(number, position, since_start());
    }

    // Making an engine, and the start of an epoch.

    void start(const SolverState& state);
    void resume(const SolverState& state);
    void require_agreement(const SolverState& state) const;
    void take_over(const SolverState& state);

    [[nodiscard]] double least_edge() const {
        return 2.0 * balls_.largest_radius() * std::max({1.0 + 1.0e-6, setup_.cell, setup_.shell * (1.0 + 1.0e-6)});
    }
    /// Cells as the number of balls justifies.
    [[nodiscard]] CellGrid usual_cells() const {
        // Balls per cell at which going through the neighbourhood and crossing borders cost the same, measured (bench).
        constexpr double kBallsPerCell = 0.57;
        return CellGrid::design(setup_.box, least_edge(), count() / kBallsPerCell);
    }
    /// However the balls crowd.
    [[nodiscard]] double most_cells() const { return std::max(32768.0, 4.0 * count()); }
    /// New cells, and in which each ball is from where it stands.
    void find_cells(const CellGrid& grid) {
        cells_.cut(grid, count());
        for (Slot i = 0; i < count(); ++i) {
            forecast_[i].place = cells_.place_of(balls_.hot(i).position);
            if (!balls_.gone(i)) cells_.add(forecast_[i].place, i);
        }
    }
    /// Makes the cells finer where the balls crowd in a part of the box, so that it need not be filled evenly; returns
    /// whether it did. All must be predicted anew then.
    bool refine_cells() {
        constexpr double kCrowded = 3.5;  // balls in a ball's own cell, itself among them, on the mean
        constexpr double kWanted = 1.7;   // about that of the usual balls per cell at random
        if (count() == 0 || setup_.cell > 0.0 || Lists) return false;
        std::uint64_t company = 0;
        for (Slot i = 0; i < count(); ++i) company += balls_.gone(i) ? 0 : cells_.count(forecast_[i].place);
        const double mean = static_cast<double>(company) / count();
        if (mean < kCrowded) return false;
        const double edge =
            std::max(least_edge(), shortest_edge() * (Dim == 2 ? square_root(kWanted / mean) : kWanted / mean));
        const CellGrid finer = CellGrid::design(setup_.box, edge, most_cells());
        if (static_cast<double>(finer.count()) < 1.3 * static_cast<double>(cells_.grid().count())) return false;
        find_cells(finer);
        return true;
    }
    [[nodiscard]] double shortest_edge() const {
        const auto& edge = cells_.grid().edge;
        return *std::min_element(edge.begin(), edge.begin() + Dim);
    }

    /// Brings the balls into the order of their cells along Morton's curve, so that neighbours are close in memory.
    void sort_slots() {
        std::vector<std::pair<std::uint64_t, Slot>> by_code(count());
        for (Slot i = 0; i < count(); ++i) by_code[i] = {morton_code(forecast_[i].place.cell, Dim), i};
        std::sort(by_code.begin(), by_code.end());
        std::vector<Slot> order(count());
        std::vector<Slot> new_slot(count());
        for (Slot to = 0; to < count(); ++to) {
            order[to] = by_code[to].second;
            new_slot[order[to]] = to;
        }
        balls_.sort(order);
        permute(next_, order);
        permute(forecast_, order);
        permute(last_hit_, order);
        if constexpr (Lists) bubbles_.sort(order, new_slot);
        for (Slot i = 0; i < count(); ++i) {
            if (next_[i].partner < count()) next_[i].partner = new_slot[next_[i].partner];
            if (forecast_[i].partner < count()) forecast_[i].partner = new_slot[forecast_[i].partner];
        }
        cells_.cut(cells_.grid(), count());
        for (Slot i = 0; i < count(); ++i) {
            cells_.note_edge(forecast_[i].place);
            if (!balls_.gone(i)) cells_.add(forecast_[i].place, i);
        }
    }

    /// \param tolerance  of the sum of the radii
    void check_overlaps(double tolerance) {
        double corner = 0.0;  // farthest from 0 in the user's coordinates, in which places have been rounded
        for (int axis = 0; axis < Dim; ++axis) {
            corner = std::max(corner, std::abs(setup_.box.min[axis]) + setup_.box.size[axis]);
        }
        const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * corner;
        for (Slot i = 0; i < count(); ++i) {
            if (balls_.gone(i)) continue;
            const std::uint32_t found = cells_.gather_around(forecast_[i].place);
            for (std::uint32_t k = 0; k < found; ++k) {
                const Slot j = cells_.candidates()[k];
                if (balls_.id(j) <= balls_.id(i) || (balls_.heavy(i) && balls_.heavy(j))) continue;
                const Vector d = enclosure_.nearest(balls_.at(j, 0.0).position - balls_.at(i, 0.0).position);
                const double reach = balls_.hot(i).radius + balls_.hot(j).radius;
                const double overlap = reach - square_root(dot(d, d));
                if (overlap > tolerance * reach + rounding) {
                    throw InputError(
                        fmt::format("balls {} and {} overlap by {:g} at the start ({:g} of the sum of their radii); "
                                    "hard balls may at most touch",
                                    balls_.id(i), balls_.id(j), overlap, overlap / reach));
                }
            }
        }
    }

    /// A power of two, so that subtracting it from a later time is exact; long enough that starting anew costs little,
    /// short enough that time is as fine as a position: in 16 diameters or 2 cells at a third of the fastest speed, an
    /// ulp of time moves no ball farther than an ulp of that way.
    [[nodiscard]] double epoch_length() const {
        if (setup_.epoch > 0.0) return setup_.epoch;
        if (!(speed_scale_ > 0.0)) return std::max(1.0e12, since_start());  // few of them, however long that is
        return power_of_two_below(3.0 * std::max(32.0 * balls_.least_radius(), 2.0 * shortest_edge()) / speed_scale_);
    }

    /// Enough for memory to be asked for in time; few balls lie in the cache, and a short tick needs less memory.
    [[nodiscard]] double events_per_tick() const { return count() < kShortTicks ? 1.5 : 6.0; }

    void start_calendar(double end) {
        epoch_end_ = end;
        if (event_rate_ == 0.0) {  // a guess: each ball meets something every third of a cell
            event_rate_ = count() * speed_scale_ / cells_.grid().edge[0] + 1.0 / end;
        }
        calendar_.start(0.0, end, events_per_tick() / event_rate_);
        look_at_rate_later(kFirstLook);
    }

    /// The calendar from a time on for another rate of events than it was made for, as it is where balls that were at
    /// rest have been set moving. What happens and when does not depend on it.
    void tune_calendar(double begin, double rate) {
        constexpr double kLeastBuckets = 64.0;
        constexpr double kEventsPerBall = 16.0;  // before all are given again
        event_rate_ = std::max(1.0 / (epoch_end_ - begin), rate);
        const double width = events_per_tick() / event_rate_;
        const double buckets =
            std::max(kLeastBuckets, kEventsPerBall * count() / (events_per_tick() * Calendar::kFine));
        const double length = std::max(width * Calendar::kFine * buckets, 1.0e-9 * begin);
        calendar_.start(begin, std::min(begin + length, epoch_end_), width);
        for (Slot i = 0; i < count(); ++i) {
            if (!balls_.gone(i)) calendar_.push({forecast_[i].event_time, i, ++next_[i].stamp});
        }
        look_at_rate_later(kFirstLook + count());
    }

    void look_at_rate_later(std::uint64_t events) {
        looked_time_ = now_;
        looked_events_ = epoch_events_;
        next_look_ = epoch_events_ + events;
    }
    [[nodiscard]] double rate_since_look(double now) const {
        return static_cast<double>(epoch_events_ - looked_events_) / (now - looked_time_);
    }
    /// Where ticks hold many more events than they were made for, putting one in takes as long.
    void look_at_rate() {
        constexpr double kTooMany = 8.0;
        const double rate = rate_since_look(now_);
        if (rate > kTooMany * event_rate_ && std::isfinite(rate)) {
            tune_calendar(now_, rate);
        } else {
            look_at_rate_later(kFirstLook + count());
        }
    }

    /// That of the epoch's start, unless balls that hardly moved then are fast by now.
    [[nodiscard]] double speed_now() const {
        constexpr double kFaster = 1024.0;
        const double fastest = balls_.fastest_speed();
        return fastest > kFaster * speed_scale_ ? fastest : speed_scale_;
    }

    void begin_epoch() {
        constexpr std::uint64_t kEpochsPerSort = 4;
        const double length = epoch_end_;
        accounts_.begin_epoch(length, balls_.ways(length, speed_now()));
        for (Slot i = 0; i < count(); ++i) {
            if (balls_.gone(i)) continue;
            balls_.move(i, length);
            balls_.hot(i).time = 0.0;
            forecast_[i].contact_time -= length;
            forecast_[i].event_time -= length;
        }
        clock_.add(length);
        now_ = 0.0;
        speed_scale_ = balls_.fastest_speed();
        // Where nothing moves any more the next epoch is endless, and what happened in this one is no guide to it.
        event_rate_ = speed_scale_ > 0.0 ? static_cast<double>(epoch_events_ + 1) / length : 1.0 / epoch_length();
        epoch_events_ = 0;
        if (count() > kFewBalls && ++epochs_since_sort_ >= kEpochsPerSort) {
            epochs_since_sort_ = 0;
            sort_slots();
        }
        const bool finer = refine_cells();
        start_calendar(epoch_length());
        for (Slot i = 0; i < count(); ++i) {
            if (balls_.gone(i)) continue;
            if (finer) {
                predict<false>(i);
            } else {
                calendar_.push({forecast_[i].event_time, i, ++next_[i].stamp});
            }
        }
    }

    // What comes next for a ball.

    /// All that may come next for a ball whose path has changed. Returns how many balls touch it, itself among them.
    template <bool CountTouching>
    [[gnu::flatten]] int predict(Slot i) {
        Forecast& forecast = forecast_[i];
        forecast.contact_time = kNeverTouch;
        forecast.partner = kNoContact;
        int touches;
        if constexpr (Lists) {
            const auto listed = bubbles_.list(i, cells_, forecast.place);
            touches = 1 + note(i, forecast.place.at_edge != 0
                                      ? meet<CountTouching>(balls_, i, listed.members, listed.count, kNeverTouch,
                                                            speed_scale_, NearestImage<Dim>{enclosure_})
                                      : meet<CountTouching>(balls_, i, listed.members, listed.count, kNeverTouch,
                                                            speed_scale_, SameImage{}));
        } else {
            touches = meet_candidates<CountTouching>(i, cells_.gather_around(forecast.place), kNeverTouch);
        }
        if (enclosure_.count() > kFaces) forecast_walls(i);
        schedule(i);
        return touches;
    }

    /// The same for a ball that has just met `met`, a slot or count + number of a wall, and counts whom it touches.
    int predict_after(Slot i, std::uint32_t met) {
        met_ = met;
        const int touches = predict<true>(i);
        met_ = kNoContact;
        return touches;
    }

    /// Looks for a contact with one of the candidates before `before` (from now), and notes it. Returns how many of
    /// them touch the ball.
    template <bool CountTouching>
    int meet_candidates(Slot i, std::uint32_t found, double before) {
        const bool edge = forecast_[i].place.at_edge != 0;
        const Slot* const candidates = cells_.candidates();
        const ImageByCell<Dim> image{cells_};
        if (balls_.any_heavy()) [[unlikely]] {
            return note(i, edge ? meet_singly(balls_, i, candidates, found, before, speed_scale_, met_, image)
                                : meet_singly(balls_, i, candidates, found, before, speed_scale_, met_, SameImage{}));
        }
        cells_.fill_up(found, edge);
        return note(i, edge ? meet<CountTouching>(balls_, i, candidates, found, before, speed_scale_, image)
                            : meet<CountTouching>(balls_, i, candidates, found, before, speed_scale_, SameImage{}));
    }

    /// Notes a contact in the forecast, if there is one.
    int note(Slot i, const Meeting& meeting) {
        if (meeting.partner != kNoContact) {
            Forecast& forecast = forecast_[i];
            forecast.contact_time = balls_.hot(i).time + meeting.time;
            forecast.partner = meeting.partner;
            forecast.partner_hits = next_[meeting.partner].hits;
        }
        return meeting.touches;
    }

    void forecast_walls(Slot i) {
        if (balls_.heavy(i)) return;
        Forecast& forecast = forecast_[i];
        const HotBall& ball = balls_.hot(i);
        const double start = clock_.since_start(ball.time);
        for (std::uint32_t number = kFaces; number < enclosure_.count(); ++number) {
            const double time = ball.time + enclosure_.template touch_time<Gravity>(
                                                number, balls_.position(i), balls_.velocity(i), balls_.gravity(),
                                                ball.radius, start, met_ == count() + number);
            if (!(time < forecast.contact_time)) continue;
            forecast.contact_time = time;
            forecast.partner = count() + number;
            forecast.partner_hits = 0;
        }
    }

    /// Puts the ball's next event, from its forecast, into the calendar.
    void schedule(Slot i) {
        Forecast& forecast = forecast_[i];
        NextEvent& next = next_[i];
        Leaving leaving;
        if constexpr (Lists) {
            leaving = leaving_bubble(balls_, i, forecast.place, bubbles_, enclosure_);
        } else {
            leaving = leaving_cell(balls_, i, forecast.place, cells_, enclosure_);
        }
        const double leaves = balls_.hot(i).time + leaving.time;
        if (forecast.contact_time < leaves) {
            next.partner = forecast.partner;
            next.partner_hits = forecast.partner_hits;
            forecast.event_time = forecast.contact_time;
        } else {
            next.partner = count() + leaving.side;
            forecast.event_time = leaves;
        }
        calendar_.push({forecast.event_time, i, ++next.stamp});
    }

    // What happens: one event after another.

    /// Handles all events before `limit`; false when the number of events ran out first.
    bool run_before(double limit, std::uint64_t& most_events) {
        const auto valid = [this](const CalendarEntry& entry) { return next_[entry.slot].stamp == entry.stamp; };
        const auto before = [this](const CalendarEntry& a, const CalendarEntry& b) { return tie_before(a, b); };
        const bool few = count() < kFewBalls;
        const auto soon = [this, few](int level, Slot slot) {
            if (!few) ask_for(level, slot);
        };
        for (;;) {
            while (const CalendarEntry* entry = calendar_.next(limit, valid, before, soon)) {
                if (most_events == 0) return false;
                --most_events;
                const CalendarEntry event = *entry;
                calendar_.pop();
                handle(event);
                if (epoch_events_ >= next_look_) [[unlikely]]
                    look_at_rate();
            }
            const double end = calendar_.end();
            if (end >= limit) return true;
            tune_calendar(end, rate_since_look(end));
        }
    }

    /// Memory that the events to come will need, asked for in time: first the ball, then its cells, then who is there.
    void ask_for(int level, Slot slot) const {
        const Forecast& forecast = forecast_[slot];
        const auto ask_record = [this](Slot i) { prefetch(balls_.records() + i); };
        const auto ask_future = [this](Slot i) {
            prefetch(&forecast_[i]);
            prefetch(&next_[i]);
        };
        if (level == 2) {
            ask_record(slot);
            ask_future(slot);
            if constexpr (Lists) bubbles_.ask(slot);
            return;
        }
        if constexpr (Lists) {
            if (level == 1) bubbles_.ask_members(slot, ask_record);
            if (forecast.partner >= count()) return;
            if (level == 1) {
                ask_future(forecast.partner);
                bubbles_.ask(forecast.partner);
            } else {
                bubbles_.ask_members(forecast.partner, ask_record);
            }
            return;
        }
        const std::uint32_t partner = next_[slot].partner;
        const bool members = level == 0;
        if (partner - count() < 2 * Dim) {  // goes on to the next cell
            const std::uint32_t side = partner - count();
            cells_.ask_ahead(forecast.place, side / 2, side % 2 == 1, members, ask_record);
            return;
        }
        if (level == 1 && partner < count()) {
            ask_record(partner);
            ask_future(partner);
        }
        cells_.ask_around(forecast.place, members, ask_record);
    }

    void handle(const CalendarEntry& entry) {
        const Slot i = entry.slot;
        now_ = entry.time;
        ++events_;
        ++epoch_events_;
        if (events_ >= watch_events_) [[unlikely]]
            watch_progress(i);
        advance_ball(i);
        const std::uint32_t partner = next_[i].partner;
        if (partner >= count()) {
            const std::uint32_t number = partner - count();
            if (Lists && number == Leaving::kOfBubble) {
                leave_bubble(i);
            } else if (number < kFaces) {
                leave_cell(i, number);
            } else {
                hit_wall(i, number, gap_to(number, balls_.position(i)).normal);
            }
        } else if (next_[partner].hits != next_[i].partner_hits) {
            predict<false>(i);
        } else {
            collide(i, partner);
        }
    }

    /// Brings a ball to the present, for an event of its own.
    void advance_ball(Slot i) {
        accounts_.counted().path_length += balls_.way(i, now_);
        balls_.move(i, now_);
    }

    /// The ball reaches a side of its cell: goes on in the next one, or meets a face of the box.
    [[gnu::flatten]] void leave_cell(Slot i, std::uint32_t side) {
        const int axis = static_cast<int>(side / 2);
        const bool up = side % 2 == 1;
        CellPlace& place = forecast_[i].place;
        if (Lists || (cells_.is_last(place, axis, up) && !enclosure_.periodic(axis))) {
            if (enclosure_.is_wall(axis, up ? 1 : 0)) {
                if (balls_.heavy(i)) throw_heavy_at_wall(i, side);
                Vector into_box = Vector::filled(0.0);
                into_box[axis] = up ? -1.0 : 1.0;
                hit_wall(i, side, into_box);
            } else {
                remove(i);
            }
            return;
        }
        const double jump = cells_.step(place, i, axis, up);
        if (jump != 0.0) {
            shift(i, axis, jump);
            if (enclosure_.count() > kFaces) {  // extra walls stand in the box itself, not in its images
                predict<false>(i);
                return;
            }
        }
        // Only the cells that have come into sight are new.
        const std::uint32_t found = cells_.gather_ahead(place, axis, up);
        meet_candidates<false>(i, found, larger(forecast_[i].contact_time - now_, 0.0));
        schedule(i);
    }

    /// Moves a ball by a period.
    void shift(Slot i, int axis, double period) {
        balls_.hot(i).position[axis] += period;
        std::int32_t& image = balls_.image(i)[axis];
        using Limits = std::numeric_limits<std::int32_t>;
        if (image == (period < 0.0 ? Limits::max() : Limits::min())) throw_uncounted(i);
        image += period < 0.0 ? 1 : -1;
        if (!balls_.heavy(i)) accounts_.jump(period, balls_.hot(i).velocity[axis], balls_.inverse_mass(i));
    }

    /// Ball i has reached the border of its bubble: a new one around where it is, and lists to match.
    void leave_bubble(Slot i) {
        for (int axis = 0; axis < Dim; ++axis) {
            const double x = balls_.hot(i).position[axis];
            const double size = enclosure_.size()[axis];
            if (enclosure_.periodic(axis) && (x < 0.0 || x >= size)) shift(i, axis, x < 0.0 ? size : -size);
        }
        const double* const position = balls_.hot(i).position;
        bubbles_.renew(i, position, cells_, forecast_[i].place, cells_.place_of(position));
        predict<false>(i);
    }

    void remove(Slot i) {
        const bool heavy = balls_.heavy(i);
        const double mass = heavy ? 0.0 : 1.0 / balls_.inverse_mass(i);
        const double radius = balls_.radius_of_gyration(i);
        const Spin<Dim> spin = balls_.body(i).spin;
        accounts_.leave(now_, mass, balls_.position(i), balls_.velocity(i),
                        0.5 * (mass * radius * radius) * dot(spin, spin));
        log_other(LoggedImpact::What::kLeft, i);
        cells_.remove(forecast_[i].place, i);
        balls_.set_gone(i, true);
        ++next_[i].hits;
        ++next_[i].stamp;
        forecast_[i].event_time = forecast_[i].contact_time = kNeverTouch;
        forecast_[i].partner = kNoContact;
    }

    /// (t, i, j) with the smaller id first and walls behind the balls.
    bool tie_before(const CalendarEntry& a, const CalendarEntry& b) const {
        const auto key = [this](Slot i) {
            const std::uint32_t partner = next_[i].partner;
            const std::uint32_t id = balls_.id(i);
            const std::uint32_t other = partner < count() ? balls_.id(partner) : partner;
            return std::pair{std::min(id, other), std::max(id, other)};
        };
        return key(a.slot) < key(b.slot);
    }

    /// Time must move on: if a number of events that would take all balls through several contacts each leave it where
    /// it was, or each takes it to the next number that there is, or a ball to the next place, it never will.
    void watch_progress(Slot i) {
        constexpr double kNoProgress = 1.0e-12;  // in units of the time in which a ball moves by its radius
        constexpr double kRoundings = 4.0;       // an event
        constexpr double kLocked = 1.0e-6;       // as kNoProgress: what rattles within a rounding of places, at most
        constexpr double kOfOne = 10000.0;       // events of a ball that does
        const double now = since_start();
        const double speed = speed_now();
        const double unit = speed > 0.0 ? balls_.least_radius() / speed : 0.0;
        const std::uint64_t events = 10000 + 16 * static_cast<std::uint64_t>(count());
        const double rounding = std::numeric_limits<double>::epsilon() * now_ * static_cast<double>(events);
        const double slow = setup_.cutoff_speed > 0.0 ? setup_.cutoff_speed : speed;
        const double place = rounding_of_place();
        const double locked = slow > 0.0 ? std::min(kRoundings * kOfOne * place / slow, kLocked * unit) : 0.0;
        const double least = std::max({kNoProgress * unit, kRoundings * rounding, locked});
        const double hop = resting_hop();
        const bool rests = now - watch_time_ <= hop * static_cast<double>(events) && hops_within(i, hop);
        if (watch_events_ != 0 && (now - watch_time_ <= least || rests)) throw_collapse(i);
        watch_time_ = now;
        watch_events_ = events_ + events;
    }
    [[nodiscard]] double rounding_of_place() const {
        double largest = 0.0;
        for (int axis = 0; axis < Dim; ++axis) largest = std::max(largest, enclosure_.size()[axis]);
        return std::numeric_limits<double>::epsilon() * largest;
    }
    /// Hops that lose energy become shorter until that is no more than what the rounding of times gives them: with
    /// restitution e at some 2 e / (1 - e) roundings, where they go on for ever (28 with 0.95). Or they fall again and
    /// again from the height that places are rounded by: on a moving floor, and whatever the restitution. A longer hop
    /// than these does not rest; nor does any that is elastic for its shortness.
    [[nodiscard]] double resting_hop() const {
        constexpr double kRoundings = 8.0;  // times 1 / (1 - e)
        constexpr double kMostRoundings = 1e6;
        if (!Gravity || setup_.tc > 0.0) return 0.0;
        const Vector& gravity = balls_.gravity();
        const double g = square_root(dot(gravity, gravity));
        const double fall = g > 0.0 ? 2.0 * std::sqrt(2.0 * rounding_of_place() / g) : 0.0;
        if (setup_.cutoff_speed > 0.0) return fall;
        double least_loss = 1.0;
        for (const double e : {setup_.restitution, setup_.wall_restitution}) {
            if (e < 1.0) least_loss = std::min(least_loss, 1.0 - e);
        }
        return std::max(
            fall, std::min(kRoundings / least_loss, kMostRoundings) * std::numeric_limits<double>::epsilon() * now_);
    }
    /// Whether a ball's flight to the event at hand was so short, and it meets what it does so slowly as such a flight
    /// ends: of a ball that moves neither is ever so by chance. It may slide along there as fast as it likes.
    [[nodiscard]] bool hops_within(Slot i, double time) const {
        if (!Gravity || balls_.heavy(i) || now_ - balls_.hot(i).time > time) return false;
        const Flight<Dim> flight = balls_.at(i, now_);
        const std::uint32_t partner = next_[i].partner;
        const Vector& gravity = balls_.gravity();
        const double most = time * square_root(dot(gravity, gravity));
        if (partner < count()) {
            const Flight<Dim> other = balls_.at(partner, now_);
            const Vector d = enclosure_.nearest(other.position - flight.position);
            return std::abs(dot(d, other.velocity - flight.velocity)) <= most * square_root(dot(d, d));
        }
        const std::uint32_t number = partner - count();
        if (number >= enclosure_.count()) return false;  // it only comes to another cell
        const Vector normal = gap_to(number, flight.position).normal;
        return std::abs(dot(flight.velocity, normal) - enclosure_.speed(number)) <= most;
    }
    [[noreturn]] void throw_collapse(Slot i) const;
    [[noreturn]] void throw_heavy_at_wall(Slot i, std::uint32_t face) const;
    [[noreturn]] void throw_uncounted(Slot i) const;

    // Contacts: of two balls, of a ball and a wall, and several at once.
    //
    // A collision is first resolved as if it were alone. The prediction that follows meets all neighbours anyway and
    // counts those that touch; only if there are more than the two themselves is the collision taken back and resolved
    // as a cluster. So looking for simultaneous contacts costs nothing where there are none.

    [[nodiscard]] bool within_tc(Slot i) const {
        return !last_hit_.empty() && since_start() - last_hit_[i] < setup_.tc;
    }
    [[nodiscard]] Vector least_hop_of(Slot i, const Vector& velocity, const Vector& into_box) const {
        if (!Gravity) return Vector::filled(0.0);
        return least_hop(velocity, into_box, balls_.gravity_of(i), setup_.cutoff_speed, setup_.wall_restitution == 1.0);
    }

    void collide(Slot i, Slot j) {
        advance_ball(j);
        HotBall& one = balls_.hot(i);
        HotBall& two = balls_.hot(j);
        Vector d = balls_.position(j) - balls_.position(i);
        if (forecast_[i].place.at_edge != 0) d = enclosure_.nearest(d);
        const double d2 = dot(d, d);
        const double reach = one.radius + two.radius;
        if (d2 < reach * reach)
            accounts_.overlap((reach * reach - d2) / (2.0 * reach), std::min(one.radius, two.radius));
        const double b = dot(d, balls_.velocity(j) - balls_.velocity(i));
        if (!elastic_) return collide_with_losses(i, j, d, d2, b);

        const Lanes one_before = motion_lanes(one);
        const Lanes two_before = motion_lanes(two);
        Vector impulse = Vector::filled(0.0);
        if (b < 0.0) {
            const double one_inverse = balls_.inverse_mass(i);
            const double two_inverse = balls_.inverse_mass(j);
            impulse = impulse_factor(b, d2, one_inverse + two_inverse, 1.0) * d;
            const Lanes push = vector_lanes<Dim>(impulse);
            set_motion(one, one_before - Lanes::filled(one_inverse) * push);
            set_motion(two, two_before + Lanes::filled(two_inverse) * push);
        }
        if (more_touch(i, j)) [[unlikely]] {
            set_motion(one, one_before);
            set_motion(two, two_before);
            resolve_touching(i, j);
            return;
        }
        if (b < 0.0) {
            account_pair(i, j, impulse, d);
            log_pair(i, j);
        }
    }

    /// The same where energy, spins or bodies of infinite mass take part.
    void collide_with_losses(Slot i, Slot j, const Vector& d, double d2, double b) {
        const ImpactBody<Dim> one_before = balls_.body(i);
        const ImpactBody<Dim> two_before = balls_.body(j);
        Vector impulse = Vector::filled(0.0);
        if (b < 0.0) {
            ImpactBody<Dim> one_after = one_before;
            ImpactBody<Dim> two_after = two_before;
            const double distance = square_root(d2);
            const Vector n = (1.0 / distance) * d;
            const double e = restitution(
                setup_.restitution, b / distance, setup_.cutoff_speed, [&] { return within_tc(i) || within_tc(j); },
                accounts_.counted());
            const auto hit = impact(one_before, two_before, n, e, setup_.friction);
            apply_impact(one_after, two_after, n, hit);
            impulse = hit.normal * n + hit.tangential;
            balls_.set_body(i, one_after);
            balls_.set_body(j, two_after);
        }
        if (more_touch(i, j)) [[unlikely]] {
            balls_.set_body(i, one_before);
            balls_.set_body(j, two_before);
            resolve_touching(i, j);
            return;
        }
        if (b < 0.0) {
            account_change(i, one_before.velocity);
            account_change(j, two_before.velocity);
            account_pair(i, j, impulse, d);
            const Vector n = (1.0 / square_root(d2)) * d;
            const double work = work_of_bodies(i, j, one_before, two_before, n, impulse);
            accounts_.work(work);
            accounts_.lose(work - (kinetic_energy(balls_.body(i)) - kinetic_energy(one_before)) -
                           (kinetic_energy(balls_.body(j)) - kinetic_energy(two_before)));
            log_pair(i, j);
        }
    }

    /// Of a body of infinite mass, on the other one. \param n  from i to j, who has got the impulse
    [[nodiscard]] double work_of_bodies(Slot i, Slot j, const ImpactBody<Dim>& one, const ImpactBody<Dim>& two,
                                        const Vector& n, const Vector& impulse) const {
        if (balls_.heavy(i)) return dot(impulse, one.velocity + surface_velocity(one.spin, one.radius, n));
        if (balls_.heavy(j)) return -dot(impulse, two.velocity - surface_velocity(two.spin, two.radius, n));
        return 0.0;
    }

    /// Predicts for two balls that have just met, and tells whether anything else touches them.
    bool more_touch(Slot i, Slot j) {
        ++next_[i].hits;
        ++next_[j].hits;
        int touching = predict_after(i, j) + touching_walls(i);
        touching += predict_after(j, i) + touching_walls(j);
        return touching > 4;  // each touches itself and the other
    }

    void hit_wall(Slot i, std::uint32_t number, const Vector& into_box) {
        if (enclosure_.temperature(number) > 0.0) [[unlikely]]
            return hit_thermal_wall(i, number, into_box);
        const double speed = enclosure_.speed(number);
        const ImpactBody<Dim> before = balls_.body(i);
        note_wall_overlap(i, number);
        const Vector hop = least_hop_of(i, before.velocity - speed * into_box, into_box);
        ImpactBody<Dim> after = before;
        after.velocity = before.velocity + hop;
        const double vn = dot(after.velocity, into_box) - speed;
        Vector impulse = Vector::filled(0.0);
        if (vn < 0.0) {
            ImpactBody<Dim> wall = {speed * into_box, Spin<Dim>::filled(0.0), 0.0, 0.0, 0.0};
            const Vector n = -1.0 * into_box;
            const double e = restitution(
                setup_.wall_restitution, vn, setup_.cutoff_speed, [&] { return within_tc(i); }, accounts_.counted());
            const auto hit = impact(after, wall, n, e, setup_.wall_friction);
            apply_impact(after, wall, n, hit);
            // A rounding of it that is left would meet the face once more.
            if (number < kFaces && e == 0.0) after.velocity[number / 2] = 0.0;
            impulse = -1.0 * (hit.normal * n + hit.tangential);
            if (Gravity && !balls_.heavy(i)) impulse = impulse + (1.0 / balls_.inverse_mass(i)) * hop;
            balls_.set_body(i, after);
        }
        ++next_[i].hits;
        const int touching = predict_after(i, count() + number) + touching_walls(i);
        if (touching > 2 && speed == 0.0) [[unlikely]] {  // itself, and this wall
            balls_.set_body(i, before);
            resolve_touching(i, count() + number);
            return;
        }
        if (vn < 0.0) {
            if (Gravity || !elastic_walls_ || speed != 0.0) {
                account_change(i, before.velocity);
                const double work = speed * dot(impulse, into_box);
                accounts_.work(work);
                accounts_.lose(work - (kinetic_energy(after) - kinetic_energy(before)));
            }
            account_wall(i, number, impulse);
        }
    }

    /// The ball goes, and another comes out of the wall.
    void hit_thermal_wall(Slot i, std::uint32_t number, const Vector& into_box) {
        const ImpactBody<Dim> before = balls_.body(i);
        const double speed = enclosure_.speed(number);
        note_wall_overlap(i, number);
        if (dot(before.velocity, into_box) - speed < 0.0) {
            const double mass = 1.0 / balls_.inverse_mass(i);
            const double spread = square_root(enclosure_.temperature(number) * balls_.inverse_mass(i));
            ImpactBody<Dim> after = before;
            after.velocity =
                thermal_wall_velocity(into_box, spread, setup_.seed, draw_id(balls_.id(i), number), draws_++) +
                speed * into_box;
            balls_.set_body(i, after);
            const Vector impulse = mass * (after.velocity - before.velocity);
            const double work = speed * dot(impulse, into_box);
            accounts_.work(work);
            accounts_.wall_heat(number, kinetic_energy(after) - kinetic_energy(before) - work);
            account_change(i, before.velocity);
            account_wall(i, number, impulse);
        }
        ++next_[i].hits;
        predict<false>(i);
    }

    void note_wall_overlap(Slot i, std::uint32_t number) {
        const double radius = balls_.hot(i).radius;
        const double gap = gap_to(number, balls_.position(i)).distance - radius;
        if (gap < 0.0) accounts_.overlap(-gap, radius);
    }

    /// How many walls the ball touches, those that act alone left out.
    [[nodiscard]] int touching_walls(Slot i) const {
        if (!enclosure_.any() || balls_.heavy(i)) return 0;
        const HotBall& ball = balls_.hot(i);
        const CellPlace& place = forecast_[i].place;
        int touching = 0;
        const double near = ball.radius * (1.0 + kTouching);
        if (place.at_edge != 0) {
            for (int axis = 0; axis < Dim; ++axis) {
                for (const bool up : {false, true}) {
                    const std::uint32_t face = 2 * axis + (up ? 1 : 0);
                    if (!enclosure_.is_wall(axis, up ? 1 : 0) || !cells_.is_last(place, axis, up)) continue;
                    const double x = ball.position[axis];
                    if ((up ? enclosure_.size()[axis] - x : x) < near && !enclosure_.acts_alone(face)) ++touching;
                }
            }
        }
        for (std::uint32_t number = kFaces; number < enclosure_.count(); ++number) {
            if (!enclosure_.acts_alone(number) && gap_to(number, balls_.position(i)).distance < near) ++touching;
        }
        return touching;
    }

    /// Resolves the contact of i with `partner` (a slot, or count + number of a wall) and all that touch them, directly
    /// or through others, together.
    void resolve_touching(Slot i, std::uint32_t partner) {
        touches_.collect(
            i, partner, count(), [this](Slot slot) { return balls_.id(slot); },
            [this](Slot slot, const auto& add) { find_touched(slot, add); });
        const std::vector<Slot>& members = touches_.members();
        cluster_.clear();
        for (const Slot member : members) {
            cluster_.bodies.push_back(balls_.body(member));
            cluster_.bodies.back().velocity = balls_.at(member, now_).velocity;
        }
        const auto before = cluster_.bodies;
        std::vector<Vector> apart;
        std::vector<Vector> hops;
        std::size_t first = touches_.pairs().size();
        for (const Touches::Pair& touch : touches_.pairs()) {
            if (touch.one == i && touch.two == partner) first = cluster_.contacts.size();
            hops.push_back(Vector::filled(0.0));
            apart.push_back(Vector::filled(0.0));
            const Vector here = balls_.at(touch.one, now_).position;
            ClusterContact<Dim> contact{};
            contact.one = touches_.index_of(touch.one);
            if (touch.two < count()) {
                apart.back() = enclosure_.nearest(balls_.at(touch.two, now_).position - here);
                contact.normal = (1.0 / square_root(dot(apart.back(), apart.back()))) * apart.back();
                contact.two = touches_.index_of(touch.two);
                contact.e = within_tc(touch.one) || within_tc(touch.two) ? 1.0 : setup_.restitution;
                contact.mu = setup_.friction;
            } else {
                contact.normal = -1.0 * gap_to(touch.two - count(), here).normal;
                contact.two = ClusterContact<Dim>::kWall;
                Vector& velocity = cluster_.bodies[static_cast<std::size_t>(contact.one)].velocity;
                hops.back() = least_hop_of(touch.one, velocity, -1.0 * contact.normal);
                velocity = velocity + hops.back();
                contact.e = within_tc(touch.one) ? 1.0 : setup_.wall_restitution;
                contact.mu = setup_.wall_friction;
            }
            cluster_.contacts.push_back(contact);
        }
        const ClusterOutcome outcome = resolve_cluster_from(cluster_, first, setup_.simultaneous, setup_.cutoff_speed);
        accounts_.cluster(outcome);
        // One that found no end took as long as thousands of events, and jammed balls have nothing else. Of N balls
        // each is in one of them, or a few, at an instant from which time goes on.
        constexpr std::uint64_t kEventsOfOne = 30;
        constexpr std::uint64_t kEventsOfBody = 4;
        if (outcome.gave_up) {
            const std::uint64_t events = std::max<std::uint64_t>(kEventsOfOne, kEventsOfBody * members.size());
            watch_events_ -= std::min(watch_events_ - events_, events);
        }

        std::vector<Slot> changed;
        for (std::size_t m = 0; m < members.size(); ++m) {
            const ImpactBody<Dim>& after = cluster_.bodies[m];
            bool differs = members[m] == i || members[m] == partner;
            for (int axis = 0; axis < Dim; ++axis) {
                differs = differs || after.velocity[axis] != before[m].velocity[axis];
            }
            for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k) differs = differs || after.spin[k] != before[m].spin[k];
            if (!differs) continue;
            advance_ball(members[m]);
            balls_.set_body(members[m], after);
            account_change(members[m], before[m].velocity);
            accounts_.lose(-(kinetic_energy(after) - kinetic_energy(before[m])));
            ++next_[members[m]].hits;
            changed.push_back(members[m]);
        }
        for (std::size_t a = 0; a < cluster_.contacts.size(); ++a) {
            const ClusterContact<Dim>& contact = cluster_.contacts[a];
            const auto [key_one, key_two, one, two] = touches_.pairs()[a];
            const bool hops_off = dot(hops[a], hops[a]) > 0.0;
            if (!contact.hit && !hops_off) continue;
            if (two < count()) {
                account_pair(one, two, contact.impulse, apart[a]);
                const double work =
                    work_of_bodies(one, two, balls_.body(one), balls_.body(two), contact.normal, contact.impulse);
                accounts_.work(work);
                accounts_.lose(work);
                log_pair(one, two);
            } else {
                Vector impulse = -1.0 * contact.impulse;
                if (hops_off) impulse = impulse + (1.0 / balls_.inverse_mass(one)) * hops[a];
                account_wall(one, two - count(), impulse);
            }
        }
        for (const Slot slot : changed) predict<false>(slot);
    }

    /// Calls add(slot, or count + number of a wall) for all that touch a ball now.
    template <class Add>
    void find_touched(Slot i, const Add& add) {
        const Vector here = balls_.at(i, now_).position;
        const std::uint32_t found = cells_.gather_around(forecast_[i].place);
        for (std::uint32_t k = 0; k < found; ++k) {
            const Slot other = cells_.candidates()[k];
            if (other == i || (balls_.heavy(i) && balls_.heavy(other))) continue;
            const Vector d = enclosure_.nearest(balls_.at(other, now_).position - here);
            const double reach = balls_.hot(i).radius + balls_.hot(other).radius;
            if (square_root(dot(d, d)) - reach <= kTouching * reach) add(other);
        }
        if (balls_.heavy(i)) return;
        const double near = balls_.hot(i).radius * (1.0 + kTouching);
        for (std::uint32_t number = 0; number < enclosure_.count(); ++number) {
            if (!enclosure_.stands(number) || enclosure_.acts_alone(number)) continue;
            if (gap_to(number, here).distance < near) add(count() + number);
        }
    }

    // What the accounts and the log hear of it.

    void account_change(Slot i, const Vector& before) {
        if (!balls_.heavy(i)) accounts_.change(now_, 1.0 / balls_.inverse_mass(i), before, balls_.velocity(i));
    }
    void account_pair(Slot i, Slot j, const Vector& impulse_on_j, const Vector& d) {
        const double virial = accounts_.pair(d, impulse_on_j);
        if (balls_.any_heavy() && (balls_.heavy(i) || balls_.heavy(j))) {
            const Slot light = balls_.heavy(i) ? j : i;
            accounts_.pair_was_heavy(balls_.at(light, now_).position, (light == j ? 1.0 : -1.0) * impulse_on_j, virial);
        } else if (forecast_[i].place.at_edge != 0) {  // perhaps across a periodic face
            accounts_.pair_was_across(balls_.at(j, now_).position - balls_.at(i, now_).position, d, impulse_on_j);
        }
        if (!last_hit_.empty()) last_hit_[i] = last_hit_[j] = since_start();
    }
    void log_pair(Slot i, Slot j) const {
        if (!log_.hears(balls_.id(i)) && !log_.hears(balls_.id(j))) return;
        log_.pair(since_start(), balls_.id(i), balls_.body(i), balls_.id(j), balls_.body(j));
    }
    void log_other(LoggedImpact::What what, Slot i) const {
        if (log_.hears(balls_.id(i))) log_.other(what, since_start(), balls_.id(i), balls_.body(i));
    }
    void account_wall(Slot i, std::uint32_t number, const Vector& impulse_on_i) {
        const Vector position = balls_.at(i, now_).position;
        accounts_.wall(number, gap_to(number, position).normal, position, impulse_on_i);
        if (!last_hit_.empty()) last_hit_[i] = since_start();
        if (log_.hears(balls_.id(i))) log_.wall(since_start(), balls_.id(i), balls_.body(i), number);
    }
    /// Gives a ball another velocity, now, which no contact explains: a thermostat does.
    void change_velocity(Slot i, const Vector& velocity) {
        advance_ball(i);
        const ImpactBody<Dim> before = balls_.body(i);
        ImpactBody<Dim> after = before;
        after.velocity = velocity;
        balls_.set_body(i, after);
        account_change(i, before.velocity);
        accounts_.thermostat(balls_.at(i, now_).position, velocity - before.velocity, balls_.inverse_mass(i),
                             kinetic_energy(after) - kinetic_energy(before));
        ++next_[i].hits;
        log_other(LoggedImpact::What::kThermostat, i);
    }

    EventsSetup setup_;
    Enclosure<Dim> enclosure_;
    FlyingBalls<Dim, Gravity> balls_;
    NeighbourCells<Dim> cells_;
    Bubbles<Dim> bubbles_;           // with lists only
    PageVector<NextEvent> next_;     // by slot
    PageVector<Forecast> forecast_;  // by slot
    std::vector<double> last_hit_;   // by slot, when; empty without tc
    Accounts<Dim> accounts_;
    ImpactLog log_;
    bool elastic_;  // impacts between balls keep their energy and momentum: e = 1, no friction, none heavy
    bool elastic_walls_;

    Calendar calendar_;
    Clock clock_;
    double now_ = 0.0;          // since the start of the epoch
    double time_ = 0.0;         // what the caller asked for last, to the bit, or the time of the last event
    double speed_scale_ = 0.0;  // the fastest ball's speed at the start of the epoch
    double event_rate_ = 0.0;   // per time, of the epoch before
    double epoch_end_ = 0.0;    // since its start
    std::uint64_t epoch_events_ = 0;
    double looked_time_ = 0.0;  // when the rate of events was looked at last
    std::uint64_t looked_events_ = 0, next_look_ = 0;
    std::uint64_t epochs_since_sort_ = 0;

    std::uint64_t events_ = 0;
    std::uint64_t draws_ = 0;  // of velocities by thermal walls, so far
    std::uint64_t watch_events_ = 0;
    double watch_time_ = 0.0;

    std::uint32_t met_ = kNoContact;  // whom the ball has just met that is predicted for
    Touches touches_;
    Cluster<Dim> cluster_;
};

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::start(const SolverState& state) {
    const Balls& balls = state.balls;
    clock_ = Clock(state.time, 0.0);
    time_ = state.time;
    for (Slot i = 0; i < count(); ++i) {
        balls_.set_gone(i, !balls.gone.empty() && balls.gone[i] != 0);
        for (int axis = 0; axis < Dim; ++axis) {
            balls_.hot(i).position[axis] = balls.position[axis][i] - setup_.box.min[axis];
            balls_.hot(i).velocity[axis] = balls.velocity[axis][i];
            balls_.image(i)[axis] = balls.image[axis].empty() ? 0 : balls.image[axis][i];
        }
        balls_.set_spin(i, balls, i);
    }
    for (Slot i = 0; i < count(); ++i) {
        if (balls_.gone(i) || balls_.heavy(i)) continue;
        accounts_.enter(1.0 / balls_.inverse_mass(i), balls_.position(i), balls_.velocity(i));
    }
    find_cells(usual_cells());
    while (refine_cells()) {
    }
    sort_slots();
    if constexpr (Lists) {
        for (Slot i = 0; i < count(); ++i) bubbles_.set_centre(i, balls_.hot(i).position);
        bubbles_.make_lists(cells_, [this](Slot i) { return forecast_[i].place; });
    }
    // In a run that goes on balls side by side may have come into each other by roundings.
    constexpr double kCarried = 1e-6;
    check_overlaps(state.records.carried || state.records.flown ? kCarried : kTouching);
    speed_scale_ = balls_.fastest_speed();
    // A short first epoch measures how many events there are, so that the calendar of the next fits.
    start_calendar(setup_.epoch > 0.0 ? setup_.epoch : epoch_length() / 16.0);
    for (Slot i = 0; i < count(); ++i) {
        if (balls_.gone(i)) {
            forecast_[i].contact_time = forecast_[i].event_time = kNeverTouch;
            forecast_[i].partner = next_[i].partner = kNoContact;
        } else {
            predict<false>(i);
        }
    }
}

// The state as plain arrays and back, to the same bits. SolverState::balls holds the balls at the present, for whoever
// reads a checkpoint; what goes on from there is in the record, by id: the balls at their own last events, and their
// forecasts, which no one could predict again to the same bits.

namespace checkpoint {

/// How a partner is written: an id, or this and the number of a side or wall; nothing: -1.
constexpr double kWalls = 4294967296.0;

}  // namespace checkpoint

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::save(SolverState& state) const {
    Frame present;
    frame(present);
    state.step = events_;
    state.time = time();
    state.tallies = tallies();
    state.balls = Balls{};
    balls_.name(state.balls);
    state.balls.position = present.position;
    state.balls.velocity = present.velocity;
    state.balls.spin = present.spin;
    state.balls.image = present.image;
    state.balls.gone = present.gone;

    state.records = {};
    EventsRecord& record = state.records.events.emplace();
    const auto by_id = [&](std::vector<double>& values, auto&& value) {
        values.resize(count());
        for (Slot i = 0; i < count(); ++i) values[balls_.id(i)] = static_cast<double>(value(i));
    };
    const auto partner = [this](std::uint32_t of) {
        if (of == kNoContact) return -1.0;
        return of < count() ? static_cast<double>(balls_.id(of)) : checkpoint::kWalls + (of - count());
    };
    for (int axis = 0; axis < Dim; ++axis) {
        by_id(record.position[axis], [&](Slot i) { return balls_.hot(i).position[axis]; });
        by_id(record.velocity[axis], [&](Slot i) { return balls_.hot(i).velocity[axis]; });
        by_id(record.cell[axis], [&](Slot i) { return forecast_[i].place.cell[axis]; });
        by_id(record.image[axis], [&](Slot i) { return balls_.image(i)[axis]; });
        if constexpr (Lists) by_id(record.bubble[axis], [&](Slot i) { return bubbles_.centre(i)[axis]; });
        record.momentum[axis] = accounts_.flow().momentum[axis];
        record.moment[axis] = accounts_.flow().moment[axis];
    }
    by_id(record.own_time, [&](Slot i) { return balls_.hot(i).time; });
    by_id(record.event_time, [&](Slot i) { return forecast_[i].event_time; });
    by_id(record.event_partner, [&](Slot i) { return partner(next_[i].partner); });
    by_id(record.contact_time, [&](Slot i) { return forecast_[i].contact_time; });
    by_id(record.contact_partner, [&](Slot i) { return partner(forecast_[i].partner); });
    by_id(record.contact_stale, [&](Slot i) {
        const Slot other = forecast_[i].partner;
        return other < count() && next_[other].hits != forecast_[i].partner_hits ? 1.0 : 0.0;
    });
    if (!last_hit_.empty()) by_id(record.last_hit, [&](Slot i) { return last_hit_[i]; });

    const Flow<Dim>& flow = accounts_.flow();
    record.twice_kinetic = flow.twice_kinetic;
    record.mass = flow.mass;
    record.flow_time = flow.time;
    record.twice_kinetic_time = flow.twice_kinetic_time;
    record.gravity_virial_time = flow.gravity_virial_time;
    record.clock_high = clock_.high();
    record.clock_low = clock_.low();
    record.now = now_;
    record.calendar_end = epoch_end_;
    record.speed_scale = speed_scale_;
    record.watch_events = watch_events_;
    record.watch_time = watch_time_;
    for (std::size_t axis = 0; axis < 3; ++axis) record.cells[axis] = static_cast<double>(cells_.grid().cells[axis]);
    record.counts = counted();
    state.records.thermal_draws = draws_;
}

/// Goes on with the counts of another engine, whose state this one has started from.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::take_over(const SolverState& state) {
    if (!state.records.carried) return;
    const EventsCarried& carried = *state.records.carried;
    EventsStatistics& counted = accounts_.counted();
    const double virial_here = counted.virial_start;
    const std::uint64_t epochs = counted.epochs;
    static_cast<EventsCounts&>(counted) = carried.counts;
    watch_events_ = carried.watch_events;
    watch_time_ = carried.watch_time;
    counted.epochs += epochs;
    counted.path_length = carried.path_length;
    accounts_.flow().twice_kinetic_time = carried.twice_kinetic_time;
    accounts_.flow().gravity_virial_time = carried.gravity_virial_time;
    counted.virial_start += virial_here - carried.virial_now;  // where positions or velocities have been set
    accounts_.set_tallies(state.tallies, enclosure_.count());
    events_ = state.step;
    if (!last_hit_.empty() && !carried.last_hit.empty()) {
        for (Slot i = 0; i < count(); ++i) last_hit_[i] = carried.last_hit[balls_.id(i)];
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::resume(const SolverState& state) {
    const EventsRecord& record = *state.records.events;
    const auto usable = [this](const std::vector<double>& values,
                               const std::string& name) -> const std::vector<double>& {
        if (values.size() != count()) throw DamagedState("it has no usable " + name);
        return values;
    };
    const auto whole = [](double value, double least, double most) {
        return value >= least && value <= most && value == std::floor(value);
    };
    const auto require = [this](bool holds, Slot i, const char* what) {
        if (!holds) throw DamagedState(fmt::format("ball {} has no usable {}", i, what));
    };
    CellGrid grid;
    double all_cells = 1.0;
    for (int axis = 0; axis < Dim; ++axis) {
        const double cells = record.cells[axis];
        if (!whole(cells, 1.0, 65535.0)) throw DamagedState("it has no usable cells");
        grid.cells[axis] = static_cast<std::uint32_t>(cells);
        grid.edge[axis] = enclosure_.size()[axis] / cells;
        all_cells *= cells;
        if (cells > 1.0 && grid.edge[axis] < 2.0 * balls_.largest_radius()) {
            throw DamagedState("its cells do not fit its balls");
        }
    }
    if (all_cells > most_cells()) throw DamagedState("its cells do not fit its balls");
    for (const double number : {record.clock_high, record.clock_low, record.now, record.calendar_end,
                                record.speed_scale, record.watch_time}) {
        if (!std::isfinite(number)) throw DamagedState("its clock is not a number");
    }
    if (!(record.now >= 0.0 && record.now <= record.calendar_end && record.calendar_end > 0.0 &&
          record.speed_scale >= 0.0)) {
        throw DamagedState("its clock is out of order");
    }
    cells_.cut(grid, count());
    clock_ = Clock(record.clock_high, record.clock_low);
    now_ = record.now;
    time_ = state.time;
    speed_scale_ = record.speed_scale;
    watch_events_ = record.watch_events;
    watch_time_ = record.watch_time;
    static_cast<EventsCounts&>(accounts_.counted()) = record.counts;
    accounts_.set_tallies(state.tallies, enclosure_.count());
    events_ = state.step;

    Flow<Dim>& flow = accounts_.flow();
    flow.twice_kinetic = record.twice_kinetic;
    flow.mass = record.mass;
    flow.time = record.flow_time;
    flow.twice_kinetic_time = record.twice_kinetic_time;
    flow.gravity_virial_time = record.gravity_virial_time;
    for (int axis = 0; axis < Dim; ++axis) {
        flow.momentum[axis] = record.momentum[axis];
        flow.moment[axis] = record.moment[axis];
    }

    // Slots are ids here; sort_slots puts them in order.
    const auto partner = [&](double written, Slot i, const char* what) {
        const double side = written - checkpoint::kWalls;
        const bool of_ball = whole(written, 0.0, count() - 1.0) && written != static_cast<double>(i);
        const bool of_wall = whole(side, 0.0, 2.0 * Dim - 1.0) || whole(side, kFaces, enclosure_.count() - 1.0) ||
                             (Lists && side == Leaving::kOfBubble);
        require(of_ball || of_wall || written == -1.0, i, what);
        if (written < 0.0) return kNoContact;
        if (written < checkpoint::kWalls) return static_cast<std::uint32_t>(written);
        return count() + static_cast<std::uint32_t>(written - checkpoint::kWalls);
    };
    for (int axis = 0; axis < Dim; ++axis) {
        const auto& position = usable(record.position[axis], "position");
        const auto& velocity = usable(record.velocity[axis], "velocity");
        const auto& cell = usable(record.cell[axis], "cell");
        const auto& image = usable(record.image[axis], "image");
        for (Slot i = 0; i < count(); ++i) {
            require(whole(cell[i], 0.0, grid.cells[axis] - 1.0), i, "cell");
            require(whole(image[i], std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()),
                    i, "image");
            balls_.hot(i).position[axis] = position[i];
            balls_.hot(i).velocity[axis] = velocity[i];
            forecast_[i].place.cell[axis] = static_cast<std::uint16_t>(cell[i]);
            balls_.image(i)[axis] = static_cast<std::int32_t>(image[i]);
        }
    }
    if constexpr (Lists) {
        for (const auto& axis : record.bubble) usable(axis, "bubbles");
        for (Slot i = 0; i < count(); ++i) {
            const double centre[3] = {record.bubble[0][i], record.bubble[1][i], record.bubble[2][i]};
            for (const double along : centre) require(std::isfinite(along), i, "bubble");
            bubbles_.set_centre(i, centre);
        }
    }
    const auto& own_time = usable(record.own_time, "own_time");
    const auto& event_time = usable(record.event_time, "event_time");
    const auto& event_partner = usable(record.event_partner, "event_partner");
    const auto& contact_time = usable(record.contact_time, "contact_time");
    const auto& contact_partner = usable(record.contact_partner, "contact_partner");
    const auto& stale = usable(record.contact_stale, "contact_stale");
    // An event may be due at the very time at which the run was stopped, and be late by a rounding of it.
    const double late = 1.0e-6 * record.calendar_end;
    // Nor before the calendar's first tick, of which it has less than 2^28.
    const double earliest = std::max(record.now - late, -1.0e-9 * record.calendar_end);
    for (Slot i = 0; i < count(); ++i) {
        balls_.set_gone(i, state.balls.gone.at(i) != 0);
        if (!balls_.gone(i) && !balls_.heavy(i)) ++flow.balls;
        if (!balls_.gone(i)) {
            require(std::isfinite(own_time[i]) && own_time[i] <= now_ + late, i, "time");
            require(event_time[i] >= earliest && event_partner[i] != -1.0, i, "event");
            require(contact_time[i] >= earliest && (contact_time[i] >= kNeverTouch) == (contact_partner[i] == -1.0), i,
                    "contact");
        }
        balls_.hot(i).time = own_time[i];
        forecast_[i].event_time = event_time[i];
        forecast_[i].contact_time = contact_time[i];
        forecast_[i].partner_hits = next_[i].partner_hits = stale[i] != 0.0 ? kStale : 0;
        balls_.set_spin(i, state.balls, i);
        if (balls_.gone(i)) {  // what it would have met may be anything
            forecast_[i].partner = next_[i].partner = kNoContact;
            continue;
        }
        forecast_[i].partner = partner(contact_partner[i], i, "partner of its contact");
        next_[i].partner = partner(event_partner[i], i, "partner of its event");
        for (const std::uint32_t met : {forecast_[i].partner, next_[i].partner}) {
            const bool there = met >= count() || stale[i] != 0.0 || state.balls.gone.at(met) == 0;
            require(there, i, "partner: it is gone");
        }
    }
    flow.clear_if_empty();
    if (!last_hit_.empty()) last_hit_ = usable(record.last_hit, "last_hit");
    require_agreement(state);
    sort_slots();
    if constexpr (Lists) bubbles_.make_lists(cells_, [this](Slot i) { return forecast_[i].place; });
    start_calendar(record.calendar_end);
    for (Slot i = 0; i < count(); ++i) {
        if (!balls_.gone(i)) calendar_.push({forecast_[i].event_time, i, ++next_[i].stamp});
    }
}

/// The balls at the present follow from the record, and were saved beside it.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::require_agreement(const SolverState& state) const {
    constexpr double kSame = 1.0e-9;  // another version may round a flight otherwise
    const double passed = since_start();
    if (!(std::abs(passed - state.time) <= kSame * larger(1.0, std::abs(state.time)))) {
        throw DamagedState(fmt::format("its clock says {:.9g}, and its time is {:.9g}", passed, state.time));
    }
    Frame present;
    frame(present);
    for (Slot i = 0; i < count(); ++i) {
        const std::uint32_t id = balls_.id(i);
        if (balls_.gone(i)) continue;
        for (int axis = 0; axis < Dim; ++axis) {
            const double size = enclosure_.size()[axis];
            double away = std::abs(present.position[axis][id] - state.balls.position[axis][id]);
            if (enclosure_.periodic(axis)) away = std::min(away, std::abs(size - away));
            const double speed = std::abs(state.balls.velocity[axis][id]);
            const double change = std::abs(present.velocity[axis][id] - state.balls.velocity[axis][id]);
            if (away <= kSame * size && change <= kSame * larger(speed, speed_scale_)) continue;
            throw DamagedState(fmt::format("ball {} is in two places, or has two velocities", id));
        }
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::throw_collapse(Slot i) const {
    const std::uint32_t partner = next_[i].partner;
    std::string who = fmt::format("ball {}", balls_.id(i));
    if (partner < count()) {
        const std::uint32_t other = balls_.id(partner);
        who = fmt::format("balls {} and {}", std::min(balls_.id(i), other), std::max(balls_.id(i), other));
    } else {
        who += fmt::format(" and wall {}", partner - count());
    }
    std::string where;
    for (int axis = 0; axis < Dim; ++axis) {
        where += fmt::format("{}{:g}", axis == 0 ? "" : ", ", balls_.hot(i).position[axis] + setup_.box.min[axis]);
    }
    std::string moving;
    for (std::size_t wall = 0; wall < setup_.walls.size() && moving.empty(); ++wall) {
        const double speed = setup_.walls[wall].velocity;
        if (speed > 0.0) {
            moving =
                fmt::format("; wall[{}], which moves in at a speed of {:.4g}, must stop before balls are packed at it",
                            wall, speed);
        }
    }
    const bool loses = std::min(setup_.restitution, setup_.wall_restitution) < 1.0;
    std::string advice = loses ? "Set events.tc or events.cutoff_speed above 0, or restitution closer to 1; "
                               : "Set events.tc or events.cutoff_speed above 0; ";
    if (setup_.tc > 0.0 || setup_.cutoff_speed > 0.0) advice = loses ? "A restitution closer to 1 avoids that; " : "";
    advice += setup_.cutoff_speed > 0.0 ? "events.cutoff_speed holds what gravity presses on a wall, and on one alone"
                                        : "a ball that rests on a wall under gravity needs events.cutoff_speed";
    throw SimulationError(fmt::format(
        "inelastic collapse at time {:.9g}: {} near ({}) collide without end while time stands still ({} collisions so "
        "far). {}{}",
        since_start(), who, where, accounts_.tallies().collisions, advice, moving));
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::throw_heavy_at_wall(Slot i, std::uint32_t face) const {
    throw SimulationError(fmt::format(
        "ball {} of infinite mass reaches the wall at {} at time {:.9g}: no wall can turn it. Make that face open or "
        "periodic, or stop the run before",
        balls_.id(i), WallNumber(static_cast<int>(face)).name(), since_start()));
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::throw_uncounted(Slot i) const {
    throw SimulationError(fmt::format(
        "ball {} has crossed a periodic face 2^31 times up to time {:.9g}: its image cannot be counted any further",
        balls_.id(i), since_start()));
}

}  // namespace carom
