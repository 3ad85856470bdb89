#pragma once

#include <optional>
#include <vector>

#include "host/theory/gas_facts.hpp"

namespace carom {

/// A gas that nothing but moving walls drives, slow ones: what its temperature should be by d/2 N dT = -p dV, and p.
struct AdiabaticCourse {
    std::vector<double> time;         ///< equally far apart, from the first row on [time]
    std::vector<double> temperature;  ///< where contacts hold as much as they do in the mean [energy]
    std::vector<double> pressure;     ///< p = Z n T in the room that the walls leave to centres
    /// ln of the energy at the end over that at the start.
    double growth = 0.0;
    /// What friction within the gas, and the wave of a wall that starts at once, add to that growth: theory's own
    /// doubt.
    double haste = 0.0;
    /// What is not known of how walls keep balls from being in the bulk, and of how few balls collide, as part of the
    /// growth: doubt too.
    double walls = 0.0;
    /// The same of what contacts hold.
    double contacts = 0.0;
    /// By how much the growth of one run of so many balls is off the mean of all runs.
    double scatter = 0.0;
};

/// Of N balls of which c components of the momentum stay 0, d N - c components share the work.
/// None where something else drives the gas, or takes energy or balls from it; where balls are unlike, do not fill at
/// the start what walls leave them, or are dense beyond the fluid; and where no wall moves, or one faster than 0.3 of
/// sound.
/// \param facts        of all balls, over the whole run
/// \param times        of the rows, rising
/// \param temperature  2 / (d N) of the energy in the first row, that of contacts with it [energy]
std::optional<AdiabaticCourse> adiabatic_course(const GasFacts& facts, const Scene& scene,
                                                const std::vector<double>& times, double temperature);

/// The same of a run; of one that was changed while it went on, none.
std::optional<AdiabaticCourse> adiabatic_course(const MeasuredRun& run);

/// gamma = 1 + 2 / d, beside what the run's first and last energies give; none where the volume hardly changes.
std::optional<TheoryCheck> adiabatic_check(const MeasuredRun& run);

}  // namespace carom
