#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/state/box.hpp"
#include "kernels/core/lanes.hpp"
#include "kernels/core/wall_number.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/collision_time.hpp"

namespace carom {

/// What is around the balls: the faces of the box and the [[wall]]s, by one number (WallNumber), and the periods of the
/// box. Positions count from the box's lower corner, times from the start of the run.
template <int Dim>
class Enclosure {
public:
    using Vector = Vec<double, Dim>;
    static constexpr std::uint32_t kFaces = WallNumber::kFaces;

    /// \param walls_time  at which moving walls stand at their offset
    Enclosure(const Box& box, const std::vector<Wall>& walls, double walls_time) : box_(box), walls_time_(walls_time) {
        for (int axis = 0; axis < Dim; ++axis) {
            size_[axis] = box.size[axis];
            all_periodic_ = all_periodic_ && box.periodic(axis);
            any_ = any_ || is_wall(axis, 0) || is_wall(axis, 1);
        }
        for (int axis = 0; axis < 4; ++axis) {
            const bool periodic = axis < Dim && box.periodic(axis);
            period_[axis] = periodic ? box.size[axis] : 0.0;
            half_period_[axis] = periodic ? 0.5 * box.size[axis] : kNeverTouch;
        }
        for (std::size_t wall = 0; wall < walls.size(); ++wall) {
            walls_.push_back(make_boundary<Dim>(walls[wall], WallNumber::entry(wall)));
            for (int axis = 0; axis < Dim; ++axis) walls_.back().reference[axis] -= box.min[axis];
        }
        any_ = any_ || !walls_.empty();
    }

    [[nodiscard]] const Box& box() const { return box_; }
    [[nodiscard]] const Vector& size() const { return size_; }
    [[nodiscard]] bool periodic(int axis) const { return box_.periodic(axis); }
    [[nodiscard]] bool all_periodic() const { return all_periodic_; }
    /// Faces that are walls, or [[wall]]s.
    [[nodiscard]] bool any() const { return any_; }
    [[nodiscard]] bool is_wall(int axis, int end) const { return box_.faces[axis][end] == Face::kWall; }
    /// Numbers that there are: all faces, and the [[wall]]s behind them.
    [[nodiscard]] std::uint32_t count() const { return kFaces + static_cast<std::uint32_t>(walls_.size()); }
    /// Whether the number is that of a wall.
    [[nodiscard]] bool stands(std::uint32_t number) const {
        return number >= kFaces || (number < 2 * Dim && is_wall(static_cast<int>(number / 2), number % 2));
    }

    /// 0 where it reflects.
    [[nodiscard]] double temperature(std::uint32_t number) const {
        return number < kFaces ? box_.temperature[number / 2][number % 2] : walls_[number - kFaces].temperature;
    }
    /// Along the normal.
    [[nodiscard]] double speed(std::uint32_t number) const {
        return number < kFaces ? 0.0 : walls_[number - kFaces].speed;
    }
    /// Thermal and moving walls meet one ball at a time: they take no part in clusters of contacts.
    [[nodiscard]] bool acts_alone(std::uint32_t number) const {
        return temperature(number) > 0.0 || speed(number) != 0.0;
    }

    [[nodiscard]] WallGap<Dim> gap(std::uint32_t number, const Vector& position, double time) const {
        if (number >= kFaces) {
            const Boundary<Dim>& boundary = walls_[number - kFaces];
            return boundary.gap(position - boundary.reference, time - walls_time_);
        }
        const auto face = face_boundary<Dim>(WallNumber(static_cast<int>(number)), Vector::filled(0.0), size_, 0.0);
        return face.gap(position - face.reference, 0.0);
    }
    /// When a ball touches a [[wall]], from `time` on, at which it is at `position`.
    template <bool Gravity>
    [[nodiscard]] double touch_time(std::uint32_t number, const Vector& position, const Vector& velocity,
                                    const Vector& gravity, double radius, double time, bool met) const {
        return walls_[number - kFaces].template touch_time<Gravity>(position, velocity, gravity, radius,
                                                                    time - walls_time_, met);
    }

    /// The shortest of the periodic images of a displacement that is shorter than a period.
    [[nodiscard]] Vector nearest(Vector d) const {
        for (int axis = 0; axis < Dim; ++axis) {
            if (!box_.periodic(axis)) continue;
            if (d[axis] > 0.5 * size_[axis]) d[axis] -= size_[axis];
            if (d[axis] < -0.5 * size_[axis]) d[axis] += size_[axis];
        }
        return d;
    }
    [[nodiscard]] Lanes nearest(const Lanes& d) const {
        const Lanes zero = Lanes::filled(0.0);
        const Lanes period = Lanes::load(period_.data());
        const Lanes half = Lanes::load(half_period_.data());
        const Lanes lower = d - choose(less(half, d), period, zero);
        return lower + choose(less(lower, zero - half), period, zero);
    }

private:
    Box box_;
    double walls_time_;
    Vector size_{};
    bool all_periodic_ = true;
    bool any_ = false;
    std::vector<Boundary<Dim>> walls_;                 // where moving ones stand at walls_time_
    alignas(32) std::array<double, 4> period_{};       // 0 where there is none
    alignas(32) std::array<double, 4> half_period_{};  // larger than any distance where there is none
};

}  // namespace carom
