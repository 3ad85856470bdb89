#include "host/run/solver_factory.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "host/spring/spring_solver.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

SpringSetup::Side side_of(Face face) {
    switch (face) {
        case Face::kWall:
            return SpringSetup::Side::kWall;
        case Face::kPeriodic:
            return SpringSetup::Side::kPeriodic;
        case Face::kOpen:
            break;
    }
    return SpringSetup::Side::kOpen;
}

}  // namespace

SpringSetup spring_setup(const Scene& scene, const SpringDesign& design, int threads) {
    SpringSetup setup;
    setup.dimension = scene.dimension();
    setup.double_precision = scene.run.precision == Precision::kDouble;
    setup.threads = threads;
    setup.box_min = scene.box.min;
    setup.box_size = scene.box.size;
    for (int axis = 0; axis < setup.dimension; ++axis) {
        for (int end = 0; end < 2; ++end) setup.sides[axis][end] = side_of(scene.box.faces[axis][end]);
    }
    for (const Wall& wall : scene.walls) {
        setup.walls.push_back({wall.shape == Wall::Shape::kPlane, wall.normal, wall.offset, wall.center, wall.radius,
                               wall.side == Wall::Side::kInside});
    }
    setup.gravity = scene.physics.gravity;
    setup.stiffness = design.stiffness;
    setup.wall_stiffness = design.wall_stiffness;
    setup.damping = design.damping;
    setup.damping_ratio = design.damping_ratio;
    setup.wall_damping_ratio = design.wall_damping_ratio;
    setup.distance_epsilon = scene.spring.distance_epsilon;
    setup.dt = design.dt;
    setup.symplectic_euler = scene.spring.integrator == Integrator::kSymplecticEuler;
    setup.design_speed = design.design_speed;
    return setup;
}

BallSizes ball_sizes(const Balls& balls) {
    std::vector<double> radius(balls.size());
    std::vector<double> inverse_mass(balls.size());
    for (std::size_t id = 0; id < balls.size(); ++id) {
        radius[id] = balls.species_of(id).radius;
        inverse_mass[id] = std::isinf(balls.species_of(id).mass) ? 0.0 : 1.0 / balls.species_of(id).mass;
    }
    RawBalls raw;
    raw.count = balls.size();
    Balls& mutable_balls = const_cast<Balls&>(balls);  // only read
    for (int axis = 0; axis < balls.dimension; ++axis) raw.velocity[axis] = mutable_balls.velocity[axis].data();
    raw.radius = radius.data();
    raw.inverse_mass = inverse_mass.data();
    return measure_sizes(raw, balls.dimension);
}

std::string processor_for(const Scene& scene, std::size_t balls) {
    static_assert(static_cast<int>(BackendChoice::kAuto) == static_cast<int>(ProcessorChoice::kAuto));
    static_assert(static_cast<int>(BackendChoice::kCuda) == static_cast<int>(ProcessorChoice::kCuda));
    try {
        return choose_processor(static_cast<ProcessorChoice>(scene.run.backend), balls);
    } catch (const std::runtime_error& error) {
        throw SystemError(error.what());
    }
}

std::unique_ptr<Solver> make_solver(const Scene& scene, const SpringDesign& design, const SolverState& state,
                                    int threads) {
    return make_spring_solver(spring_setup(scene, design, threads), state, processor_for(scene, state.balls.size()));
}

}  // namespace carom
