#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Balls that have not left through an open face.
class BallCount final : public Observable {
public:
    explicit BallCount(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "balls", .unit = "", .label = "balls in the box", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = static_cast<double>(sample.totals.balls);
    }
};

}  // namespace carom
