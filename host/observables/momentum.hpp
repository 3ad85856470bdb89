#pragma once

#include <algorithm>

#include "host/observables/observable.hpp"

namespace carom {

/// Momentum of the balls of finite mass; z = 0 in 2D.
class Momentum final : public Observable {
public:
    explicit Momentum(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "momentum", .unit = "kg m s-1", .label = "momentum", .components = {"x", "y", "z"}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        std::ranges::copy(sample.totals.momentum, values.begin());
    }
};

}  // namespace carom
