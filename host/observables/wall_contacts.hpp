#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// Contacts of balls with walls now.
class WallContacts final : public Observable {
public:
    explicit WallContacts(const ObservableContext&) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "wall_contacts", .unit = "", .label = "contacts with walls", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = static_cast<double>(sample.totals.wall_contacts);
    }
};

}  // namespace carom
