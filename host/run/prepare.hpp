#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/run/solver_plan.hpp"
#include "host/scene/design.hpp"
#include "host/scene/scene.hpp"
#include "host/state/errors.hpp"
#include "host/state/solver.hpp"

namespace carom {

class SharedInputs;

/// A scene as it was read: what comes from a pipe can be read only once.
struct SceneText {
    std::string path;
    std::string text;
};

/// \param path_or_name  a file, or the name of an installed scene
/// \throws SystemError  no such file, or it cannot be read
SceneText read_scene_text(const std::string& path_or_name);

/// What the user asks for, beside the scene's own keys.
struct SceneRequest {
    std::string scene;                    ///< file or name
    std::vector<std::string> overrides;   ///< "table.key=VALUE"
    bool typed = true;                    ///< whoever runs carom gave these; else a file did, a sweep's
    std::optional<std::uint64_t> steps;   ///< instead of run.until
    int threads = 0;                      ///< 0: all
    bool force = false;                   ///< insist on a run of which nothing can come
    std::optional<SceneText> text;        ///< of the scene, where it has been read already
    std::function<void()> while_placing;  ///< as Scene has it; null: nothing
    SharedInputs* inputs = nullptr;       ///< what it loads, where other runs load it too; outlives the run's beginning
    bool in_parts = false;                ///< ranks share the run: where that is possible, nobody needs all balls
};

/// A scene with all that follows from it, before anything is computed.
struct PreparedScene {
    Scene scene;
    BallFigures figures;
    std::shared_ptr<const SolverPlan> plan;
    SolverState state;                           ///< the initial balls, or those of the checkpoint
    std::shared_ptr<const SpeciesById> species;  ///< of these, which outlives them
    std::string resumed_from;                    ///< the checkpoint; empty: the run starts anew
    int threads = 0;                             ///< as SceneRequest::threads
    std::uint64_t steps = 0;                     ///< from state.step on; 0: only the run itself can tell
    std::uint64_t frames = 0;                    ///< to be written
    std::uint64_t rows = 0;                      ///< of observables, to be written
    std::uint64_t memory_bytes = 0;       ///< predicted peak: of this process, or for "cuda" of the device's memory
    std::uint64_t host_memory_bytes = 0;  ///< predicted peak of this process
    std::uint64_t output_bytes = 0;       ///< predicted size of the trajectory
    std::vector<std::string> warnings;
};

/// Reads the scene, places the balls, and designs the run.
/// \throws InputError   the scene is wrong, or asks for what this version cannot do
/// \throws SystemError  no such file; or no such device
PreparedScene prepare_scene(const SceneRequest& request);

/// What ranks that share a run would take of memory at their peaks [bytes].
struct RankMemory {
    int ranks = 1;
    std::array<int, 3> layers{1, 1, 1};  ///< into which the axes are cut
    std::uint64_t rank_0 = 0;            ///< which writes the files
    std::uint64_t other = 0;             ///< of each other
    std::string has_all;                 ///< why rank 0 has room for all balls; empty: it needs none
};
/// \param layers  0: as is best
/// \throws InputError  the run cannot be shared so
RankMemory memory_of_ranks(const PreparedScene& run, int ranks, const std::array<int, 3>& layers);

/// There is nothing left to do of a run that is to go on.
class RunIsOver : public InputError {
    using InputError::InputError;
};

/// The same from a checkpoint. If nothing is overridden that changes the trajectory the run goes on; else it is a new
/// one, from time 0 on, of the balls as they are, and Scene::history says so. \throws InputError  besides, when the
/// balls themselves would be others
/// \throws RunIsOver  the end has been reached already
PreparedScene prepare_resume(const std::string& checkpoint_path, const SceneRequest& request);

/// Does what looks at the state that a run starts from; where that comes from a checkpoint, and is damaged, the file is
/// named.
/// \param path  PreparedScene::resumed_from
template <class Action>
auto of_checkpoint(const std::string& path, const Action& action) {
    try {
        return action();
    } catch (const DamagedState& error) {
        throw InputError(path + ": is not a whole checkpoint of carom: " + error.what());
    }
}

}  // namespace carom
