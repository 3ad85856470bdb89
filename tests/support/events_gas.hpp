#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "host/events/events_engine.hpp"

namespace carom::test {

/// A scene for the event-driven engine, ball by ball.
struct EventsScene {
    EventsSetup setup;
    SolverState state;

    EventsScene(int dimension, const Vector3& size, Face face = Face::kWall) {
        setup.box.dimension = dimension;
        setup.box.size = size;
        for (int axis = 0; axis < dimension; ++axis) setup.box.faces[axis] = {face, face};
        state.balls.dimension = dimension;
        state.balls.resize(0);
    }

    [[nodiscard]] int dimension() const { return setup.box.dimension; }
    [[nodiscard]] std::size_t size() const { return state.balls.size(); }

    /// \param spin  2D: [2] only
    void add(double radius, double mass, const Vector3& position, const Vector3& velocity, const Vector3& spin = {},
             double kr2 = 0.0) {
        if (kr2 == 0.0) kr2 = dimension() == 2 ? 0.5 : 0.4;
        const Species species{"", radius, mass, radius * std::sqrt(kr2), ""};
        Balls& balls = state.balls;
        std::uint32_t index = 0;
        while (index < balls.species_table.size() && !(balls.species_table[index] == species)) ++index;
        if (index == balls.species_table.size()) balls.species_table.push_back(species);
        const std::size_t id = balls.size();
        balls.resize(id + 1);
        balls.species[id] = index;
        for (int axis = 0; axis < dimension(); ++axis) {
            balls.position[axis][id] = position[axis];
            balls.velocity[axis][id] = velocity[axis];
        }
        for (int axis = 0; axis < 3; ++axis) {
            if (!balls.spin[axis].empty()) balls.spin[axis][id] = spin[axis];
        }
    }

    [[nodiscard]] std::unique_ptr<EventsEngine> engine() const { return make_events_engine(setup, state); }
};

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
