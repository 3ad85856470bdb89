#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Largest overlap now, as a fraction of the smaller radius.
class LargestOverlap final : public Observable {
public:
    explicit LargestOverlap(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "largest_overlap", .unit = "", .label = "largest overlap / smaller radius", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override { values[0] = sample.totals.overlap; }
};

}  // namespace carom
