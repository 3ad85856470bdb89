#pragma once

#include <algorithm>
#include <vector>

#include "host/events/engine.hpp"
#include "host/events/engine_lanes.hpp"

// Sums over all balls. They are taken at each row of a run, a thousand times by default, so they must be cheap beside
// the few collisions that a ball has between two rows: four balls at a time.

namespace carom {

namespace events_totals {

/// Velocity, place and mass of four balls with following ids. One that is not there has mass 0, and rests.
template <int Dim>
struct Four {
    Lanes place[Dim];
    Lanes motion[Dim];
    Lanes mass;  ///< 0 for bodies of infinite mass too
};

inline double sum(const Lanes& lanes) {
    alignas(32) double one[4];
    lanes.store(one);
    return (one[0] + one[1]) + (one[2] + one[3]);
}

inline double largest(const Lanes& lanes) {
    alignas(32) double one[4];
    lanes.store(one);
    return std::max(std::max(one[0], one[1]), std::max(one[2], one[3]));
}

/// Sums over some balls, lane by lane.
template <int Dim>
struct Sums {
    static constexpr int kTurns = Dim == 2 ? 1 : 3;  // components of an angular momentum
    Lanes twice_kinetic = Lanes::filled(0.0);
    Lanes momentum[Dim];
    Lanes mass_place[Dim];  ///< from the box's lower corner, as places are
    Lanes angular_momentum[kTurns];

    Lanes centre[Dim];  ///< of the box

    explicit Sums(const Vec<double, Dim>& size) {
        for (int axis = 0; axis < Dim; ++axis) centre[axis] = Lanes::filled(0.5 * size[axis]);
        for (Lanes& lanes : momentum) lanes = Lanes::filled(0.0);
        for (Lanes& lanes : mass_place) lanes = Lanes::filled(0.0);
        for (Lanes& lanes : angular_momentum) lanes = Lanes::filled(0.0);
    }

    /// \return  squares of the speeds
    Lanes add(const Four<Dim>& four) {
        Lanes square = four.motion[0] * four.motion[0];
        for (int axis = 1; axis < Dim; ++axis) square = fused(four.motion[axis], four.motion[axis], square);
        twice_kinetic = fused(four.mass, square, twice_kinetic);
        for (int axis = 0; axis < Dim; ++axis) {
            momentum[axis] = fused(four.mass, four.motion[axis], momentum[axis]);
            mass_place[axis] = fused(four.mass, four.place[axis], mass_place[axis]);
        }
        for (int k = 0; k < kTurns; ++k) {
            const int a = Dim == 2 ? 0 : (k + 1) % 3;
            const int b = Dim == 2 ? 1 : (k + 2) % 3;
            const Lanes moment =
                fused_away(four.place[b] - centre[b], four.motion[a], (four.place[a] - centre[a]) * four.motion[b]);
            angular_momentum[k] = fused(four.mass, moment, angular_momentum[k]);
        }
        return square;
    }
};

}  // namespace events_totals

template <int Dim, bool Gravity, bool Lists>
Totals Engine<Dim, Gravity, Lists>::totals() const {
    using namespace events_totals;
    alignas(64) static constexpr HotBall kNobody{};
    const std::vector<Slot>& slot_of = slots();
    const bool alike = same_inverse_mass_ != 0.0;
    const double mass_of_all = count_ > 0 ? species_table_[species_[0]].mass : 0.0;

    Totals totals;
    Lanes fastest = Lanes::filled(0.0);  // squared
    // Blocks of a fixed size in a fixed order, so that the result belongs to the state alone.
    constexpr Slot kBlock = 256;
    for (Slot first = 0; first < count_; first += kBlock) {
        const Slot end = std::min(count_, first + kBlock);
        Sums<Dim> sums(size_);
        for (Slot id = first; id < end; id += 4) {
            const HotBall* ball[4];
            alignas(32) double mass[4];
            for (Slot k = 0; k < 4; ++k) {
                ball[k] = &kNobody;
                mass[k] = 0.0;
                if (id + k >= end) continue;
                const Slot i = slot_of[id + k];
                if (gone_[i]) continue;
                ball[k] = &hot_[i];
                ++totals.balls;
                if (heavy(i)) continue;
                mass[k] = alike ? mass_of_all : species_table_[species_[id + k]].mass;
                ++totals.mobile;
            }
            Four<Dim> four;
            four.mass = Lanes::load(mass);
            Lanes place[4];
            Lanes motion[4];
            transpose(place_lanes(*ball[0]), place_lanes(*ball[1]), place_lanes(*ball[2]), place_lanes(*ball[3]),
                      place);
            transpose(motion_lanes(*ball[0]), motion_lanes(*ball[1]), motion_lanes(*ball[2]), motion_lanes(*ball[3]),
                      motion);
            const Lanes dt = Lanes::filled(now_) - place[3];
            for (int axis = 0; axis < Dim; ++axis) {
                Lanes mean = motion[axis];
                four.motion[axis] = motion[axis];
                if constexpr (Gravity) {  // not for bodies of infinite mass, nor for nobody
                    const Lanes zero = Lanes::filled(0.0);
                    const Lanes g = choose(less(zero, four.mass), Lanes::filled(gravity_[axis]), zero);
                    mean = fused(Lanes::filled(0.5) * dt, g, motion[axis]);
                    four.motion[axis] = fused(dt, g, motion[axis]);
                }
                four.place[axis] = fused(dt, mean, place[axis]);
            }
            fastest = larger(fastest, sums.add(four));
        }
        totals.kinetic += 0.5 * sum(sums.twice_kinetic);
        for (int axis = 0; axis < Dim; ++axis) {
            totals.momentum[axis] += sum(sums.momentum[axis]);
            if (Gravity) totals.gravitational -= gravity_[axis] * sum(sums.mass_place[axis]);
        }
        for (int k = 0; k < sums.kTurns; ++k)
            totals.angular_momentum[Dim == 2 ? 2 : k] += sum(sums.angular_momentum[k]);
    }
    totals.speed = square_root(largest(fastest));
    if (spin_.empty()) return totals;
    for (Slot id = 0; id < count_; ++id) {
        const Slot i = slot_of[id];
        if (gone_[i] || heavy(i)) continue;
        const Species& species = species_table_[species_[id]];
        const double inertia = species.mass * species.radius_of_gyration * species.radius_of_gyration;
        for (int k = Dim == 2 ? 2 : 0; k < 3; ++k) {
            const double spin = spin_[i][Dim == 2 ? 0 : k];
            totals.rotational += 0.5 * inertia * spin * spin;
            totals.angular_momentum[k] += inertia * spin;
        }
    }
    return totals;
}

}  // namespace carom
