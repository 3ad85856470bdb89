#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/correlator.hpp"
#include "host/observables/registry.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/shared_flow.hpp"

// What balls have to do with themselves some time later: how far they have come, and how much of their velocity is
// left.

namespace carom {

namespace {

/// Balls that correlations in time follow, at most.
constexpr std::size_t kMostFollowed = 4096;

/// A correlation in time of what each ball has of its own, over many starts.
class CorrelationAverage : public Average {
public:
    /// \param what  that each ball has of its own
    CorrelationAverage(ObserveEntry request, const AverageContext& context, Followed what, Correlation correlation)
        : request_(std::move(request)),
          what_(what),
          size_(context.box.size),
          every_(context.every),
          dimension_(static_cast<std::size_t>(context.box.dimension)),
          rms_speed_(context.rms_speed),
          chosen_(context.population, request_.species),
          ids_(chosen_.drawn(kMostFollowed)),
          correlator_(ids_.size() * dimension_, groups(), context.samples, std::move(correlation)),
          sample_(ids_.size() * dimension_) {}

    void add(BallSampler& balls, const Moment& now) final {
        balls.follow(ids_, what_, std::span(size_).first(dimension_), sample_);
        correlator_.add(now.index, sample_);
    }
    void skip() final { correlator_.begin_anew(); }
    void interrupt() final {}  // whoever kicks may be the thermostat
    [[nodiscard]] std::size_t most_numbers() const final { return correlator_.most_numbers() + sample_.size() + 3; }
    void save(std::vector<double>& out) const final {
        if (drawn_) out.push_back(kDrawn);
        // That of the start: what a run is resumed from has another one, by rounding or by what contacts hold.
        out.insert(out.end(), {kSpeed, rms_speed_});
        correlator_.save(out);
    }
    void restore(SavedNumbers& saved) final {
        if (drawn_ && saved.peek() != kDrawn) {  // by a version that followed one after so many others
            const std::vector<std::uint32_t> all = chosen_.drawn(chosen_.population_size());
            for (std::size_t k = 0; k < ids_.size(); ++k) ids_[k] = all[k * all.size() / ids_.size()];
            correlator_.regroup(groups());
            drawn_ = false;
        }
        if (drawn_) saved.next();
        if (saved.peek() == kSpeed) {
            saved.next();
            rms_speed_ = saved.next();
            if (!(rms_speed_ >= 0.0)) throw std::invalid_argument("a saved speed is none");
        }
        correlator_.restore(saved);
    }

protected:
    [[nodiscard]] AverageInfo base_info() const {
        AverageInfo info;
        info.name = request_.name;
        info.kind = request_.kind;
        info.species = request_.species;
        info.every = every_;
        info.from = request_.from;
        info.x = {"time t", "s", correlator_.lags()};
        return info;
    }
    /// x, and no values yet.
    [[nodiscard]] AverageTable base_table() const {
        AverageTable table;
        table.samples = static_cast<double>(correlator_.starts(0));
        for (std::size_t k = 0; k < correlator_.lags(); ++k) {
            table.x.push_back(every_ * static_cast<double>(correlator_.lag(k)));
        }
        return table;
    }
    /// What has been measured at each lag.
    struct Lags {
        std::vector<MeanWithError> at;  ///< with blocked errors
        std::size_t last = 0;           ///< the longest of which there are blocks enough; 0: none
        double flow = 0.0;              ///< factor of in_common
    };
    [[nodiscard]] Lags measured_lags() const {
        Lags lags;
        for (std::size_t k = 0; k < correlator_.lags(); ++k) lags.at.push_back(correlator_.at(k));
        for (std::size_t k = 1; k < lags.at.size() && in_blocks(k); ++k) lags.last = k;
        lags.flow = flow_factor(lags);
        return lags;
    }
    /// Values with their blocked errors; where blocks are too few, with those of independent balls, times what balls
    /// have in common.
    [[nodiscard]] AverageTable lag_table() const {
        AverageTable table = base_table();
        const Lags lags = measured_lags();
        for (std::size_t k = 0; k < lags.at.size(); ++k) {
            const MeanWithError& lag = lags.at[k];
            const bool blocked = in_blocks(k) && std::isfinite(lag.error);
            table.values.push_back(lag.value);
            table.errors.push_back(!std::isfinite(lag.value) ? std::nan("") : blocked ? lag.error : error(lags, k));
            if (blocked) table.steadiness.add(lag);
        }
        return table;
    }
    /// Of a lag whose starts are too few for blocks.
    [[nodiscard]] double error(const Lags& lags, std::size_t k) const {
        const double alone = correlator_.scatter(k, k);
        return std::isfinite(alone) ? std::sqrt(alone * shared(lags, k)) : error_as_before(lags, k);
    }
    /// The same of so few balls that their scatter tells nothing: that of the last lag with blocks, as it grows. What a
    /// random walk gains comes anew with each span of that length; of what is bounded each start is one of its own.
    [[nodiscard]] double error_as_before(const Lags& lags, std::size_t k) const {
        if (lags.last == 0) return std::nan("");
        const auto starts = [&](std::size_t lag) { return static_cast<double>(correlator_.starts(lag)); };
        const auto spans = [&](std::size_t lag) {
            const double begins = static_cast<double>(Correlator::spacing(lag)) * (starts(lag) - 1.0);
            return std::max(1.0, 0.5 + 1.5 * begins / static_cast<double>(correlator_.lag(lag)));
        };
        const double grown = growth(lags, lags.last, k);
        const double longer = static_cast<double>(correlator_.lag(k)) / static_cast<double>(correlator_.lag(lags.last));
        const double fewer =
            std::pow(spans(lags.last) / spans(k), grown) * std::pow(starts(lags.last) / starts(k), 1.0 - grown);
        return lags.at[lags.last].error * std::pow(longer, grown) * std::sqrt(fewer);
    }
    /// Exponent of the power of its lag by which it grows from one lag to another, from 0 to 1.
    [[nodiscard]] virtual double growth(const Lags&, std::size_t, std::size_t) const { return 0.0; }
    /// How much balls as one add to variances, as a share of those of independent balls.
    [[nodiscard]] virtual double as_one(std::size_t) const { return 0.0; }
    /// What flows that carry many balls add at a lag, up to a factor that is measured.
    [[nodiscard]] virtual double in_common(const Lags&, std::size_t) const { return 1.0; }
    /// Whether that factor is 1.
    [[nodiscard]] virtual bool theory_knows() const { return false; }
    /// How much larger variances are than those of independent balls.
    [[nodiscard]] double shared(const Lags& lags, std::size_t k) const {
        return 1.0 + as_one(k) + lags.flow * in_common(lags, k);
    }
    [[nodiscard]] const Correlator& correlator() const { return correlator_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    /// Along an axis [length/time]; 0: not known.
    [[nodiscard]] double thermal_speed() const { return rms_speed_ / std::sqrt(static_cast<double>(dimension_)); }

private:
    /// The factor of in_common, by the longest lags that have blocks enough. Neighbours share the modes of the gas,
    /// disks most of all.
    [[nodiscard]] double flow_factor(const Lags& lags) const {
        constexpr double kLongest = 0.25;  // of the longest such lag on
        if (theory_knows()) return 1.0;
        double sum = 0.0;
        double one = 0.0;
        double common = 0.0;
        double count = 0.0;
        for (std::size_t k = lags.last; k > 0; --k) {
            if (static_cast<double>(correlator_.lag(k)) < kLongest * static_cast<double>(correlator_.lag(lags.last)))
                break;
            const double ratio = lags.at[k].error * lags.at[k].error / correlator_.scatter(k, k);
            if (!(ratio > 0.0) || !std::isfinite(ratio)) continue;
            sum += std::log(ratio);
            one += as_one(k);
            common += in_common(lags, k);
            count += 1.0;
        }
        // Balls on their free paths share one energy, and are less off together than alone; that is forgotten behind.
        return common > 0.0 ? std::max(0.0, (std::exp(sum / count) - 1.0 - one / count) * count / common) : 0.0;
    }
    /// Whether the run has spans of that length enough, one after the other, for errors by blocks: the values of two
    /// starts know of each other for a third of it, and that is what a blocked error stands.
    [[nodiscard]] bool in_blocks(std::size_t k) const {
        constexpr double kLeastSpans = 12.0;
        return static_cast<double>(correlator_.starts(0)) >= kLeastSpans * static_cast<double>(correlator_.lag(k));
    }
    [[nodiscard]] BallGroups groups() const {
        std::vector<std::uint32_t> rows;
        for (const std::uint32_t id : ids_) rows.push_back(chosen_.row(id));
        return deal_into_groups(rows);
    }
    static constexpr double kDrawn = -1.0;  // in the place of a count: which balls these are
    static constexpr double kSpeed = -2.0;  // likewise: how fast they were

    ObserveEntry request_;
    Followed what_;
    Vector3 size_;  // of the box
    double every_;
    std::size_t dimension_;
    double rms_speed_;  // AverageContext::rms_speed
    Selection chosen_;
    std::vector<std::uint32_t> ids_;
    bool drawn_ = ids_.size() == kMostFollowed;
    Correlator correlator_;
    std::vector<double> sample_;
};

/// Squares of ways, and that of the way of all balls as one.
template <std::size_t Dim>
double square_ways(std::span<const double> early, std::span<const double> late, std::span<double> squares) {
    std::ranges::fill(squares, 0.0);
    double all = 0.0;
    for (std::size_t axis = 0; axis < Dim; ++axis) {
        const double* const from = early.data() + axis * squares.size();
        const double* const to = late.data() + axis * squares.size();
        double* const square = squares.data();
        constexpr std::size_t kLanes = 8;  // of SIMD
        std::array<double, kLanes> sums{};
        const auto add = [&](std::size_t ball, std::size_t lane) {
            const double way = to[ball] - from[ball];
            square[ball] += way * way;
            sums[lane] += way == way ? way : 0.0;
        };
        std::size_t ball = 0;
        for (; ball + kLanes <= squares.size(); ball += kLanes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) add(ball + lane, lane);
        }
        for (; ball < squares.size(); ++ball) add(ball, 0);
        const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
        all += sum * sum;
    }
    return all;
}

class Displacements : public CorrelationAverage {
public:
    Displacements(const ObserveEntry& request, const AverageContext& context)
        : CorrelationAverage(request, context, Followed::kPlace,
                             context.box.dimension == 2 ? square_ways<2> : square_ways<3>),
          gas_(context) {}

protected:
    [[nodiscard]] double growth(const Lags& lags, std::size_t from, std::size_t to) const final {
        const double longer = static_cast<double>(correlator().lag(to)) / static_cast<double>(correlator().lag(from));
        const double grown = std::log(lags.at[to].value / lags.at[from].value) / std::log(longer);
        return grown > 0.0 ? std::min(1.0, grown) : 0.0;
    }
    [[nodiscard]] double as_one(std::size_t k) const final {
        return variance_as_one(correlator().together(k), correlator().balls(k));
    }
    [[nodiscard]] double in_common(const Lags& lags, std::size_t k) const final {
        std::size_t half = 1;
        while (2 * correlator().lag(half + 1) <= correlator().lag(k)) ++half;
        // What walls hold back is sooner forgotten.
        const double grows = half < k ? growth(lags, half, k) : 1.0;
        const double squared_way = lags.at[k].value / static_cast<double>(dimension());
        const double time = info().every * static_cast<double>(correlator().lag(k));
        return grows * grows * gas_.share(correlator().balls(k), squared_way, time, thermal_speed(), spans(k));
    }
    [[nodiscard]] bool theory_knows() const final { return gas_.of_one_kind() && thermal_speed() > 0.0; }

private:
    /// Hard balls of one size that are as many and fill as much of the box.
    class Gas {
    public:
        explicit Gas(const AverageContext& context) {
            constexpr double kThinnest = 1e-6;
            const int dimension = context.box.dimension;
            double filled = 0.0;
            const std::vector<Species>& table = context.population->table;
            const Species* first = nullptr;
            context.population->species.for_each_stretch([&](std::uint32_t row, std::size_t count) {
                filled += static_cast<double>(count) * ball_volume(dimension, table[row].radius);
                balls_ += static_cast<double>(count);
                if (first == nullptr) first = &table[row];
                one_kind_ = one_kind_ && table[row].radius == first->radius && table[row].mass == first->mass;
            });
            diameter_ = 2.0 * std::pow(filled / balls_ / ball_volume(dimension, 1.0), 1.0 / dimension);
            std::array<double, 3> size{};
            std::array<bool, 3> walled{};
            for (int axis = 0; axis < dimension; ++axis) {
                size[axis] = context.box.size[axis] / diameter_;
                walled[axis] = !context.box.periodic(axis);
            }
            flow_.emplace(dimension,
                          std::clamp(filled / context.box.volume(), kThinnest, largest_fluid_fraction(dimension)), size,
                          walled);
        }
        /// Whether the balls of the run are so, too.
        [[nodiscard]] bool of_one_kind() const { return one_kind_; }
        /// Of so many of the balls: SharedFlow::share of all, for each shares with the others that are looked at.
        /// \param speed  thermal, along an axis [length/time]; 0: not known
        [[nodiscard]] double share(double balls, double squared_way, double time, double speed, double spans) const {
            const double way = squared_way / (diameter_ * diameter_);
            // Where walls or neighbours hold balls back, flows carry them less far too.
            const double as_if_free = flow_->time_of(way);
            const double taken = speed > 0.0 ? std::min(time * speed / diameter_, as_if_free) : as_if_free;
            return std::max(0.0, balls - 1.0) / balls_ * flow_->share(way, taken, spans);
        }

