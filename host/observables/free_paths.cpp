#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "host/observables/growing_bins.hpp"
#include "host/observables/registry.hpp"
#include "host/observables/sum_average.hpp"
#include "kernels/physics/path_length.hpp"

namespace carom {

namespace {

// Sums of a sample of either class below: ways gone, paths that ended, ball-time, collisions.
constexpr std::size_t kWays = 0;
constexpr std::size_t kEnded = 1;
constexpr std::size_t kBallTime = 2;
constexpr std::size_t kHits = 3;
constexpr std::size_t kPathSums = 4;

/// Of all balls together, from what the solver counts anyway: the way that they have gone since the sample before, and
/// how often they have met.
class CountedPaths : public SumAverage {
public:
    CountedPaths(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, kPathSums) {}

    [[nodiscard]] bool needs_accounts() const final { return true; }
    [[nodiscard]] bool needs_path_length() const final { return true; }
    void account(const SolverSums& now) final {
        known_ = counted_.look(now.time, {now.path_length, static_cast<double>(now.tallies.meetings)});
    }
    void skip() final { counted_.forget(); }
    void save(std::vector<double>& out) const final {
        counted_.save(out);
        SumAverage::save(out);
    }
    void restore(SavedNumbers& saved) final {
        counted_.restore(saved);
        SumAverage::restore(saved);
    }

private:
    [[nodiscard]] bool counts(BallSampler&, const Moment&) final { return known_; }
    void sum(BallSampler& balls, std::span<double> sums) final {
        add_up(balls, {}, sums.subspan(kBallTime, 1));
        sums[kBallTime] *= counted_.elapsed();
        sums[kWays] = counted_.gained()[0];
        sums[kHits] = counted_.gained()[1];
    }

    CountedSince<2> counted_;
    bool known_ = false;
};

/// Of some balls, or one by one: follows each from collision to collision with other balls; walls turn it without
/// ending its path. What has come since the last sample is added to the series at the next one. Behind the sums come,
/// of a distribution, paths by length.
class FollowedPaths : public SumAverage {
public:
    FollowedPaths(const ObserveEntry& request, const AverageContext& context, std::size_t bins = 0)
        : SumAverage(request, context, kBins + bins),
          bins_(GrowingBins::Shape::kFromZero, bins, request.max),
          pending_(kBins + bins),
          followed_(context.population->species.size()),
          falls_(followed_.size()) {
        std::size_t chosen = 0;
        for (std::uint32_t id = 0; id < followed_.size(); ++id) chosen += selection().chosen(id) ? 1 : 0;
        const std::size_t every = chosen <= kMostFollowed ? 1 : chosen / std::max(kMostFollowed, chosen / kOneOf);
        ids_ = selection().drawn((chosen + every - 1) / every);
        for (const std::uint32_t id : ids_) {
            followed_[id] = 1;
            falls_[id] = std::isfinite(context.population->table[selection().row(id)].mass) ? 1 : 0;
        }
    }

    [[nodiscard]] std::span<const std::uint8_t> followed() const final { return followed_; }
    void impact(const LoggedImpact& hit) final {
        if (flights_.empty()) flights_.resize(selection().population_size());
        if (hit.what == LoggedImpact::What::kLeft) return leave(hit);
        const bool balls = hit.what == LoggedImpact::What::kBall;
        meet(hit.i, hit.velocity_i, hit.time, balls);
        if (balls) meet(hit.j, hit.velocity_j, hit.time, true);
    }

    void fly_under(std::span<const GravityUntil> gravity) final { gravity_.assign(gravity.begin(), gravity.end()); }
    void interrupt() final {
        skip();
        for (Flight& flight : flights_) flight.moving = false;  // their ways were others
    }
    void skip() final {
        has_last_ = false;
        for (Flight& flight : flights_) flight.known = false;
    }

