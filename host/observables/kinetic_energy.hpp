#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Energy of motion, translation and spin together.
class KineticEnergy final : public Observable {
public:
    explicit KineticEnergy(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "kinetic_energy", .unit = "J", .label = "kinetic energy", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = sample.totals.kinetic + sample.totals.rotational;
    }
};

}  // namespace carom
