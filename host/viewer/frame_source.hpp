#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// Which frames are wanted.
struct FrameChoice {
    enum class Kind : std::uint8_t {
        kAll,    ///< every stored frame; of a scene: those that a run would store
        kLast,   ///< the last one, or the scene's end
        kTime,   ///< the one nearest to `time`
        kIndex,  ///< the one of this number
    };
    Kind kind = Kind::kAll;
    double time = 0.0;
    std::size_t index = 0;
    double every = 0.0;  ///< kAll: simulated time between frames; 0: as stored
};

/// One after another the frames to draw: out of a file, or of a run that goes on in between.
class FrameSource {
public:
    virtual ~FrameSource() = default;

    [[nodiscard]] virtual const Scene& scene() const = 0;
    /// For species and radii; its positions are not looked at.
    [[nodiscard]] virtual const Balls& balls() const = 0;
    /// How many frames there will be.
    [[nodiscard]] virtual std::size_t count() const = 0;
    /// The next frame; null after the last, or once a signal has come. Valid until the next call.
    /// \throws SimulationError  the run cannot go on
    virtual const Frame* next() = 0;
    /// That the time asked for is not there; empty if it is.
    [[nodiscard]] virtual std::string warning() const { return {}; }
    /// The numbers of the run at the frame that next() gave, one a line.
    [[nodiscard]] virtual std::vector<std::string> notes() = 0;
};

/// \param key    what the user asked for so many with
/// \param count  how many frames that makes \throws InputError  more than anyone draws: above a million
void check_frame_count(const std::string& key, double count);

/// \throws InputError, SystemError  as TrajectoryReader; InputError, if there is no such frame
/// \param look  overrides of the stored scene's [look]
std::unique_ptr<FrameSource> open_trajectory(const std::string& path, const FrameChoice& choice,
                                             const std::vector<std::string>& look = {});

/// A run in memory, without files.
/// \param interrupted  gives a signal's number, or 0
/// \throws InputError, SystemError  before anything is computed
std::unique_ptr<FrameSource> start_run(const SceneRequest& request, const FrameChoice& choice,
                                       std::function<int()> interrupted);

}  // namespace carom
