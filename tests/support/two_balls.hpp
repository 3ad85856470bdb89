#pragma once

#include "tests/support/spring_lab.hpp"

namespace carom::test {

/// A box of double precision far larger than the scene, open all around, so that nothing but the balls is there.
inline SpringSetup free_space(double size, double dt) {
    SpringSetup setup = lab_setup(2, size, Side::kOpen);
    setup.box_min = {-0.5 * size, -0.5 * size, 0.0};
    setup.double_precision = true;
    setup.dt = dt;
    return setup;
}

struct Encounter {
    double time = 0.0;         ///< from the first overlapped state to the first free one [time]
    double max_overlap = 0.0;  ///< of the states seen [length]
    double speed_ratio = 0.0;  ///< separation over approach speed
    std::vector<LabBall> after;
};

inline double distance(const LabBall& a, const LabBall& b) {
    return std::hypot(b.x[0] - a.x[0], b.x[1] - a.x[1], b.x[2] - a.x[2]);
}
inline double relative_speed(const LabBall& a, const LabBall& b) {
    return std::hypot(b.v[0] - a.v[0], b.v[1] - a.v[1], b.v[2] - a.v[2]);
}

/// Steps balls 0 and 1 through one contact, looking at each step.
inline Encounter meet(SpringLab& lab, double dt, std::uint64_t most_steps = 10'000'000) {
    Encounter encounter;
    auto balls = lab.look();
    const double approach = relative_speed(balls[0], balls[1]);
    std::uint64_t inside = 0;
    for (std::uint64_t step = 0; step < most_steps; ++step) {
        const bool touching = lab.totals().contacts > 0;
        if (touching) {
            ++inside;
            balls = lab.look();
            encounter.max_overlap =
                std::max(encounter.max_overlap, balls[0].radius + balls[1].radius - distance(balls[0], balls[1]));
        } else if (inside > 0) {
            break;
        }
        lab.advance(1);
        if (::testing::Test::HasFatalFailure()) return encounter;
    }
    encounter.after = lab.look();
    encounter.time = static_cast<double>(inside) * dt;
    encounter.speed_ratio = relative_speed(encounter.after[0], encounter.after[1]) / approach;
    return encounter;
}

}  // namespace carom::test
