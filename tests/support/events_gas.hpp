#pragma once

#include <cmath>
#include <random>

#include "tests/support/events_scene.hpp"

namespace carom::test {

/// Balls on a lattice in a cube, with velocities from a Gaussian, no net momentum, and kT = 1.
/// \param per_axis  lattice sites along an axis
inline EventsScene lattice_gas(int dimension, int per_axis, double edge, Face face, double radius, unsigned seed = 1,
                               double radius_ratio = 1.0) {
    EventsScene scene(dimension, {edge, edge, dimension == 3 ? edge : 0.0}, face);
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    const double step = edge / per_axis;
    for (int z = 0; z < (dimension == 3 ? per_axis : 1); ++z) {
        for (int y = 0; y < per_axis; ++y) {
            for (int x = 0; x < per_axis; ++x) {
                const double r = (x + y + z) % 3 == 0 ? radius : radius / radius_ratio;
                const double mass = std::pow(r / radius, dimension);
                const double speed = 1.0 / std::sqrt(mass);
                scene.add(r, mass, {(x + 0.5) * step, (y + 0.5) * step, dimension == 3 ? (z + 0.5) * step : 0.0},
                          {speed * normal(generator), speed * normal(generator),
                           dimension == 3 ? speed * normal(generator) : 0.0});
            }
        }
    }
    Balls& balls = scene.state.balls;
    double kinetic = 0.0;
    double mass = 0.0;
    for (std::size_t id = 0; id < balls.size(); ++id) mass += balls.species_of(id).mass;
    for (int axis = 0; axis < dimension; ++axis) {
        double momentum = 0.0;
        for (std::size_t id = 0; id < balls.size(); ++id)
            momentum += balls.species_of(id).mass * balls.velocity[axis][id];
        for (std::size_t id = 0; id < balls.size(); ++id) {
            double& v = balls.velocity[axis][id];
            v -= momentum / mass;
            kinetic += 0.5 * balls.species_of(id).mass * v * v;
        }
    }
    const auto free = static_cast<double>(dimension * (balls.size() - (face == Face::kPeriodic ? 1 : 0)));
    for (int axis = 0; axis < dimension; ++axis) {
        for (double& v : balls.velocity[axis]) v *= std::sqrt(0.5 * free / kinetic);
    }
    return scene;
}

}  // namespace carom::test
