#pragma once

#include <cmath>

#include "host/observables/observable.hpp"

namespace carom::examples {

/// Momentum per mobile ball: how a gas drifts as a whole.
class MeanMomentum final : public Observable {
public:
    explicit MeanMomentum(const ObservableContext& context) : dimension_(context.box.dimension) {}

    [[nodiscard]] ObservableInfo info() const override {
        ObservableInfo info{
            .name = "mean_momentum", .unit = "kg m s-1", .label = "momentum per ball", .components = {}};
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
    int dimension_;
};

}  // namespace carom::examples
