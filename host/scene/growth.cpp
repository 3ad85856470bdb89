#include "host/scene/growth.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "host/events/calendar.hpp"
#include "host/scene/space.hpp"
#include "kernels/core/random.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"
#include "kernels/physics/touching.hpp"

namespace carom {
namespace {

constexpr double kGrowthRate = 0.03;        // of the largest diameter, in thermal speeds
constexpr double kStage = 0.01;             // scale grows by this share, then growth has its heat taken out
constexpr double kRestHits = 20.0;          // collisions per ball after growth
constexpr double kJammed = 400.0;           // events per ball in a stage: a pressure of some 500 n T
constexpr std::uint64_t kAFew = 4000;       // events that any stage may have
constexpr std::uint64_t kAWhile = 1 << 14;  // events: some milliseconds
constexpr double kMargin = kTouching;  // balls end farther apart than they must, beyond what rounding may take away

template <int Dim>
class Growth {
public:
    Growth(const Scene& scene, const Region<Dim>& region, const std::vector<PlacedBall<Dim>>& placed,
           const std::vector<GrowingBall<Dim>>& balls)
        : while_placing_(scene.while_placing) {
        for (const auto& ball : balls) largest_ = larger(largest_, ball.radius);
        find_cells(region, balls.size());
        around_ = Surroundings<Dim>(scene, grid_, placed, largest_);
        flying_.reserve(balls.size());
        for (const GrowingBall<Dim>& ball : balls) {
            flying_.push_back(
                {.place = ball, .velocity = {}, .free = {}, .time = 0.0, .hits = 0, .cell = {}, .next = kNone});
            for (int axis = 0; axis < Dim; ++axis) {
                // Where there is no way to go, none is gone.
                const bool room = ball.high[axis] - ball.low[axis] > kMargin * ball.radius;
                flying_.back().free[axis] = room ? 1.0 : 0.0;
            }
        }
        events_.resize(balls.size());
        draw_velocities(scene.seed);
    }

    /// From one scale to another; false when the balls jam on the way.
    bool grow(double from, double to) {
        scale_ = from;
        growth_ = 1.0;  // the clock counts scale
        start(to - from);
        return run(to - from, ~0ULL);
    }

    /// On without growth, until balls have collided so often on the mean, if they do.
    void rest(double scale, double hits_per_ball) {
        scale_ = scale;
        growth_ = 0.0;
        start(kStage);
        run(kNeverTouch, static_cast<std::uint64_t>(0.5 * hits_per_ball * static_cast<double>(flying_.size())));
    }

    void store(std::vector<GrowingBall<Dim>>& balls) const {
        for (std::size_t k = 0; k < balls.size(); ++k) balls[k].center = flying_[k].place.center;
    }

private:
    static constexpr std::uint32_t kNone = ~0U;
    enum class Kind : std::uint8_t { kNothing, kBall, kStanding, kBound, kCell };

    struct Flying {
        GrowingBall<Dim> place;  // at `time`
        Point<Dim> velocity;
        Point<Dim> free;  // 1, or 0 along an axis without room
        double time;
        std::uint32_t hits;  // how often the velocity has changed
        typename PlacementGrid<Dim>::Cell cell;
        std::uint32_t next;  // in the same cell
    };
    struct Event {
        double time = kNeverTouch;
        std::uint32_t partner = kNone;  // ball, number of what stands there, or axis
        std::uint32_t hits = 0;         // of the partner, when this was foretold
        std::uint32_t stamp = 0;        // of the entry in the calendar that counts
        Kind kind = Kind::kNothing;
    };

    void find_cells(const Region<Dim>& region, std::size_t count) {
        double width = 2.0 * largest_ * (1.0 + 2.0 * kMargin);
        constexpr double kCellsPerBall = 4.0;  // more would only cost memory
        const double most = kCellsPerBall * static_cast<double>(count) + 64.0;
        for (double cells = most + 1.0; cells > most; width *= 1.25) {
            cells = 1.0;
            for (int axis = 0; axis < Dim; ++axis) cells *= larger(1.0, region.length[axis] / width);
            if (cells <= most) break;
        }
        grid_ = PlacementGrid<Dim>(region.low, region.length, region.wraps, width);
        for (int axis = 0; axis < Dim; ++axis) {
            few_[axis] = grid_.wraps(axis) && grid_.cells(axis) < 3;
            any_few_ = any_few_ || few_[axis];
        }
        first_.assign(grid_.count(), kNone);
    }

