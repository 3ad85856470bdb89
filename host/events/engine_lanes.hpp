#pragma once

#include "host/events/records.hpp"
#include "kernels/core/lanes.hpp"

// A hot record as two groups of four doubles: (position, time) and (velocity, radius). Whoever writes a record writes
// whole groups, because the next prediction loads whole groups, and a load wider than the stores before it waits for
// them to reach the cache.

namespace carom {

inline Lanes place_lanes(const HotBall& ball) { return Lanes::load(reinterpret_cast<const double*>(&ball)); }
inline Lanes motion_lanes(const HotBall& ball) { return Lanes::load(reinterpret_cast<const double*>(&ball) + 4); }
inline void set_place(HotBall& ball, const Lanes& place) { place.store(reinterpret_cast<double*>(&ball)); }
inline void set_motion(HotBall& ball, const Lanes& motion) { motion.store(reinterpret_cast<double*>(&ball) + 4); }

/// True in the fourth lane: a record's time or radius.
inline LanesMask fourth_lane() {
    alignas(32) static constexpr double kMinusOneLast[4] = {0.0, 0.0, 0.0, -1.0};
    return less(Lanes::load(kMinusOneLast), Lanes::filled(0.0));
}

/// The first three lanes as they are, the fourth with its sign turned.
inline Lanes turn_fourth(const Lanes& lanes) {
    alignas(32) static constexpr double kTurn[4] = {1.0, 1.0, 1.0, -1.0};
    return lanes * Lanes::load(kTurn);
}

/// A vector and 0 behind it, without a detour through memory.
template <int Dim>
Lanes vector_lanes(const Vec<double, Dim>& v) {
    const double third = Dim == 3 ? v[Dim - 1] : 0.0;
#ifdef CAROM_LANES_AVX2
    return {_mm256_set_pd(0.0, third, v[1], v[0])};
#else
    return {{v[0], v[1], third, 0.0}};
#endif
}

}  // namespace carom
