#include "host/viewer/ball_turns.hpp"

#include <algorithm>
#include <cmath>

namespace carom {

namespace {

using Quaternion = std::array<double, 4>;

/// `b` first.
Quaternion product(const Quaternion& a, const Quaternion& b) {
    return {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

Quaternion rotation(const Vector3& axis_angle) {
    const double angle = std::hypot(axis_angle[0], axis_angle[1], axis_angle[2]);
    const double share = angle > 0.0 ? std::sin(0.5 * angle) / angle : 0.5;
    return {share * axis_angle[0], share * axis_angle[1], share * axis_angle[2], std::cos(0.5 * angle)};
}

/// So that patterns do not all stand alike; by the golden ratio and its cousins, each id has its own.
Quaternion first_turn(std::size_t id, int dimension) {
    const auto share = [id](double step) { return std::fmod(static_cast<double>(id + 1) * step, 1.0); };
    constexpr double kFull = 6.283185307179586;
    const Quaternion about_z = rotation({0.0, 0.0, kFull * share(0.6180339887)});
    if (dimension == 2) return about_z;
    return product(product(about_z, rotation({kFull * share(0.7548776662), 0.0, 0.0})),
                   rotation({0.0, 0.0, kFull * share(0.5698402910)}));
}

BallTurn stored(const Quaternion& q) {
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    BallTurn turn{};
    for (std::size_t k = 0; k < 4; ++k) turn[k] = static_cast<float>(q[k] / length);
    return turn;
}

}  // namespace

bool BallTurns::any_spin(const Frame& frame) {
    return std::ranges::any_of(frame.spin, [](const std::vector<double>& component) {
        return std::ranges::any_of(component, [](double spin) { return std::isfinite(spin) && spin != 0.0; });
    });
}

std::span<const BallTurn> BallTurns::at(const Frame& frame) {
    const std::size_t count = frame.size();
    if (frame.spin[2].size() != count) return {};
    if (turns_.size() != count) {
        turns_.resize(count);
        for (std::size_t id = 0; id < count; ++id) turns_[id] = stored(first_turn(id, frame.dimension));
        time_ = frame.time;
        spin_ = frame.spin;
    }
    const double way = frame.time - time_;
    for (std::size_t id = 0; id < count && way != 0.0; ++id) {
        Vector3 angle{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (frame.spin[axis].size() != count) continue;
            angle[axis] = 0.5 * way * (spin_[axis][id] + frame.spin[axis][id]);
        }
        const BallTurn& now = turns_[id];
        const Quaternion next = product(rotation(angle), {now[0], now[1], now[2], now[3]});
        if (std::isfinite(next[3])) turns_[id] = stored(next);  // else it has left
    }
    time_ = frame.time;
    spin_ = frame.spin;
    return turns_;
}

}  // namespace carom