    void draw_velocities(std::uint64_t seed) {
        for (std::size_t k = 0; k < flying_.size(); ++k) {
            const NormalPair pair = normal_pair(random_words(seed, k, RandomPurpose::kGrowth, 0));
            flying_[k].velocity[0] = pair.first;
            flying_[k].velocity[1] = pair.second;
            if (Dim == 3) {
                flying_[k].velocity[Dim - 1] = normal_pair(random_words(seed, k, RandomPurpose::kGrowth, 1)).first;
            }
            for (int axis = 0; axis < Dim; ++axis) flying_[k].velocity[axis] *= flying_[k].free[axis];
        }
    }

    /// All at time 0, at the thermal speed, in their cells, with their next events, those before `end` in the calendar.
    void start(double end) {
        double square = 0.0;
        double wanted = 0.0;
        const double thermal = 2.0 * largest_ / kGrowthRate;
        for (const Flying& ball : flying_) {
            square += dot(ball.velocity, ball.velocity);
            wanted += dot(ball.free, ball.free) * thermal * thermal;
        }
        const double factor = square > 0.0 ? square_root(wanted / square) : 1.0;
        std::fill(first_.begin(), first_.end(), kNone);
        for (std::uint32_t k = 0; k < flying_.size(); ++k) {
            Flying& ball = flying_[k];
            ball.velocity = factor * ball.velocity;
            ball.time = 0.0;
            ball.cell = grid_.cell_of(ball.place.center);
            put(k);
        }
        for (std::uint32_t k = 0; k < flying_.size(); ++k) foretell(k);
        open_calendar(end);
    }

    /// A calendar from 0 to `end`, with what is foretold.
    void open_calendar(double end) {
        constexpr double kTicksPerBall = 8.0;  // per kStage: about as many as there are events
        calendar_.start(0.0, end, kStage / (kTicksPerBall * static_cast<double>(flying_.size())));
        for (std::uint32_t k = 0; k < flying_.size(); ++k) enter(k);
    }

    void enter(std::uint32_t k) { calendar_.push({events_[k].time, k, ++events_[k].stamp}); }

    /// The next event before `end`, or null; of equal times the one of the lower number.
    const CalendarEntry* next_event(double end) {
        const auto counts = [this](const CalendarEntry& entry) { return events_[entry.slot].stamp == entry.stamp; };
        const auto before = [](const CalendarEntry& a, const CalendarEntry& b) { return a.slot < b.slot; };
        for (;;) {
            if (const CalendarEntry* next = calendar_.next(end, counts, before, [](int, std::uint32_t) {})) return next;
            if (calendar_.end() >= end) return nullptr;
            double first = kNeverTouch;
            for (const Event& event : events_) first = smaller(first, event.time);
            if (!(first < end)) return nullptr;
            open_calendar(2.0 * larger(first, calendar_.end()));
        }
    }

    /// Until a time, or so many collisions of balls; then all stand at that moment. False when there is no end of
    /// events.
    bool run(double end, std::uint64_t most_collisions) {
        const auto most = static_cast<std::uint64_t>(kJammed * static_cast<double>(flying_.size())) + kAFew;
        std::uint64_t events = 0;
        std::uint64_t collisions = 0;
        double now = 0.0;
        bool ended = false;
        for (std::uint64_t turns = 0; collisions < most_collisions && events < most; ++turns) {
            if (turns % kAWhile == 0) while_placing_();
            const CalendarEntry* const next = next_event(end);
            if (next == nullptr) {
                ended = true;
                break;
            }
            const std::uint32_t k = next->slot;
            calendar_.pop();
            const Event event = events_[k];
            now = event.time;
            fly(k, now);
            switch (event.kind) {
                case Kind::kCell:
                    cross(k, static_cast<int>(event.partner));
                    break;
                case Kind::kBound:
                    turn(k, static_cast<int>(event.partner));
                    break;
                case Kind::kStanding:
                    bounce(k, event.partner);
                    break;
                case Kind::kBall:
                    if (event.hits != flying_[event.partner].hits) break;  // the partner's path has changed meanwhile
                    collide(k, event.partner);
                    predict(event.partner);
                    ++collisions;
                    break;
                case Kind::kNothing:
                    break;
            }
            predict(k);
            if (event.kind != Kind::kCell) ++events;
        }
        stop(ended && end < kNeverTouch ? end : now);
        return events < most;
    }

