#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/observables/registry.hpp"
#include "host/observables/sum_average.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

/// Other balls looked at in a sample, per ball of the run: beyond that only every so-manieth ball's surroundings are
/// counted, others in the next sample. Keeps the cost at about that of a few dozen time steps, in 3D too.
constexpr double kMostLooks = 16.0;

/// Five largest diameters, if the box has room: half of a periodic side, a quarter of one between walls.
double default_reach(const Box& box, const Population& population) {
    double reach = 0.0;
    for (const Species& species : population.table) {
        if (std::isfinite(species.mass)) reach = std::max(reach, 10.0 * species.radius);
    }
    if (reach == 0.0) reach = box.size[0];
    for (int axis = 0; axis < box.dimension; ++axis) {
        reach = std::min(reach, box.size[axis] * (box.periodic(axis) ? 0.5 : 0.25));
    }
    return reach;
}

/// g(r) = pairs / (reference balls * number density of the others * volume of the shell).
///
/// On an axis with walls only balls farther from them than the largest r are references, so that every shell lies in
/// the box; the number density is that of the same part of the box. Both are means over time: that of their product
/// would be larger where their numbers fluctuate together, which says nothing of pairs.
class PairDistribution final : public SumAverage {
public:
    PairDistribution(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, request.bins + 2),
          others_(context.population, request.with.empty() ? request.species : request.with),
          bins_(request.bins),
          reach_(request.max > 0.0 ? request.max : default_reach(context.box, *context.population)) {
        order_.dimension = dimension();
        order_.reach = reach_;
        order_.bins = static_cast<std::uint32_t>(bins_);
        order_.most_looks = kMostLooks;
        for (int axis = 0; axis < dimension(); ++axis) {
            order_.low[axis] = box().min[axis];
            order_.size[axis] = box().size[axis];
            order_.periodic[axis] = box().periodic(axis);
            const double margin = box().periodic(axis) ? 0.0 : reach_;
            order_.inner_low[axis] = box().min[axis] + margin;
            order_.inner_high[axis] = box().min[axis] + box().size[axis] - margin;
            inner_volume_ *= box().size[axis] - 2.0 * margin;
        }
    }

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "";
        info.label = "g(r)";
        info.normalisation =
            "pairs / (mean reference balls * mean number density of the other balls * volume of the shell); for "
            "independent places 1, and 1 - 1/N among N balls of one kind";
        if (!request().with.empty()) info.normalisation += "; other balls: " + request().with;
        info.x = {"distance r", "m", bins_};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        const double width = reach_ / static_cast<double>(bins_);
        for (std::size_t bin = 0; bin < bins_; ++bin) {
            const double inner = static_cast<double>(bin) * width;
            table.x.push_back(inner + 0.5 * width);
            append(table, ratio(bin, shell_volume(dimension(), inner, inner + width)));
        }
        return table;
    }

private:
    [[nodiscard]] std::size_t reference_column() const { return bins_; }
    [[nodiscard]] std::size_t density_column() const { return bins_ + 1; }

    [[nodiscard]] MeanWithError ratio(std::size_t bin, double volume) const {
        const double references = series().mean(reference_column());
        const double density = series().mean(density_column());
        if (!(references * density > 0.0)) return {std::nan(""), std::nan("")};
        const double scale = 1.0 / (references * density * volume);
        const double g = scale * series().mean(bin);
        const std::array weights{Weight{bin, scale}, Weight{reference_column(), -g / references},
                                 Weight{density_column(), -g / density}};
        return blocked_mean(g, series(), weights);
    }

    void sum(BallSampler& balls, std::span<double> sums) override {
        PairOrder order = order_;
        order.turn = series().samples();  // the same after a resume
        pairs_.resize(bins_);
        const PairSample sample = balls.pairs(order, selection().by_species(), others_.by_species(), pairs_);
        // For how many one reference stands is not the same in each sample: more of them are in some.
        const auto each = static_cast<double>(sample.stride);
        for (std::size_t bin = 0; bin < bins_; ++bin) sums[bin] = each * static_cast<double>(pairs_[bin]);
        sums[reference_column()] = each * static_cast<double>(sample.references);
        sums[density_column()] = static_cast<double>(sample.others_inside) / inner_volume_;
    }

    Selection others_;
    std::size_t bins_;
    double reach_;
    double inner_volume_ = 1.0;
    PairOrder order_;
    std::vector<std::int64_t> pairs_;
};

/// A shell must lie in the box: around the way to the nearest image on a periodic axis, between the walls on another.
std::optional<Refusal> check_distance(const ObserveEntry& request, const Box& box) {
    double most = std::numeric_limits<double>::infinity();
    bool walls = false;
    for (int axis = 0; axis < box.dimension; ++axis) {
        most = std::min(most, 0.5 * box.size[axis]);
        walls = walls || !box.periodic(axis);
    }
    if (request.max < most || (request.max == most && !walls)) return std::nullopt;
    return Refusal{"max", fmt::format("must be {} half the shortest side of the box, {}, not {}",
                                      walls ? "below" : "at most", most, request.max)};
}

constexpr Key kKeys[] = {
    kEveryKey,
    kFromKey,
    kBinsKey,
    kMaxKey,
    {.name = "with", .type = KeyType::kText, .fallback = "as species", .help = "gr: the species of the other balls"}};

constexpr ObservableKind kKinds[] = {
    {.name = "gr",
     .what = "radial distribution function: pairs over what independent places would give; 1 - 1/N for N like balls "
             "without order",
     .unit = "1",
     .keys = kKeys,
     .bins = 200,
     .pairs = true,
     .check = check_distance,
     .make = average<PairDistribution>},
};

}  // namespace

std::span<const ObservableKind> pair_kinds() { return kKinds; }

}  // namespace carom
