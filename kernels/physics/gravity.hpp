#pragma once

#include "kernels/core/arithmetic.hpp"

// Uniform gravity as a sequence of kicks whose running sum is right.
//
// In single precision v + g dt rounds g dt to the grid of v, every time in the same direction: a field with
// g dt of a few float steps of v is wrong by percents, a weaker one does nothing at all. So the velocity gained
// up to a time is rounded to a coarse grid (one float step at the design speed), and a step's kick is the
// difference of two such roundings: each kick is added without error, and their sum is off by half a grid
// step at most, for ever. All balls get the same kick, so nothing depends on the ball.
//
//   G(n) = grid * rint(g dt (n + lead) / grid),   kick(n) = G(n) - G(n - 1),   G(-1) = 0
//
// with lead = 1/2 for leapfrog (the state holds velocities half a step before the positions) and 1 for
// symplectic Euler. In double precision grid = 0 stands for plain g dt.

namespace carom {

struct GravityKicks {
    double per_step;  ///< g dt [velocity]
    double grid;      ///< [velocity]; 0: no rounding
    double lead;      ///< 0.5 or 1

    /// Velocity gained by all kicks up to and with that of step n.
    CAROM_HD double gained(double n) const {
        const double exact = per_step * (n + lead);
        return grid > 0.0 ? grid * __builtin_rint(exact / grid) : exact;
    }

    CAROM_HD double kick(double n) const {
        if (grid > 0.0) return n > 0.0 ? gained(n) - gained(n - 1.0) : gained(0.0);
        return n > 0.0 ? per_step : per_step * lead;
    }

    /// What brings the velocity that the state holds at step n to the time of the positions.
    CAROM_HD double lag(double n) const {
        if (lead == 1.0 || n <= 0.0) return 0.0;
        return grid > 0.0 ? per_step * n - gained(n - 1.0) : per_step * 0.5;
    }
};

}  // namespace carom