    /// All balls to one moment, in the region as they began.
    void stop(double now) {
        for (std::uint32_t k = 0; k < flying_.size(); ++k) {
            fly(k, now);
            const GrowingBall<Dim>& bounds = flying_[k].place;
            for (int axis = 0; axis < Dim; ++axis) {
                double& x = flying_[k].place.center[axis];
                const double low = grid_.low(axis);
                x = smaller(larger(x, bounds.low[axis]), bounds.high[axis]);
                if (!grid_.wraps(axis)) continue;
                if (x < low) x += grid_.length(axis);
                if (x >= low + grid_.length(axis)) x = larger(low, x - grid_.length(axis));
            }
        }
    }

    void fly(std::uint32_t k, double time) {
        Flying& ball = flying_[k];
        const double way = time - ball.time;
        for (int axis = 0; axis < Dim; ++axis) {
            ball.place.center[axis] = fused(ball.velocity[axis], way, ball.place.center[axis]);
        }
        ball.time = time;
    }

    // What comes next for a ball.

    void predict(std::uint32_t k) {
        foretell(k);
        enter(k);
    }

    void foretell(std::uint32_t k) {
        const Flying& ball = flying_[k];
        Event event;
        for (int axis = 0; axis < Dim; ++axis) leave_or_turn(ball, axis, event);
        const std::size_t cell = grid_.number(ball.cell);
        const auto standing = around_.next(ball.place.center, ball.velocity, ball.place.radius, cell);
        note(event, standing.time, Kind::kStanding, standing.number, 0);
        look_in(k, cell, event);
        grid_.all_neighbours(ball.cell, [&](std::size_t number) {
            look_in(k, number, event);
            return true;
        });
        event.time = event.kind == Kind::kNothing ? kNeverTouch : event.time + ball.time;
        event.stamp = events_[k].stamp;
        events_[k] = event;
    }

    static void note(Event& event, double time, Kind kind, std::uint32_t partner, std::uint32_t hits) {
        if (time < event.time) event = {time, partner, hits, 0, kind};
    }

    void leave_or_turn(const Flying& ball, int axis, Event& event) const {
        const double v = ball.velocity[axis];
        if (v == 0.0) return;
        const bool up = v > 0.0;
        const double x = ball.place.center[axis];
        const auto partner = static_cast<std::uint32_t>(axis);
        const double way = up ? ball.place.high[axis] - x : x - ball.place.low[axis];
        if (way < kNeverTouch) note(event, plane_time(way, up ? -v : v, 0.0), Kind::kBound, partner, 0);
        if (!grid_.wraps(axis) && ball.cell[axis] == (up ? grid_.cells(axis) - 1 : 0)) return;
        const double edge = grid_.low(axis) + (ball.cell[axis] + (up ? 1 : 0)) / grid_.per_length(axis);
        note(event, plane_time(up ? edge - x : x - edge, up ? -v : v, 0.0), Kind::kCell, partner, 0);
    }

    void look_in(std::uint32_t k, std::size_t cell, Event& event) const {
        const Flying& ball = flying_[k];
        const double scale = scale_ + growth_ * ball.time;
        for (std::uint32_t at = first_[cell]; at != kNone; at = flying_[at].next) {
            if (at == k) continue;
            const Flying& other = flying_[at];
            const Point<Dim> motion = other.velocity - ball.velocity;
            const double sum = ball.place.radius + other.place.radius;
            const Point<Dim> apart = displacement(ball, other);
            const auto try_image = [&](const Point<Dim>& d) {
                note(event, growing_pair_time(d, motion, sum * scale, sum * growth_), Kind::kBall, at, other.hits);
            };
            try_image(apart);
            if (any_few_) try_other_images(apart, try_image);
        }
    }

    /// Across fewer than three cells a ball may meet another from either side.
    template <class F>
    void try_other_images(const Point<Dim>& apart, F&& try_image) const {
        for (unsigned mask = 1; mask < (1U << Dim); ++mask) {
            Point<Dim> image = apart;
            bool is_one = true;
            for (int axis = 0; axis < Dim; ++axis) {
                if (((mask >> axis) & 1U) == 0) continue;
                is_one = is_one && few_[axis];
                image[axis] += image[axis] > 0.0 ? -grid_.length(axis) : grid_.length(axis);
            }
            if (is_one) try_image(image);
        }
    }

