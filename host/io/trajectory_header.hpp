#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// What a trajectory file says once, before its frames.
struct TrajectoryHeader {
    std::string title;
    std::string scene_path;    ///< as the user gave it
    std::string scene_source;  ///< the complete text that reproduces the run
    Box box;
    std::vector<Species> species_table;
    SpeciesById species;            ///< rows of species_table
    SolverDescription description;  ///< "single" precision: velocities and spins are stored as float
    std::vector<std::string> fields{"position", "velocity", "spin", "species"};  ///< [output] fields
    std::vector<ObservableInfo> observables;                                     ///< columns of a row, in this order
    std::vector<AverageInfo> averages;                                           ///< with a table of each in each frame
    std::vector<std::string> joined = {};  ///< files and times that it was put together of; else none
    bool changeable = false;               ///< has a place for append_change
    std::uint64_t expected_frames = 0;     ///< a guess, for the layout; 0: unknown
    std::uint64_t expected_rows = 0;
    std::size_t summary_bytes = 0;  ///< room for what the summary says of walls and loaded files, beside all else
    std::string version;            ///< of the program; empty when writing: this one

    [[nodiscard]] int dimension() const { return box.dimension; }
    [[nodiscard]] std::size_t ball_count() const { return species.size(); }
    [[nodiscard]] bool single_precision() const { return description.precision == "single"; }
};

/// Empty where trajectories are of the same balls, solver and fields, so that one may go on from the other; else what
/// is another.
std::string difference(const TrajectoryHeader& a, const TrajectoryHeader& b);

/// What was changed of a run while it went on.
struct RunChange {
    double time = 0.0;  ///< simulated [time]
    std::uint64_t step = 0;
    std::string what;  ///< "physics.gravity=[0, -2]"; at most 250 bytes are stored
};

/// The header of a run of `scene`.
TrajectoryHeader make_trajectory_header(const Scene& scene, const std::vector<Species>& species_table,
                                        const SpeciesById& species, const SolverDescription& description,
                                        const std::vector<ObservableInfo>& observables);

/// Balls in a chunk where frames do not share any: what comes in parts, comes in parts of so many.
std::size_t balls_per_chunk(std::size_t balls);

/// Bytes that a trajectory takes on disk, to within a few per cent, if no ball spins: what is zero throughout takes
/// no space.
std::uint64_t estimate_trajectory_bytes(const TrajectoryHeader& header, std::uint64_t frames, std::uint64_t rows);

}  // namespace carom
