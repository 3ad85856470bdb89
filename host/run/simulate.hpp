#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/observables/observable.hpp"
#include "host/run/changing_solver.hpp"
#include "host/run/output_files.hpp"
#include "host/run/prepare.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/signals.hpp"
#include "host/run/summary.hpp"

namespace carom {

struct SimulateOptions {
    OutputFiles files;              ///< without names: none are written
    bool force = false;             ///< overwrite them
    bool quiet = false;             ///< neither summaries nor progress on standard error
    double checkpoint_every = 0.0;  ///< simulated time; 0: only at the end
    std::string events_log;         ///< CSV of every collision; empty: none
    /// More than the scene's, at the end of each row; the same again where a run is resumed.
    std::vector<std::shared_ptr<const Observable>> observables;
    bool same_observables = false;  ///< a resumed run that had others is refused; else means of rows begin anew
    bool changeable = false;        ///< SimulationRun::change may be called
    RunSink* also = nullptr;        ///< gets what is written, in the thread that writes, after the files
};

struct Simulation {
    RunOutcome outcome;
    std::string json;  ///< the end summary as one object on one line
    /// As long as it is there a signal ends no telling of what has been done.
    std::unique_ptr<const SignalGuard> signals = nullptr;
};

/// How long a run will take on this machine, as its first moments go, with its frames and rows but without averages:
/// wall time [s]. It is tried for a third of a second. Empty where the run does not get that far, or has no memory.
std::optional<double> estimate_seconds(const PreparedScene& run);

/// A prepared scene as a run with its output, which goes on as far as it is told to.
class SimulationRun {
public:
    /// Writes nothing yet.
    /// \throws InputError, SystemError  it cannot start
    SimulationRun(PreparedScene run, const SimulateOptions& options);
    ~SimulationRun();
    SimulationRun(const SimulationRun&) = delete;
    SimulationRun& operator=(const SimulationRun&) = delete;

    /// Makes the files, with what the run starts from.
    /// \throws InputError, SystemError  they cannot be made; later failures are in the outcome
    RunLoop& begin();
    /// Writes the last of it, and closes the files.
    /// \param signal  as RunLoop::finish
    Simulation finish(int signal = 0);

    /// Waits until what has been taken up to now can be read in the file. \throws SystemError  it cannot be written
    void flush();

    /// With what has been changed.
    [[nodiscard]] const Scene& scene() const;
    /// When a run of so many steps is there. \throws InputError  as SolverPlan::time_of_step
    [[nodiscard]] double time_of_step(std::uint64_t step) const;
    [[nodiscard]] Solver& solver();
    /// What a row holds.
    [[nodiscard]] const std::vector<ObservableInfo>& infos() const;
    [[nodiscard]] RunAverages& averages();
    /// What a trajectory of the run begins with. \param balls  of which species and kind each is
    [[nodiscard]] TrajectoryHeader header(const Balls& balls);
    /// Lets a run that has been begun go on otherwise, and notes in its file what `change` says that it has done.
    /// Such a run is none at equilibrium, for theory. \pre SimulateOptions::changeable
    /// \throws InputError  what `change` throws; or the run logs its collisions
    /// \throws SystemError  the note cannot be written
    void change(const std::function<std::vector<std::string>(ChangingSolver&)>& change);
    /// Writes a checkpoint of what has been begun, beside those of the run. \throws SystemError  as save_checkpoint
    /// \throws InputError  keys of the run have been changed; or its balls or its scene were read from that file
    /// \throws SimulationError  no run goes on from there
    void save(const std::string& path);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Runs a prepared scene, from its start or its checkpoint, with summaries and progress on standard error, until it
/// ends or SIGINT, SIGTERM or SIGHUP comes.
/// \throws InputError, SystemError  before anything is computed; later failures are in the outcome
Simulation simulate(PreparedScene run, const SimulateOptions& options);

}  // namespace carom