    /// From a ball to where another is at the ball's time, the nearest image.
    [[nodiscard]] Point<Dim> displacement(const Flying& ball, const Flying& other) const {
        Point<Dim> apart;
        const double way = ball.time - other.time;
        for (int axis = 0; axis < Dim; ++axis) {
            double along = fused(other.velocity[axis], way, other.place.center[axis]) - ball.place.center[axis];
            if (grid_.wraps(axis)) {
                if (along > 0.5 * grid_.length(axis)) along -= grid_.length(axis);
                if (along < -0.5 * grid_.length(axis)) along += grid_.length(axis);
            }
            apart[axis] = along;
        }
        return apart;
    }

    // What happens to a ball.

    void cross(std::uint32_t k, int axis) {
        take(k);
        Flying& ball = flying_[k];
        std::int32_t& cell = ball.cell[axis];
        if (ball.velocity[axis] > 0.0) {
            if (++cell == grid_.cells(axis)) {
                cell = 0;
                ball.place.center[axis] -= grid_.length(axis);
            }
        } else if (--cell < 0) {
            cell = grid_.cells(axis) - 1;
            ball.place.center[axis] += grid_.length(axis);
        }
        put(k);
    }

    void turn(std::uint32_t k, int axis) {
        Flying& ball = flying_[k];
        ball.place.center[axis] = ball.velocity[axis] > 0.0 ? ball.place.high[axis] : ball.place.low[axis];
        ball.velocity[axis] = -ball.velocity[axis];
        ++ball.hits;
    }

    void bounce(std::uint32_t k, std::uint32_t standing) {
        Flying& ball = flying_[k];
        ball.velocity = around_.bounced(standing, ball.place.center, ball.velocity);
        for (int axis = 0; axis < Dim; ++axis) ball.velocity[axis] *= ball.free[axis];
        ++ball.hits;
    }

    /// Elastic in the eyes of the surfaces, which move apart at the rate of growth. All masses are 1.
    void collide(std::uint32_t k, std::uint32_t partner) {
        Flying& ball = flying_[k];
        Flying& other = flying_[partner];
        fly(partner, ball.time);
        const Point<Dim> apart = displacement(ball, other);
        const double square = dot(apart, apart);
        const double rate = (ball.place.radius + other.place.radius) * growth_;
        const double closing = dot(apart, other.velocity - ball.velocity) - square_root(square) * rate;
        if (closing < 0.0) {
            const double factor = impulse_factor(closing, square, 2.0, 1.0);
            push(ball, -factor, apart);
            push(other, factor, apart);
        }
        ++ball.hits;
        ++other.hits;
    }

    static void push(Flying& ball, double factor, const Point<Dim>& along) {
        for (int axis = 0; axis < Dim; ++axis) {
            ball.velocity[axis] = ball.free[axis] * fused(factor, along[axis], ball.velocity[axis]);
        }
    }

    void put(std::uint32_t k) {
        std::uint32_t& first = first_[grid_.number(flying_[k].cell)];
        flying_[k].next = first;
        first = k;
    }

    void take(std::uint32_t k) {
        std::uint32_t* link = &first_[grid_.number(flying_[k].cell)];
        while (*link != k) link = &flying_[*link].next;
        *link = flying_[k].next;
    }

    std::function<void()> while_placing_;
    double scale_ = 1.0;   // at time 0
    double growth_ = 1.0;  // of the scale, per time
    double largest_ = 0.0;
    PlacementGrid<Dim> grid_;
    Vec<bool, Dim> few_{};
    bool any_few_ = false;
    Surroundings<Dim> around_;
    std::vector<Flying> flying_;
    std::vector<Event> events_;         // the next of each ball
    std::vector<std::uint32_t> first_;  // per cell, a ball in it
    Calendar calendar_;
};

}  // namespace

template <int Dim>
double grow(const Scene& scene, const Region<Dim>& region, const std::vector<PlacedBall<Dim>>& placed, double scale,
            std::vector<GrowingBall<Dim>>& balls) {
    if (balls.empty()) return 1.0;
    constexpr double kEnd = 1.0 + kMargin;
    Growth<Dim> growth(scene, region, placed, balls);
    while (scale < kEnd) {
        const double next = scale * (1.0 + 1.5 * kStage) < kEnd ? scale * (1.0 + kStage) : kEnd;
        if (!growth.grow(scale, next)) return scale;
        scale = next;
    }
    growth.rest(kEnd, kRestHits);
    growth.store(balls);
    return 1.0;
}

template double grow<2>(const Scene&, const Region<2>&, const std::vector<PlacedBall<2>>&, double,
                        std::vector<GrowingBall<2>>&);
template double grow<3>(const Scene&, const Region<3>&, const std::vector<PlacedBall<3>>&, double,
                        std::vector<GrowingBall<3>>&);

}  // namespace carom
