#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/run/prepare.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// A mean with its standard error, from blocks of a run.
struct Estimate {
    double mean = 0.0;
    double error = 0.0;
};

/// The error is blocked_error of them.
/// \param blocks  at least two
Estimate estimate(const std::vector<double>& blocks);

/// How long a gas is looked at; all in simulated time.
struct GasPlan {
    double settle = 0.0;  ///< before anything is measured
    double block = 0.0;   ///< of each block
    int blocks = 0;
    int samples = 0;              ///< of the instantaneous quantities, in each block
    int blocks_per_snapshot = 1;  ///< between two snapshots of all speeds
};

/// What was measured, one value a block where there are blocks. Drift along periodic axes is taken off.
struct GasMeasured {
    std::vector<double> temperature;  ///< [energy]
    std::vector<double> virial;       ///< of the contacts: mean of sum r_ij . F_ij [energy]
    /// The same of each axis, of springs: mean of the sum of r_ij F_ij along it [energy].
    std::array<std::vector<double>, 3> virial_along;
    std::vector<double> contacts;  ///< between balls, at one time
    std::vector<double> wall_contacts;
    std::vector<double> spring_energy;              ///< [energy]
    std::array<std::vector<double>, 6> face_force;  ///< mean force on each face of the box [force]
    std::vector<double> speeds;                     ///< of all snapshots, in sqrt(T / m), T of the snapshot; sorted
    std::array<double, 3> axis_share{};             ///< of the kinetic energy, mean over snapshots, by what is due
    std::size_t snapshots = 0;
    std::vector<double> displacement;      ///< mean square over balls, in each block [length^2]
    std::vector<std::size_t> lags;         ///< in blocks
    std::vector<double> lag_displacement;  ///< mean over balls and starts, of each lag [length^2]
    std::vector<double> collision_rate;    ///< per ball and time; of hard balls alone
    double energy_start = 0.0;             ///< total, after settling
    double energy_end = 0.0;
};

/// The gas of a scene as both solvers have it.
struct GasStatistics {
    int dimension = 2;
    GasPlan plan;       ///< of the spring run
    double loss = 0.0;  ///< by which hard balls that behave like the springs are smaller in diameter [length]
    GasMeasured spring;
    GasMeasured hard;  ///< of balls with the soft diameter; its times are scaled to the spring's temperature
};

/// Why a scene has no statistics of a gas; empty if it has.
std::string no_gas(const Scene& scene, const Balls& balls);

/// The part of `carom compare` on gases: the spring solver, in the scene's own precision, against theory and against
/// the event-driven run of hard balls of the soft diameter. `result` gets what was measured, for drawing.
Findings statistics_section(const PreparedScene& run, const CompareContext& context,
                            std::optional<GasStatistics>& result);

}  // namespace carom
