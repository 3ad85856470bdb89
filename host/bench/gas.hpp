#pragma once

#include <functional>
#include <string>

#include "host/bench/request.hpp"
#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// Stiffness of the bench's springs, with balls of mass 1: 50 steps a contact make dt 4.4e-4.
constexpr double kBenchStiffness = 1.0e4;

/// A gas and its scene, ready for any solver.
struct PlacedGas {
    Scene scene;
    SolverState state;
    std::string start;             ///< how it was made: "melted" or "shaken lattice"
    double lattice_seconds = 0.0;  ///< that the lattice took
    double melting_seconds = 0.0;
};

/// Larger gases are not melted.
constexpr std::uint64_t kMostMelted = 1'000'000;

/// The scene of a gas as a user would write it, on a lattice: random placement does not reach the dense ones.
std::string bench_scene_text(const BenchGas& gas);

/// Places a gas: a lattice, each ball moved at random (seeded) as far as it can without meeting another; then, up to
/// a million balls, melted: run by the event-driven solver until each has collided three times, for half a unit of time
/// at least and four at most, so that contacts are as frequent as in equilibrium. Larger ones stay shaken lattices.
/// \param seconds      after which melting ends anyway; then it is called a shaken lattice
/// \param interrupted  gives a signal's number, which ends melting
PlacedGas place_gas(const BenchGas& gas, double seconds, const std::function<int()>& interrupted);

}  // namespace carom
