#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/run/output_files.hpp"
#include "host/run/prepare.hpp"
#include "host/run/run_loop.hpp"
#include "host/state/solver.hpp"
#include "host/theory/measured_run.hpp"

namespace carom {

/// What is to come: balls, box, solver, processor, output; several lines, each ended.
std::string start_summary(const PreparedScene& run, const SolverDescription& solver, const OutputFiles& files);

/// What a run would take, as the one JSON object that `check --json` prints, on one line.
/// \param seconds  of wall time, as estimate_seconds
std::string check_json(const PreparedScene& run, std::optional<double> seconds,
                       const std::optional<RankMemory>& ranks = {});

/// What it came to; several lines, each ended.
/// \param theory  of numbers: told beside the averages of these names, or else in a line of its own
std::string end_summary(const RunOutcome& outcome, const Scene& scene, const WorkUnit& work, const OutputFiles& files,
                        std::span<const TheoryCheck> theory = {});

/// The same as the one JSON object that `run --json` prints, on one line.
std::string summary_json(const RunOutcome& outcome, const Scene& scene, std::size_t balls, const WorkUnit& work,
                         const SolverDescription& solver, const OutputFiles& files,
                         std::span<const TheoryCheck> theory = {});

/// What is left of the change of energy in a run when heat, work and losses are taken off.
struct EnergyBalance {
    double heat = 0.0;  ///< since the start of this part of the run, as all here [energy]
    double work = 0.0;
    std::optional<double> lost = {};  ///< none where it is not counted
    /// (change of energy - heat - work + lost) / the largest of |E0|, K0, |E1|, and all that went in and out; no number
    /// where losses are not counted, or all is 0.
    EnergyDefect defect = {};
};
EnergyBalance energy_balance(const RunOutcome& outcome);

/// Change of total energy over max(|E0|, K0), E0 and K0 being the total and the kinetic energy at the start; NaN if
/// that is 0.
double energy_drift(const Totals& first, const Totals& last);

}  // namespace carom
