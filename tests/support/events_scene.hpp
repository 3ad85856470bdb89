#pragma once

#include <cmath>
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

}  // namespace carom::test
