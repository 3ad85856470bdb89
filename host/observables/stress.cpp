#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "host/observables/registry.hpp"
#include "host/observables/sum_average.hpp"

namespace carom {

namespace {

/// The two indices of each component, in the order of StressTensor.
constexpr std::array<std::array<int, 2>, 6> kIndices{{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
constexpr std::array<const char*, 6> kNames{"xx", "yy", "zz", "xy", "xz", "yz"};

/// Sums of one sample: the tensor S_ab = sum over balls m v_a v_b + sum over pairs r_a F_b, then twice the kinetic
/// energy, the same without that of a momentum which periodic axes conserve, the number of balls, and of contacts seen,
/// and the pairs' part of the tensor.
///
/// Hard contacts pass impulses, so their part is what has been counted since the sample before, over the time since:
/// over a run nothing is left out; but of a few impacts nobody can say how much more or less they might have been.
/// Springs are looked at as they are at the sample: where these saw only a few contacts, their forces, large and
/// seldom, are no sample of what the contacts carry, and there is no error.
class StressSums : public SumAverage {
public:
    StressSums(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, kWidth), radius_(mean_radius(*context.population)) {}

    [[nodiscard]] bool needs_accounts() const override { return true; }
    void account(const SolverSums& now) override {
        if (!now.tallies.collisional_virial) {
            pairs_ = now.totals.pair_stress;
            contacts_ = static_cast<double>(now.totals.contacts);
            known_ = true;
            return;
        }
        known_ = impacts_.look(now.time, now.tallies.collisional_stress);
        if (!known_) return;
        const StressTensor& gained = impacts_.gained();
        // Each impact has been counted: samples since which some were, as many as an error needs of any.
        contacts_ = gained[0] + gained[1] + gained[2] != 0.0 ? kLeastContacts / kLeastSamplesForError : 0.0;
        for (std::size_t k = 0; k < pairs_.size(); ++k) pairs_[k] = gained[k] / impacts_.elapsed();
    }
    void skip() override { impacts_.forget(); }

    void save(std::vector<double>& out) const override {
        impacts_.save(out);
        SumAverage::save(out);
    }
    void restore(SavedNumbers& saved) override {
        impacts_.restore(saved);
        SumAverage::restore(saved);
    }

protected:
    static constexpr std::size_t kWidth = 16;
    static constexpr std::size_t kTwiceKinetic = 6;
    static constexpr std::size_t kThermal = 7;
    static constexpr std::size_t kBalls = 8;
    static constexpr std::size_t kContacts = 9;
    static constexpr std::size_t kPairs = 10;
    /// Seen in all samples: of fewer, the share of the contacts is off by more than a fifth, 1 / sqrt(30), and its
    /// error is a guess.
    static constexpr double kLeastContacts = 30.0;

    /// \return  the error, if the samples saw contacts enough
    [[nodiscard]] MeanWithError judged(MeanWithError measured) const {
        const double seen = series().mean(kContacts) * static_cast<double>(series().samples());
        if (!(seen >= kLeastContacts)) measured.error = std::numeric_limits<double>::quiet_NaN();
        return measured;
    }

    [[nodiscard]] double volume_along(int axis) const { return box().volume_along(axis, radius_); }

private:
    static double mean_radius(const Population& population) {
        double sum = 0.0;
        std::size_t balls = 0;
        population.species.for_each_stretch([&](std::uint32_t row, std::size_t count) {
            if (std::isinf(population.table[row].mass)) return;  // no wall is pushed by it
            balls += count;
            for (std::size_t k = 0; k < count; ++k) sum += population.table[row].radius;
        });
        return balls == 0 ? 0.0 : sum / static_cast<double>(balls);
    }

    [[nodiscard]] bool counts(BallSampler&, const Moment&) final { return known_; }
    void sum(BallSampler& balls, std::span<double> sums) final {
        constexpr std::size_t kTensor = std::tuple_size_v<StressTensor>;
        std::array<double, BallSums::kMostColumns> motion{};  // tensor, momentum, mass, balls
        add_up(balls, {.terms = BallSums::Terms::kStress}, motion);
        const double mass = motion[kTensor + 3];
        for (std::size_t k = 0; k < kTensor; ++k) {
            sums[k] = motion[k] + pairs_[k];
            sums[kPairs + k] = pairs_[k];
        }
        for (std::size_t axis = 0; axis < 3; ++axis) sums[kTwiceKinetic] += motion[axis];
        sums[kThermal] = sums[kTwiceKinetic];
        for (int axis = 0; axis < dimension(); ++axis) {
            const double p = motion[kTensor + static_cast<std::size_t>(axis)];
            if (box().periodic(axis) && mass > 0.0) sums[kThermal] -= p * p / mass;
        }
        sums[kBalls] = motion[kTensor + 4];
        sums[kContacts] = contacts_;
    }

    double radius_;
    StressTensor pairs_{};
    double contacts_ = 0.0;
    bool known_ = false;
    CountedSince<std::tuple_size_v<StressTensor>> impacts_;
};

enum class StressPart : std::uint8_t { kWhole, kKinetic, kCollisional };

/// The tensor over the volume, or a part of it: on the diagonal the pressure on planes across each axis.
template <StressPart kPart>
class Stress final : public StressSums {
public:
    using StressSums::StressSums;
    [[nodiscard]] AverageInfo info() const override {
        static constexpr std::array kLabels{"stress", "kinetic part of the stress", "collisional part of the stress"};
        static constexpr std::array kSums{"(sum m v_a v_b + sum over pairs r_a F_b)", "sum m v_a v_b",
                                          "sum over pairs r_a F_b"};
        AverageInfo info = base_info();
        info.unit = pressure_unit(dimension());
        info.label = kLabels[static_cast<std::size_t>(kPart)];
        info.normalisation = std::string(kSums[static_cast<std::size_t>(kPart)]) +
                             " / volume, of the centres along a; mean of the diagonal: pressure";
        for (std::size_t k = 0; k < kIndices.size(); ++k) {
            if (kIndices[k][1] < dimension()) info.components.emplace_back(kNames[k]);
        }
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        for (std::size_t k = 0; k < kIndices.size(); ++k) {
            const auto [a, b] = kIndices[k];
            if (b >= dimension()) continue;
            const double per_volume = 1.0 / (a == b ? volume_along(a) : box().volume());
            switch (kPart) {
                case StressPart::kWhole:
                    append(table, judged(mean_of(series(), k, per_volume)));
                    break;
                case StressPart::kKinetic: {
                    const std::array weights{Weight{k, per_volume}, Weight{kPairs + k, -per_volume}};
                    append(table, blocked_mean((series().mean(k) - series().mean(kPairs + k)) * per_volume, series(),
                                               weights));
                    break;
                }
                case StressPart::kCollisional:
                    append(table, judged(mean_of(series(), kPairs + k, per_volume)));
                    break;
            }
        }
        return table;
    }
};

/// Weights of the diagonal, which add up to the trace.
std::vector<Weight> trace(int dimension, double factor) {
    std::vector<Weight> weights;
    for (int axis = 0; axis < dimension; ++axis) weights.push_back({static_cast<std::size_t>(axis), factor});
    return weights;
}

/// p = (2 K + sum r . F) / (d V).
class Pressure final : public StressSums {
public:
    using StressSums::StressSums;
    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = pressure_unit(dimension());
        info.label = "pressure";
        info.normalisation = "(sum m v^2 + sum over pairs r . F) / (d volume of the centres)";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        double volume = 0.0;
        double sum = 0.0;
        for (int axis = 0; axis < dimension(); ++axis) {
            volume += volume_along(axis);
            sum += series().mean(static_cast<std::size_t>(axis));
        }
        append(table, judged(blocked_mean(sum / volume, series(), trace(dimension(), 1.0 / volume))));
        return table;
    }
};

/// Z = p V / (N T) = 1 + <sum r . F> / (d N T), d N T = <2 K> d N / D with D velocity degrees of freedom: a periodic
/// axis conserves momentum, which takes one.
class Compressibility final : public StressSums {
public:
    using StressSums::StressSums;
    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "";
        info.label = "compressibility factor p V / (N T)";
        info.normalisation = "1 + <sum over pairs r . F> / (d N T), T from the mean kinetic energy over time";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        double trace_sum = 0.0;
        double periodic = 0.0;
        for (int axis = 0; axis < dimension(); ++axis) {
            trace_sum += series().mean(static_cast<std::size_t>(axis));
            periodic += box().periodic(axis) ? 1.0 : 0.0;
        }
        const double thermal = series().mean(kThermal);
        const double all = dimension() * series().mean(kBalls);
        const double share = (all - periodic) / all;
        const double pairs = trace_sum - series().mean(kTwiceKinetic);
        std::vector<Weight> weights = trace(dimension(), share / thermal);
        weights.push_back({kTwiceKinetic, -share / thermal});
        weights.push_back({kThermal, -share / thermal * pairs / thermal});
        append(table, judged(blocked_mean(1.0 + share * pairs / thermal, series(), weights)));
        return table;
    }
};

constexpr std::string_view kPressureUnit = "Pa, in 2D N/m";

constexpr ObservableKind kKinds[] = {
    {.name = "stress",
     .what = "stress tensor (sum m v_a v_b + sum over pairs r_a F_b) / V: xx, yy, (zz,) xy, (xz, yz); kinetic and "
             "collisional part together",
     .unit = kPressureUnit,
     .keys = kAverageKeys,
     .of = ObservableKind::Of::kAll,
     .make = average<Stress<StressPart::kWhole>>},
    {.name = "kinetic_stress",
     .what = "its kinetic part alone, sum m v_a v_b / V",
     .unit = kPressureUnit,
     .keys = kAverageKeys,
     .has_energy = true,
     .make = average<Stress<StressPart::kKinetic>>},
    {.name = "collisional_stress",
     .what = "its collisional part alone, sum over pairs r_a F_b / V",
     .unit = kPressureUnit,
     .keys = kAverageKeys,
     .of = ObservableKind::Of::kAll,
     .make = average<Stress<StressPart::kCollisional>>},
    {.name = "pressure",
     .what = "its trace over d; between walls each axis counts by the volume for centres, as in virial_pressure",
     .unit = kPressureUnit,
     .keys = kAverageKeys,
     .of = ObservableKind::Of::kAll,
     .has_energy = true,
     .make = average<Pressure>},
    {.name = "compressibility",
     .what = "Z = p V / (N T) = 1 + <sum over pairs r . F> / (d N T), without gravity",
     .unit = "1",
     .keys = kAverageKeys,
     .of = ObservableKind::Of::kAll,
     .make = average<Compressibility>},
};

}  // namespace

std::span<const ObservableKind> stress_kinds() { return kKinds; }

}  // namespace carom
