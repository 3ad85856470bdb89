#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Energy of height above the box's lower corner, -sum m g . (x - min).
class GravitationalEnergy final : public Observable {
public:
    explicit GravitationalEnergy(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "gravitational_energy", .unit = "J", .label = "gravitational energy", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = sample.totals.gravitational;
    }
};

}  // namespace carom
