#pragma once

#include "kernels/cpu/tile_work.hpp"
#include "kernels/spring_observe.hpp"

// A thread's share of looking at the state between steps: the forces on the balls, tile by tile, since velocities are
// brought to the time of the positions by them, and sums over all balls, in SIMD lanes.

namespace carom {

template <class Kind>
class TileLook {
public:
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    TileLook(const SpringParams<Real, kDim>& params, const BallsView<Real, kDim>& balls, const std::uint8_t* gone,
             std::uint64_t step, TileForces<Real, kDim>& forces, SlotRange mine)
        : work_{params, balls, gone, forces, mine}, lag_(lag_at(params, step)), walls_time_(params.walls_time(step)) {}

    /// Adds all contacts of the thread's balls to `sums`, and calls f(slot, place, v) for each of its balls that is
    /// still in, v being its velocity now.
    template <class Find, class F>
    void run(const NearPairs& near, Find&& find, SpringSums& sums, F&& f) {
        work_.for_each_tile(near, find, [&](const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
            feel_tile(near, tile, first, sums);
            for_each_ball(first, end, [&](std::uint32_t slot, const OwnBall<Kind>&, const Vec<Real, kDim>& v) {
                f(slot, place(slot), v);
            });
        });
    }

    /// Adds all that there is of the thread's balls to `sums`.
    template <class Find>
    void sum(const NearPairs& near, Find&& find, SpringSums& sums) {
        work_.for_each_tile(near, find, [&](const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
            feel_tile(near, tile, first, sums);
            sum_motion(first, end, sums);
        });
    }

private:
    [[nodiscard]] OwnBall<Kind> load(std::uint32_t slot) const {
        return load_ball<Kind>(work_.params, work_.balls, slot);
    }
    [[nodiscard]] Place<Real, kDim> place(std::uint32_t slot) const {
        Vec<typename Phase<Real>::Stored, kDim> x;
        for (int axis = 0; axis < kDim; ++axis) x[axis] = work_.balls.x[axis][slot];
        return place_of(work_.params, x, work_.balls.cell[slot]);
    }

    /// Calls f(slot, ball, velocity now) for the balls that are still in, and takes the forces on them.
    template <class F>
    void for_each_ball(std::uint32_t first, std::uint32_t end, F&& f) {
        for (std::uint32_t slot = first; slot < end; ++slot) {
            Vec<Real, kDim> force;
            for (int axis = 0; axis < kDim; ++axis) {
                force[axis] = work_.force[axis][slot - first];
                work_.force[axis][slot - first] = Real(0);
            }
            if (work_.gone[work_.balls.id[slot]]) continue;
            const OwnBall<Kind> own = load(slot);
            f(slot, own, velocity_now<Kind>(lag_, own, force));
        }
    }

    void feel_tile(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, SpringSums& sums) {
        for (std::uint64_t balls = tile.near_faces; balls != 0; balls &= balls - 1) {
            const auto ball = static_cast<std::uint32_t>(std::countr_zero(balls));
            const std::uint32_t slot = first + ball;
            if (work_.gone[work_.balls.id[slot]]) continue;
            feel_walls<Kind>(work_.params, load(slot), place(slot).position, walls_time_, work_.forces.on(ball), sums);
        }
        work_.for_each_touching(near, tile, [&](std::uint32_t i, std::uint32_t j) {
            const OwnBall<Kind> own = load(i);
            PairContact<Real, kDim> contact;
            Vec<Real, kDim> force;
            if (!touching<Kind>(work_.params, work_.balls, own, j, contact)) return;
            const bool fits = feel_ball<Kind>(work_.params, own, contact, force, sums);
            if (work_.mine.has(j)) feel_ball<Kind>(work_.params, own, contact, force, sums);  // the same from there
            if (fits) work_.add_force(first, i, j, force);
        });
        work_.total_forces();
    }

    void sum_motion(std::uint32_t first, std::uint32_t end, SpringSums& sums);

    TileWork<Kind> work_;
    const Lag<Real, kDim> lag_;
    const double walls_time_;
};

template <class Kind>
void TileLook<Kind>::sum_motion(std::uint32_t first, std::uint32_t end, SpringSums& sums) {
    const SpringParams<Real, kDim>& params = work_.params;
    std::uint32_t count = 0;  // of balls still in
    std::uint32_t mobile = 0;
    Real inverse_mass[kTile];
    Real v[kDim][kTile];
    double position[kDim][kTile];
    for_each_ball(first, end, [&](std::uint32_t slot, const OwnBall<Kind>& own, const Vec<Real, kDim>& velocity) {
        const Vec<double, kDim> where = place(slot).position;
        for (int axis = 0; axis < kDim; ++axis) {
            v[axis][count] = velocity[axis];
            position[axis][count] = where[axis];
        }
        inverse_mass[count] = own.inverse_mass;
        mobile += own.inverse_mass > Real(0) ? 1U : 0U;
        ++count;
    });
    double speed_squared[kTile];
    double kinetic[kTile];
    double gravitational[kTile];
    double momentum[3][kTile];
    double angular[3][kTile];
#pragma GCC ivdep
    for (std::uint32_t k = 0; k < count; ++k) {
        Vec<double, kDim> where;
        Vec<Real, kDim> velocity;
        for (int axis = 0; axis < kDim; ++axis) {
            where[axis] = position[axis][k];
            velocity[axis] = v[axis][k];
        }
        const MotionTerms terms = motion_terms(params, inverse_mass[k], where, velocity);
        speed_squared[k] = terms.speed_squared;
        kinetic[k] = terms.kinetic;
        gravitational[k] = terms.gravitational;
        for (int axis = 0; axis < 3; ++axis) {
            momentum[axis][k] = terms.momentum[axis];
            angular[axis][k] = terms.angular[axis];
        }
    }
    double fastest = 0.0;
    for (std::uint32_t k = 0; k < count; ++k) fastest = larger(speed_squared[k], fastest);
    sums.speed = larger(square_root(fastest), sums.speed);
    sums.balls += count;
    sums.mobile += mobile;
    sums.energies.add_all_clamped(params.observe.energy, 0, kinetic, count);
    sums.energies.add_all_clamped(params.observe.energy, 2, gravitational, count);
    for (int axis = 0; axis < kDim; ++axis) {
        sums.momentum.add_all_clamped(params.observe.momentum, axis, momentum[axis], count);
    }
    for (int axis = kDim == 2 ? 2 : 0; axis < 3; ++axis) {  // the others are zero
        sums.angular.add_all_clamped(params.observe.angular, axis, angular[axis], count);
    }
}

}  // namespace carom
