#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Speed of the fastest ball.
class LargestSpeed final : public Observable {
public:
    explicit LargestSpeed(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "largest_speed", .unit = "m s-1", .label = "largest speed", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.totals.speed; }
};

}  // namespace carom
