#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Energy that thermal walls and thermostats have given to the balls since the start of the run.
class Heat final : public Observable {
public:
    explicit Heat(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "heat", .unit = "J", .label = "heat given to the balls", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.tallies.heat(); }
};

}  // namespace carom
