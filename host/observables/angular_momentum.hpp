#pragma once

#include <algorithm>

#include "host/observables/observable.hpp"

namespace carom {

/// Angular momentum about the box's centre, orbital part plus spin; in 2D only z.
class AngularMomentum final : public Observable {
public:
    explicit AngularMomentum(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "angular_momentum",
                .unit = "kg m2 s-1",
                .label = "angular momentum",
                .components = {"x", "y", "z"}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        std::ranges::copy(sample.totals.angular_momentum, values.begin());
    }
};

}  // namespace carom
