#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Work done on the balls, by what moves or changes, since the start of the run.
class Work final : public Observable {
public:
    explicit Work(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "work", .unit = "J", .label = "work done on the balls", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.tallies.work; }
};

}  // namespace carom
