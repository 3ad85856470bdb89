#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// The part of the kinetic energy that is spin.
class RotationalEnergy final : public Observable {
public:
    explicit RotationalEnergy(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "rotational_energy", .unit = "J", .label = "rotational energy", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = sample.totals.rotational;
    }
};

}  // namespace carom
