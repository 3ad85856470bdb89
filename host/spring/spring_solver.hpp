#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/backends/spring_backends.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// A part of a run with constants of its own: only gravity, temperatures, and the speeds and places of walls may differ
/// from those of other stages.
struct SpringStage {
    std::uint64_t until = ~std::uint64_t{0};  ///< the step at which the next stage begins
    SpringSetup setup;
    double rescale_temperature = 0.0;  ///< to which all velocities are scaled [energy]
    double rescale_every = 0.0;        ///< at the steps nearest to its multiples in the run's time [time]; 0: never
};

/// Radii and inverse masses of balls by id, which stay the same for a whole run.
struct BallProperties {
    std::vector<double> radius;        ///< [length]
    std::vector<double> inverse_mass;  ///< [1/mass]; 0: nothing moves it

    BallProperties() = default;
    explicit BallProperties(const Balls& balls);

    /// Balls that have them, by pointer.
    [[nodiscard]] RawBalls of(const Balls& balls) const;
};

/// Makes an engine at a step, from raw balls and what has been counted before.
using SpringEngineMaker = std::function<std::unique_ptr<SpringEngine>(const SpringSetup&, const RawBalls&,
                                                                      std::uint64_t step, const Tallies&)>;

/// The time-stepped solver over a processor.
/// \param stages     at least one
/// \param state      balls as they start (step 0) or as Solver::save gave them (a restart)
/// \param processor  "cpu" or "cuda", see choose_processor
/// \param make       empty: an engine of that processor
/// \throws SystemError  when the device cannot be used or has too little memory
std::unique_ptr<Solver> make_spring_solver(const std::vector<SpringStage>& stages, const SolverState& state,
                                           const std::string& processor, SpringEngineMaker make = {});

/// Balls that this one is among, all of them or a part.
using BallsFrom = std::function<Balls(std::uint32_t id)>;

/// One sentence on a fault: who, where, when, and what may help.
std::string explain_fault(const SpringFault& fault, const BallsFrom& balls_from, double time, std::uint64_t step);

}  // namespace carom
