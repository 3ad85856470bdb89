#pragma once

#include <cstdint>
#include <limits>

#include "kernels/core/picture.hpp"
#include "kernels/spring_observe.hpp"

// What a renderer sees of a ball. One function for all processors.

namespace carom {

/// What the colour of a ball stands for.
/// \param v        at the time of the position
/// \param overlap  the deepest of its contacts with balls, as a fraction of the smaller radius
template <class Real, int Dim>
CAROM_HD float picture_value(const PictureOrder& order, const float* given, std::uint32_t id,
                             const Vec<double, Dim>& position, const Vec<Real, Dim>& v, Real inverse_mass,
                             Real overlap) {
    double speed_squared = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        const auto component = static_cast<double>(v[axis]);
        speed_squared = speed_squared + component * component;
    }
    switch (order.value) {
        case PictureOrder::Value::kGiven:
            return given[id];
        case PictureOrder::Value::kSpeed:
            return static_cast<float>(square_root(speed_squared));
        case PictureOrder::Value::kKineticEnergy:
            if (!(inverse_mass > Real(0))) return std::numeric_limits<float>::quiet_NaN();
            return static_cast<float>(0.5 * speed_squared / static_cast<double>(inverse_mass));
        case PictureOrder::Value::kOverlap:
            return static_cast<float>(overlap);
        case PictureOrder::Value::kId:
            return static_cast<float>(id);
        case PictureOrder::Value::kHeight: {
            double x = position[0];
            for (int axis = 1; axis < Dim; ++axis) x = axis == order.axis ? position[axis] : x;
            return static_cast<float>(order.down ? order.face - x : x - order.face);
        }
    }
    return 0.0f;
}

/// \param position  in the user's coordinates
template <int Dim>
CAROM_HD BallPlace picture_place(const PictureOrder& order, const Vec<double, Dim>& position, float radius) {
    float x[3] = {0.0f, 0.0f, 0.0f};
    for (int axis = 0; axis < Dim; ++axis) x[axis] = static_cast<float>(position[axis] - order.origin[axis]);
    return {x[0], x[1], x[2], radius};
}

/// A ball that is gone.
CAROM_HD void hide_ball(const PictureArrays& to, std::uint64_t id) {
    to.places[id] = {0.0f, 0.0f, 0.0f, -1.0f};
    to.values[id] = std::numeric_limits<float>::quiet_NaN();
}

/// Writes the ball in `slot`, at step `step`. `neighbours` as for spring_step.
template <class Kind, class Neighbours>
CAROM_HD void draw_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                        const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot, std::uint64_t step,
                        Neighbours&& neighbours, const PictureOrder& order, const float* given,
                        const PictureArrays& to) {
    using Real = typename Kind::Real;
    const std::uint32_t id = balls.id[slot];
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    Vec<Real, Kind::kDim> v = own.v;
    Real overlap = Real(0);
    const bool moving =
        order.value == PictureOrder::Value::kSpeed || order.value == PictureOrder::Value::kKineticEnergy;
    if (moving && step > 0 && params.lag > Real(0)) {
        SpringSums unused = SpringSums::zero();
        v = velocity_now<Kind>(
            lag_at(params, step), own,
            feel<Kind>(params, balls, own, place.position, params.walls_time(step), neighbours, unused));
    } else if (order.value == PictureOrder::Value::kOverlap) {
        neighbours([&](std::uint32_t j) {
            PairContact<Real, Kind::kDim> contact;
            if (!touching<Kind>(params, balls, own, j, contact)) return;
            overlap = larger(contact.overlap / smaller(own.radius, contact.other_radius), overlap);
        });
    }
    to.places[id] = picture_place(order, place.position, static_cast<float>(own.radius));
    to.values[id] = picture_value(order, given, id, place.position, v, own.inverse_mass, overlap);
}

}  // namespace carom
