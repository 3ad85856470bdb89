#pragma once

#include <cstddef>

#include "host/compare/context.hpp"
#include "host/scene/design.hpp"

namespace carom {

/// How far single steps of a spring solver are from the law that its scene states.
struct ForceAudit {
    std::size_t pair_contacts = 0;  ///< that took part
    std::size_t wall_contacts = 0;
    double worst = 0.0;          ///< largest |(v' - v) / dt - F / m| over the largest |F / m| met
    std::size_t worst_ball = 0;  ///< where that was
    double rounding = 0.0;       ///< what `worst` may be because velocities are rounded
};

/// Takes one step of `solver` and holds the velocity that each ball gains against contact forces and gravity computed
/// here, in double, from the raw state before it by kernels/physics: all pairs by a sweep along x, without cells,
/// lists, sorting or fixed-point sums. Adds to `audit`. The solver must have done a step already: the first is half a
/// kick. Balls that are beyond open faces take no part.
/// \param design  the law as the scene states it, not as the solver has it
void audit_step(Solver& solver, const Scene& scene, const SpringDesign& design, const CompareContext& context,
                ForceAudit& audit);

}  // namespace carom
