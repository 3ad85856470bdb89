#pragma once

#include <cmath>

#include "host/observables/registry.hpp"

namespace carom::examples {

/// Momentum per mobile ball: how a gas drifts as a whole.
class MeanMomentum final : public Observable {
public:
    MeanMomentum(const ObserveEntry& entry, const ObservableContext& context)
        : name_(entry.name), dimension_(context.box.dimension) {}

    [[nodiscard]] ObservableInfo info() const override {
        ObservableInfo info{.name = name_, .unit = "kg m s-1", .label = "momentum per ball", .components = {}};
        for (int axis = 0; axis < dimension_; ++axis) info.components.emplace_back(1, "xyz"[axis]);
        return info;
    }

    void evaluate(const Sample& sample, std::span<double> values) const override {
        const double mobile = static_cast<double>(sample.totals.mobile);
        for (int axis = 0; axis < dimension_; ++axis) {
            values[axis] = mobile > 0.0 ? sample.totals.momentum[axis] / mobile : std::nan("");
        }
    }

private:
    std::string name_;
    int dimension_;
};

inline constexpr ObservableKind kMeanMomentum[] = {
    {.name = "mean_momentum",
     .what = "momentum of all balls over their number",
     .of = ObservableKind::Of::kAll,
     .make = row_value<MeanMomentum>},
};
inline std::span<const ObservableKind> mean_momentum_kinds() { return kMeanMomentum; }

}  // namespace carom::examples