    [[nodiscard]] std::size_t most_numbers() const override {
        return SumAverage::most_numbers() + pending_.size() + kFlightNumbers * selection().population_size();
    }
    void save(std::vector<double>& out) const override {
        bins_.save(out);
        out.push_back(last_time_);
        out.push_back(has_last_ ? 1.0 : 0.0);
        out.push_back(static_cast<double>(flights_.size()));
        if (!flights_.empty()) out.insert(out.end(), pending_.begin(), pending_.end());
        for (const Flight& flight : flights_) {
            out.insert(out.end(), {flight.since, flight.path, flight.known ? 1.0 : 0.0, flight.moving ? 1.0 : 0.0});
            out.insert(out.end(), flight.velocity.begin(), flight.velocity.end());
        }
        SumAverage::save(out);
    }
    void restore(SavedNumbers& saved) override {
        bins_.restore(saved);
        last_time_ = saved.next();
        has_last_ = saved.next() != 0.0;
        const std::uint64_t flights = saved.next_count();
        if (flights != 0 && flights != selection().population_size()) {
            throw std::invalid_argument("saved paths are of other balls");
        }
        flights_.resize(flights);
        if (!flights_.empty()) {
            const auto pending = saved.next(pending_.size());
            pending_.assign(pending.begin(), pending.end());
        }
        for (Flight& flight : flights_) {
            flight.since = saved.next();
            flight.path = saved.next();
            flight.known = saved.next() != 0.0;
            flight.moving = saved.next() != 0.0;
            for (double& component : flight.velocity) component = saved.next();
        }
        SumAverage::restore(saved);
    }

protected:
    static constexpr std::size_t kBins = kPathSums;

    [[nodiscard]] const GrowingBins& bins() const { return bins_; }

private:
    static constexpr std::size_t kFlightNumbers = 7;
    // To be told of impacts costs: all of a small system are followed, and of a large one every 32nd.
    static constexpr std::size_t kMostFollowed = 512;
    static constexpr std::size_t kOneOf = 32;
    struct Flight {
        double since = 0.0;   ///< when it was last looked at [time]
        double path = 0.0;    ///< up to then, since the last collision [length]
        bool known = false;   ///< it has collided
        bool moving = false;  ///< its velocity since then is known
        Vector3 velocity{};   ///< then
    };

    void meet(std::uint32_t id, const Vector3& after, double time, bool ends) {
        if (followed_[id] == 0) return;
        Flight& flight = flights_[id];
        go_on(id, after, time);
        if (!ends) return;
        pending_[kHits] += 1.0;
        if (flight.known) record(flight.path);
        flight.known = true;
        flight.path = 0.0;
    }

    void leave(const LoggedImpact& last) {
        if (followed_[last.i] == 0) return;
        go_on(last.i, last.velocity_i, last.time);
        flights_[last.i].moving = false;
        pending_[kBallTime] += last.time - last_time_;
    }

    /// Adds the way up to now, from where the ball flies on with another velocity, or the same.
    void go_on(std::uint32_t id, const Vector3& velocity, double time) {
        Flight& flight = flights_[id];
        if (flight.moving) {
            const double way = way_of(flight, falls_[id] != 0, time);
            pending_[kWays] += way;
            flight.path += way;
        }
        flight.velocity = velocity;
        flight.since = time;
        flight.moving = true;
    }

    /// Of a ball that has met nothing up to now, in whichever stages that was. It follows from the flight alone, so a
    /// run may be stopped and resumed within it.
    [[nodiscard]] double way_of(const Flight& flight, bool falls, double time) const {
        Vec<double, 3> velocity{flight.velocity[0], flight.velocity[1], flight.velocity[2]};
        double begin = flight.since;
        double way = 0.0;
        for (std::size_t k = 0; k < gravity_.size(); ++k) {
            const auto& [until, now] = gravity_[k];
            const bool last = k + 1 == gravity_.size() || until >= time;
            if (!last && until <= begin) continue;
            const Vec<double, 3> gravity = falls ? Vec<double, 3>{now[0], now[1], now[2]} : Vec<double, 3>{};
            const double passed = (last ? time : until) - begin;
            way += path_length(velocity, gravity, passed);
            if (last) break;
            velocity = velocity_after(velocity, gravity, passed);
            begin = until;
        }
        return way;
    }

    void record(double path) {
        pending_[kEnded] += 1.0;
        if (bins_.size() == 0) return;
        const std::size_t bin = bins_.find(path, [&](const auto& change) {
            change(std::span(pending_).subspan(kBins));
            series().rearrange([&](std::span<double> batch) { change(batch.subspan(kBins)); });
        });
        if (bin < bins_.size()) pending_[kBins + bin] += 1.0;
    }

