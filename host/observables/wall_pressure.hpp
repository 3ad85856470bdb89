#pragma once

#include <limits>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"

namespace carom {

/// Normal impulse given to each face of the box since the row before, over area and time (force per length in 2D).
/// NaN for a face that is no wall, and in the first row of a file, which has no row before it.
class WallPressure final : public Observable {
public:
    explicit WallPressure(const ObservableContext& context) : box_(context.box) {}
    [[nodiscard]] ObservableInfo info() const override {
        std::vector<std::string> names{"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};
        names.resize(2 * static_cast<std::size_t>(box_.dimension));
        return {.name = "wall_pressure",
                .unit = pressure_unit(box_.dimension),
                .label = "wall pressure",
                .components = std::move(names)};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const double elapsed = sample.time - sample.previous_time;
        for (std::size_t face = 0; face < values.size(); ++face) {
            const std::size_t axis = face / 2;
            const double area = box_.volume() / box_.size[axis];
            const bool wall = box_.faces[axis][face % 2] == Face::kWall;
            values[face] =
                wall && sample.previous != nullptr && elapsed > 0.0
                    ? (sample.tallies.wall_impulse[face] - sample.previous->wall_impulse[face]) / (area * elapsed)
                    : std::numeric_limits<double>::quiet_NaN();
        }
    }

private:
    Box box_;
};

}  // namespace carom
