#include "host/theory/measured_run.hpp"

namespace carom {

void MeasuredRun::look_at_start(const BallColumns& balls, const std::vector<std::uint32_t>& species_of) {
    for (int axis = 0; axis < balls.dimension; ++axis) {
        const std::vector<double>& velocity = balls.velocity[static_cast<std::size_t>(axis)];
        double momentum = 0.0;
        double mass = 0.0;
        for (std::size_t ball = 0; ball < balls.size(); ++ball) {
            if (balls.gone[ball] != 0) continue;
            const double own = species[species_of[ball]].mass;
            if (std::isinf(own)) {
                bodies_move = bodies_move || velocity[ball] != 0.0;
                continue;
            }
            momentum += own * velocity[ball];
            mass += own;
        }
        if (box().periodic(axis) && mass > 0.0) flow_energy = std::max(flow_energy, 0.5 * momentum * momentum / mass);
    }
}

}  // namespace carom
