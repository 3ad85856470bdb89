#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// A scene as a solver sees it during one stage.
struct StageScene {
    double until = 0.0;  ///< [time]; of the last stage: infinity
    double from = 0.0;   ///< walls stand at their offset then [time]
    Scene scene;         ///< gravity, walls and thermostat are those of the stage; no balls, fills or observables
};

/// The scenes of all stages; for a scene without any, one.
/// \param reachable  the time that the solver really reaches for one asked for
std::vector<StageScene> scenes_of_stages(const Scene& scene, const std::function<double(double)>& reachable);

/// The time that a solver really reaches for one asked for; empty: that one.
using ReachableTime = std::function<double(double)>;

/// The walls of a scene where they stand at a time.
std::vector<Wall> walls_at(const Scene& scene, double time, const ReachableTime& reachable = {});

/// Which stage goes on from a time, or begins there; 0 for a scene without any.
std::size_t stage_at(const Scene& scene, double time, const ReachableTime& reachable = {});

/// The scene as it is at a time: StageScene::scene of the stage that goes on from there.
Scene scene_at(const Scene& scene, double time);

}  // namespace carom
