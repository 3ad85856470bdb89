#pragma once

#include <memory>
#include <string>

#include "host/io/trajectory_writer.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// A trajectory of a live run: frames as `carom run` stores them, and a note of each change that was made meanwhile.
class LiveRecord {
public:
    /// \throws InputError, SystemError  as TrajectoryWriter
    LiveRecord(const std::string& path, bool force, const Scene& scene, const Balls& balls,
               const SolverDescription& description);

    /// When the next frame is to be stored.
    [[nodiscard]] double next() const { return static_cast<double>(count_) * every_; }
    /// It is taken care of.
    void pass() { ++count_; }
    /// \throws SystemError  as TrajectoryWriter, as all that follows
    void add(const Frame& frame);
    /// \param what  "physics.gravity=[0, -2]"
    void note(double time, std::uint64_t step, const std::string& what);
    /// Nothing can be added afterwards.
    void finish();
    [[nodiscard]] const std::string& path() const { return writer_->path(); }

private:
    double every_;
    std::uint64_t count_ = 0;  // of times that have passed
    std::uint64_t notes_ = 0;
    std::unique_ptr<TrajectoryWriter> writer_;
};

}  // namespace carom
