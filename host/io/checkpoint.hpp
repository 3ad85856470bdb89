#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// `format` attribute of the file.
inline constexpr const char* kCheckpointFormat = "carom checkpoint";

/// All that `--resume` needs.
struct Checkpoint {
    std::string scene_path;    ///< as the user gave it, for messages
    std::string scene_source;  ///< the complete text that reproduces the run
    SolverDescription description;
    SolverState state;
    std::string version;  ///< of the program that wrote it; empty when writing: this one
};

/// Writes a checkpoint whose balls come in parts. Until finish() has returned the file is another one, which goes if
/// that is never called; then, as save_checkpoint. Used from one thread.
class CheckpointWriter {
public:
    /// \param checkpoint  all of it but balls; of these, dimension and species table
    /// \param replace     an older file at `path` may go
    /// \throws InputError   there is one, and `replace` is not given
    /// \throws SystemError  as add() and finish(): the file cannot be written; an older one at `path` is still there
    CheckpointWriter(const std::string& path, const Checkpoint& checkpoint, std::size_t balls, bool replace = true);
    ~CheckpointWriter();
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    /// The next part of the balls.
    void add(const Balls& part);
    /// \param state  what the file holds besides
    void finish(const SolverState& state);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Writes `checkpoint` to a temporary file in the same folder, syncs it, and renames it to `path`, so that at any time
/// `path` is a whole checkpoint, the old one or the new one. Every bit is kept, NaN and infinity included.
/// \throws SystemError  the file cannot be written; an older one at `path` is still there
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// \param in_parts      balls stay in the file: SolverState::parts reads them
/// \throws SystemError  no such file, or it cannot be read
/// \throws InputError   it is no checkpoint of carom, or not what was written; one line
Checkpoint load_checkpoint(const std::string& path, bool in_parts = false);

/// A run of this scene can have left the state: its numbers are numbers, its balls in the box and, where all are at
/// hand, apart from each other. What an engine has noted for itself, the engine looks at. \throws DamagedState
void require_possible(const SolverState& state, const Scene& scene);

/// A run has come to a state with which require_possible() would not go on, since soft balls have gone into each other.
bool is_dead_end(const SolverState& state, const Scene& scene);

}  // namespace carom
