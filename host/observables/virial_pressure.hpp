#pragma once

#include <limits>
#include <string>

#include "host/observables/observable.hpp"

namespace carom {

/// p = (2 K + sum over pairs r_ij . F_ij) / (d V), the pressure in the bulk (force per length in 2D).
///
/// Clausius' virial counts, besides, each wall's force times the position of the *centres* that it pushes, which
/// stay a radius away from it. So along an axis between walls the length that counts is L - 2 r, and
/// d V = sum over axes of (face area) * (length for the centres): with it the mean of this equals the mean of
/// wall_pressure exactly for equal radii, and in the dilute limit for mixtures, whose mean radius is taken.
/// [[wall]] entries are not taken off the volume.
///
/// Hard contacts pass impulses, not forces: with them the second sum is that of r_ij . dp_i over the impacts since the
/// row before, divided by the time since; NaN in the first row of a file.
class VirialPressure final : public Observable {
public:
    explicit VirialPressure(const ObservableContext& context) : unit_(pressure_unit(context.box.dimension)) {
        const Box& box = context.box;
        for (int axis = 0; axis < box.dimension; ++axis) {
            double length = box.size[axis];
            for (const Face face : box.faces[axis]) length -= face == Face::kWall ? context.mean_radius : 0.0;
            const double area = box.volume() / box.size[axis];
            dimension_times_volume_ += area * length;
        }
    }
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "virial_pressure", .unit = unit_, .label = "virial pressure", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = (2.0 * sample.totals.kinetic + contact_virial(sample)) / dimension_times_volume_;
    }

private:
    static double contact_virial(const Sample& sample) {
        if (!sample.tallies.collisional_virial) return sample.totals.virial;
        const double elapsed = sample.time - sample.previous_time;
        if (sample.previous == nullptr || !sample.previous->collisional_virial || !(elapsed > 0.0)) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        return (*sample.tallies.collisional_virial - *sample.previous->collisional_virial) / elapsed;
    }

    std::string unit_;
    double dimension_times_volume_ = 0.0;
};

}  // namespace carom
