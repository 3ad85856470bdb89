#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Pairs of balls in contact now.
class Contacts final : public Observable {
public:
    explicit Contacts(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "contacts", .unit = "", .label = "contacts between balls", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = static_cast<double>(sample.totals.contacts);
    }
};

}  // namespace carom
