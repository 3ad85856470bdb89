#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// T = 2 K / (d N), K the translational kinetic energy, N the balls of finite mass: an energy, since Boltzmann's
/// constant is 1. No degrees of freedom are taken off for a momentum of zero, in accord with how [[fill]] meets its
/// temperature.
class Temperature final : public Observable {
public:
    explicit Temperature(const ObservableContext& context) : dimension_(context.box.dimension) {}
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "temperature", .unit = "J", .label = "temperature", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const auto mobile = static_cast<double>(sample.totals.mobile);
        values[0] = mobile > 0.0 ? 2.0 * sample.totals.kinetic / (dimension_ * mobile) : 0.0;
    }

private:
    int dimension_;
};

}  // namespace carom
