#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Kinetic, spring and gravitational energy together.
class TotalEnergy final : public Observable {
public:
    explicit TotalEnergy(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "total_energy", .unit = "J", .label = "total energy", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.totals.energy(); }
};

}  // namespace carom