    [[nodiscard]] bool counts(BallSampler& balls, const Moment& now) final {
        const bool first = !has_last_;
        if (flights_.empty()) flights_.resize(selection().population_size());
        const auto axes = static_cast<std::size_t>(dimension());
        velocities_.resize(ids_.size() * axes);
        balls.follow(ids_, Followed::kVelocity, std::span(box().size).first(axes), velocities_);
        flying_ = 0.0;
        for (std::size_t k = 0; k < ids_.size(); ++k) {
            if (std::isnan(velocities_[k])) continue;  // gone
            Vector3 velocity{};
            for (std::size_t axis = 0; axis < axes; ++axis) velocity[axis] = velocities_[axis * ids_.size() + k];
            go_on(ids_[k], velocity, now.time);
            flying_ += 1.0;
        }
        if (first) pending_.assign(pending_.size(), 0.0);  // what was before `from`
        has_last_ = true;
        elapsed_ = now.time - last_time_;
        last_time_ = now.time;
        return !first;
    }
    void sum(BallSampler&, std::span<double> sums) final {
        std::ranges::copy(pending_, sums.begin());
        sums[kBallTime] += flying_ * elapsed_;
        pending_.assign(pending_.size(), 0.0);
    }

    std::vector<GravityUntil> gravity_ = std::vector<GravityUntil>(1);  // without end, and none
    GrowingBins bins_;
    std::vector<double> pending_;
    std::vector<std::uint8_t> followed_;  // by id
    std::vector<std::uint8_t> falls_;     // by id, of those: gravity moves it
    std::vector<std::uint32_t> ids_;      // of those
    std::vector<double> velocities_;      // of those, at a sample
    double flying_ = 0.0;                 // how many of them are in, at a sample
    std::vector<Flight> flights_;         // by id; none before the first collision
    bool has_last_ = false;
    double last_time_ = 0.0;
    double elapsed_ = 0.0;
};

class FreePath final : public FollowedPaths {
public:
    FreePath(const ObserveEntry& request, const AverageContext& context)
        : FollowedPaths(request, context, request.bins) {}
    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m-1";
        info.label = "probability density";
        info.normalisation =
            "share of the paths between two collisions with balls, per length: count / (all paths * width of a bin); "
            "integral 1";
        info.x = {"free path", "m", bins().size()};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins().line());
        for (std::size_t bin = 0; bin < bins().size(); ++bin) {
            append(table, ratio_of(series(), kBins + bin, kEnded, 1.0 / bins().width()));
        }
        return table;
    }
};

template <typename Source>
class MeanFreePath final : public Source {
public:
    using Source::Source;
    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = this->base_info();
        info.unit = "m";
        info.label = "mean free path";
        info.normalisation = "way that balls have gone / how often they have collided with others";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = this->base_table();
        Source::append(table, ratio_of(this->series(), kWays, kHits));
        return table;
    }
};

template <typename Source>
class CollisionRate final : public Source {
public:
    using Source::Source;
    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = this->base_info();
        info.unit = "s-1";
        info.label = "collisions per ball and time";
        info.normalisation = "collisions with balls, over balls and time; each counts for both";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = this->base_table();
        Source::append(table, ratio_of(this->series(), kHits, kBallTime));
        return table;
    }
};

/// Of all balls, or of a species.
template <template <typename> class Of>
std::unique_ptr<Average> make_of_paths(const ObserveEntry& request, const AverageContext& context) {
    if (request.species.empty()) return std::make_unique<Of<CountedPaths>>(request, context);
    return std::make_unique<Of<FollowedPaths>>(request, context);
}

/// The same; how long balls that leave were in is known of those that are followed alone.
std::unique_ptr<Average> make_rate(const ObserveEntry& request, const AverageContext& context) {
    const auto opens = [](const auto& faces) { return std::ranges::find(faces, Face::kOpen) != faces.end(); };
    if (std::ranges::none_of(context.box.faces, opens)) return make_of_paths<CollisionRate>(request, context);
    return std::make_unique<CollisionRate<FollowedPaths>>(request, context);
}

constexpr ObservableKind kKinds[] = {
    {.name = "free_path",
     .what = "density of the lengths of balls' paths between two collisions with others, integral 1; `events` alone",
     .unit = "1/m",
     .keys = kHistogramKeys,
     .bins = 128,
     .bins_rule = "a multiple of 4",
     .events_only = true,
     .check = check_growing_bins,
     .make = average<FreePath>},
    {.name = "mean_free_path",
     .what = "way that all balls asked for have gone, over their collisions with others; `events` alone",
     .unit = "m",
     .keys = kAverageKeys,
     .events_only = true,
     .make = make_of_paths<MeanFreePath>},
    {.name = "collision_rate",
     .what = "collisions with others per ball and time; `events` alone",
     .unit = "1/s",
     .keys = kAverageKeys,
     .events_only = true,
     .make = make_rate},
};

}  // namespace

std::span<const ObservableKind> path_kinds() { return kKinds; }

}  // namespace carom
