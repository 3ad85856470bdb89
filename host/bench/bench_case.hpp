#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/bench/bench.hpp"
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
/// Neighbours' ids are far apart in all.
/// \param seconds      after which melting ends anyway; then it is called a shaken lattice
/// \param interrupted  gives a signal's number, which ends melting
PlacedGas place_gas(const BenchGas& gas, double seconds, const std::function<int()>& interrupted);

struct MeasureOptions {
    double repeat_seconds = 0.5;
    int repeats = 5;
    double most_seconds = 1e30;                           ///< of all: when they are over no further repeat begins
    std::uint64_t least_steps = 1;                        ///< of a repeat, however long they take
    std::uint64_t warm_steps = 0;                         ///< at least, before anything counts
    std::function<int()> interrupted = [] { return 0; };  ///< gives a signal's number, which ends the repeats early
};

struct Measured {
    std::uint64_t steps = 0;  ///< of each repeat
    double seconds = 0.0;     ///< of all, warming up too
    Rate steps_per_second;
};

/// Wall time of something that advances by steps: warms up until the pace is known, then takes the repeats.
/// \param advance  does so many steps and returns when they are done
Measured measure(const std::function<void(std::uint64_t)>& advance, const MeasureOptions& options);

/// A rate in other units: all of it times `factor`.
Rate scaled(Rate rate, double factor);

/// Bytes that a time step of one ball cannot do without: its position and velocity in and out once, everything else
/// from caches. So no program of this precision that keeps its state in memory beats bandwidth / bytes_counted.
/// \param double_precision  8 bytes a number, else 4
constexpr double bytes_counted(int dimension, bool double_precision) {
    const double numbers = 2.0 * dimension;  // position and velocity
    return 2.0 * numbers * (double_precision ? 8.0 : 4.0);
}

/// Bytes that carom's step on the GPU streams: bytes_counted, the number of the ball's cell, the starts of the cells,
/// and its share of the sorts. Neighbours' positions are taken to come from caches.
/// \param cells_per_ball  of the grid
/// \param steps_between_sorts  0: none was seen
constexpr double bytes_streamed_by_cell_walk(int dimension, bool double_precision, double cells_per_ball,
                                             double steps_between_sorts) {
    constexpr double kWord = 4.0;
    const double state = 0.5 * bytes_counted(dimension, double_precision);  // one way
    // Keys of 8 bytes: written from state, cell and id; sorted in 8 passes that read and write them, and one that
    // reads; then state, id, cell and the slot of each id are fetched and written, and the cells' starts are found.
    const double sort =
        (state + 2 * kWord + 8.0) + 8.0 * (2 * 8 + 1) + (8.0 + 2 * state + 4 * kWord) + (8.0 + kWord * cells_per_ball);
    const double share = steps_between_sorts > 0.0 ? sort / steps_between_sorts : 0.0;
    return 2 * state + kWord + kWord * cells_per_ball + share;
}

/// A whole run three times over: the solver alone; as `carom run` without frames; and with 20 frames and rows into a
/// file in the folder for temporary files. The row's rate is that of the last, start and end of the program's work
/// included; `more` has the others.
/// \throws as prepare_scene and simulate
BenchRow output_case(const BenchCase& what, const BenchRequest& request, const std::function<int()>& interrupted);

/// Measures one case. Bandwidth, limit and what other rows are needed for is added by run_bench.
/// \param gas          that of the case; null for kCopy
/// \param most_seconds  after which no further repeat begins
/// \param interrupted  gives a signal's number
/// \throws InputError, SystemError, SimulationError, std::exception  it cannot be measured, and why
BenchRow run_case(const BenchCase& what, PlacedGas* gas, const BenchRequest& request, double most_seconds,
                  const std::function<int()>& interrupted);

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Steps that a repeat of this rung has at least, however long they take: enough that sorts come often.
std::uint64_t least_steps(BenchRung rung);

}  // namespace carom
