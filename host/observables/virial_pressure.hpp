#pragma once

#include "host/observables/observable.hpp"

namespace carom {

/// p = (2 K + sum over pairs r_ij . F_ij) / (d V), the pressure in the bulk (force per length in 2D).
///
/// Clausius' virial counts, besides, each wall's force times the position of the *centres* that it pushes, which
/// stay a radius away from it. So along an axis between walls the length that counts is L - 2 r, and
/// d V = sum over axes of (face area) * (length for the centres): with it the mean of this equals the mean of
/// wall_pressure exactly for equal radii, and in the dilute limit for mixtures, whose mean radius is taken.
/// [[wall]] entries are not taken off the volume.
class VirialPressure final : public Observable {
public:
    explicit VirialPressure(const ObservableContext& context) {
        const Box& box = context.box;
        for (int axis = 0; axis < box.dimension; ++axis) {
            double length = box.size[axis];
            for (const Face face : box.faces[axis]) length -= face == Face::kWall ? context.mean_radius : 0.0;
            const double area = box.volume() / box.size[axis];
            dimension_times_volume_ += area * length;
        }
    }
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = "virial_pressure", .unit = "Pa", .label = "virial pressure", .components = {}};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = (2.0 * sample.totals.kinetic + sample.totals.virial) / dimension_times_volume_;
    }

private:
    double dimension_times_volume_ = 0.0;
};

}  // namespace carom