    private:
        double balls_ = 0.0;
        double diameter_ = 0.0;
        bool one_kind_ = true;
        std::optional<SharedFlow> flow_;
    };

    /// Over which ways of a lag begin, in units of it.
    [[nodiscard]] double spans(std::size_t k) const {
        const double begins = static_cast<double>(Correlator::spacing(k) * correlator().starts(k));
        return begins / static_cast<double>(correlator().lag(k));
    }

    Gas gas_;
};

class MeanSquareDisplacement final : public Displacements {
public:
    using Displacements::Displacements;

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2";
        info.label = "mean square displacement";
        info.normalisation =
            "mean of |x(t0 + t) - x(t0)|^2 over balls and starts t0, unwrapped positions; with the flow, if there is "
            "one";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override { return lag_table(); }
};

/// D = (W(b) - W(a)) / (2 d (b - a)), W the mean square displacement, b the longest lag of which the run has kSpans one
/// after the other, a about half of it, but not 0, since a ball has not yet forgotten its velocity then: both far
/// beyond the time that this takes, if the run and the time between samples are.
class SelfDiffusion final : public Displacements {
public:
    using Displacements::Displacements;

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2 s-1";
        info.label = "self-diffusion coefficient";
        info.normalisation =
            "growth of the mean square displacement from a lag to twice that / (2 dimension * time between them); lags "
            "of up to a quarter of the run";
        info.x = {};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x.clear();
        std::size_t late = 0;
        for (std::size_t k = 1; k < correlator().lags(); ++k) {
            if (static_cast<double>(correlator().starts(0)) >= kSpans * static_cast<double>(correlator().lag(k)))
                late = k;
        }
        if (late < 2) {
            table.values.push_back(std::nan(""));
            table.errors.push_back(std::nan(""));
            return table;
        }
        std::size_t early = 1;
        while (2 * correlator().lag(early + 1) <= correlator().lag(late)) ++early;
        const double per_time =
            1.0 / (2.0 * static_cast<double>(dimension()) *
                   (info().every * static_cast<double>(correlator().lag(late) - correlator().lag(early))));
        const Lags lags = measured_lags();
        const double alone = correlator().scatter(late, late) - 2.0 * correlator().scatter(early, late) +
                             correlator().scatter(early, early);
        // Of a random walk the two have in common what makes it the root of a half.
        const double error = std::isfinite(alone)
                                 ? std::sqrt(std::max(0.0, alone) * shared(lags, late))
                                 : error_as_before(lags, late) * std::sqrt(1.5 - growth(lags, early, late));
        table.values.push_back((lags.at[late].value - lags.at[early].value) * per_time);
        table.errors.push_back(error * per_time);
        return table;
    }

private:
    static constexpr double kSpans = 4.0;
};

template <std::size_t Dim>
double products(std::span<const double> early, std::span<const double> late, std::span<double> products) {
    std::ranges::fill(products, 0.0);
    for (std::size_t axis = 0; axis < Dim; ++axis) {
        const double* const from = early.data() + axis * products.size();
        const double* const to = late.data() + axis * products.size();
        double* const product = products.data();
        for (std::size_t ball = 0; ball < products.size(); ++ball) product[ball] += from[ball] * to[ball];
    }
    for (double& product : products) product /= static_cast<double>(Dim);
    return 0.0;
}

class VelocityAutocorrelation final : public CorrelationAverage {
public:
    VelocityAutocorrelation(const ObserveEntry& request, const AverageContext& context)
        : CorrelationAverage(request, context, Followed::kVelocity,
                             context.box.dimension == 2 ? products<2> : products<3>) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2 s-2";
        info.label = "velocity autocorrelation";
        info.normalisation = "mean of v(t0) . v(t0 + t) / dimension over balls and starts t0: T / m at t = 0";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override { return lag_table(); }
};

constexpr ObservableKind kKinds[] = {
    {.name = "msd",
     .what = "mean square displacement over the time between, over many starts",
     .unit = "m^2",
     .keys = kAverageKeys,
     .looks = ObservableKind::Looks::kBetweenCollisions,
     .make = average<MeanSquareDisplacement>},
    {.name = "self_diffusion",
     .what =
         "self-diffusion coefficient: what the mean square displacement gains from a lag of an eighth of the run to "
         "one of a quarter, over 2 d times the time between; of 8 samples or more",
     .unit = "m^2/s",
     .keys = kAverageKeys,
     .make = average<SelfDiffusion>},
    {.name = "vacf",
     .what = "velocity autocorrelation v(0) . v(t) / d, over many starts",
     .unit = "m^2/s^2",
     .keys = kAverageKeys,
     .looks = ObservableKind::Looks::kInBursts,
     .make = average<VelocityAutocorrelation>},
};

}  // namespace

std::span<const ObservableKind> correlation_kinds() { return kKinds; }

}  // namespace carom
