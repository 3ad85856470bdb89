#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Energy stored in contacts, those with walls included.
class SpringEnergy final : public Observable {
public:
    explicit SpringEnergy(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "spring_energy", .unit = "J", .label = "spring energy", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.totals.spring; }
};

}  // namespace carom
