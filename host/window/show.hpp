#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/run/changing_solver.hpp"
#include "host/run/prepare.hpp"
#include "host/state/solver.hpp"
#include "host/viewer/painter.hpp"
#include "host/window/charts.hpp"

namespace carom {

/// A number of a run, as a panel shows it.
using Reading = std::pair<std::string, std::string>;

/// What a run with the spring solver lets one change of it.
struct SpringNumbers {
    double stiffness = 0.0;   ///< [force/length]
    double dt = 0.0;          ///< [time]
    double longest_dt = 0.0;  ///< that still resolves the shortest contact; 0: nothing can touch [time]
};

/// To which times a live run can go back.
struct Rewind {
    double from = 0.0;  ///< the first and the last of them [time]
    double to = 0.0;
    std::size_t states = 0;
    std::uint64_t bytes = 0;  ///< that these take
};

/// How much of something there is a second, over about the last second. Amounts and times are summed, both fading
/// alike: a mean of their ratios would make much of what was quick.
class RateMeter {
public:
    void add(double amount, double seconds);
    void forget() { *this = {}; }
    /// 0 while too little time has been seen to say.
    [[nodiscard]] double rate() const;

private:
    double amount_ = 0.0;
    double seconds_ = 0.0;
};

/// What a window shows: a run that goes on, or a stored one.
class Show {
public:
    virtual ~Show() = default;

    [[nodiscard]] virtual const Scene& scene() const = 0;
    [[nodiscard]] virtual const Balls& balls() const = 0;
    /// Once OpenGL's context is current.
    virtual void start(bool playing) = 0;

    /// Before OpenGL's context is gone; nothing else may be called afterwards but error() and frame().
    virtual void stop() {}

    /// Takes what is new. \param seconds  of wall time since the last call \returns  whether there is something to draw
    virtual bool update(double seconds) = 0;
    /// What is shown now, or was a moment ago (see want_frames); null before the first frame.
    [[nodiscard]] virtual const Frame* frame() const = 0;
    /// Of what is shown now.
    [[nodiscard]] virtual double time() const { return frame() != nullptr ? frame()->time : 0.0; }
    [[nodiscard]] virtual std::uint64_t step_number() const { return frame() != nullptr ? frame()->step : 0; }
    /// Whether frame() must be of the very time that is shown.
    virtual void want_frames(bool /*each*/) {}
    /// \pre frame() is not null
    virtual void draw(Painter& painter, const std::vector<std::string>& notes, const LineList& extra) = 0;

    [[nodiscard]] virtual bool playing() const = 0;
    virtual void set_playing(bool playing) = 0;
    /// One step (live) or frame (stored) on, or back: of a live run to the last state that is kept.
    virtual void step(int direction) = 0;
    virtual void reset() = 0;
    [[nodiscard]] virtual double speed() const = 0;  ///< simulated time per second of wall time
    virtual void set_speed(double speed) = 0;
    /// What of that speed there really is; 0 if it is not known, as while it does not play.
    [[nodiscard]] virtual double reached() const { return playing() ? speed() : 0.0; }
    virtual void set_quantity(Quantity quantity) = 0;

    /// Which solver, on what, how fast, how drawn: one line.
    [[nodiscard]] virtual std::string status() const = 0;
    [[nodiscard]] virtual std::vector<Reading> readings() const = 0;
    /// What stopped the run; empty if nothing did.
    [[nodiscard]] virtual std::string error() const { return {}; }

    /// Why a kick or a change was not made, once; empty if all were made.
    [[nodiscard]] virtual std::string take_message() { return {}; }

    /// A stored run: how many frames, and which one is shown.
    [[nodiscard]] virtual std::size_t frame_count() const { return 0; }
    [[nodiscard]] virtual std::size_t frame_index() const { return 0; }
    virtual void go_to(std::size_t /*index*/) {}
    [[nodiscard]] virtual bool looping() const { return false; }
    virtual void set_looping(bool /*looping*/) {}

    /// A live run: whether balls can be kicked and keys of the scene changed.
    [[nodiscard]] virtual bool live() const { return false; }
    virtual void kick(const Kick& /*kick*/) {}
    /// Back to where the last kick was.
    virtual void undo_kick() {}
    /// Where it is being stored; empty if nowhere.
    [[nodiscard]] virtual std::string stored_in() const { return {}; }
    /// \throws InputError  it may not be so
    virtual void change(const std::string& /*override*/) {}
    /// A live run with springs.
    [[nodiscard]] virtual std::optional<SpringNumbers> spring() const { return std::nullopt; }
    [[nodiscard]] virtual Rewind rewind() const { return {}; }
    /// A live run: to the last state that is kept of that time or an earlier one; it pauses.
    virtual void rewind_to(double /*time*/) {}

    /// What there are charts of, by name: of a live run what panels have seen of it, of a stored one rows and averages.
    [[nodiscard]] virtual std::vector<std::string> chart_names() const = 0;
    /// \param drift  of rows: how far they went from their start
    /// \throws InputError  there is none, and why
    [[nodiscard]] virtual Figure chart(const std::string& name, bool drift) const = 0;
    /// Another number once charts may be others.
    [[nodiscard]] virtual std::uint64_t chart_edition() const = 0;
    /// Whose history is kept, from now on or, of a stored run, of all its frames.
    virtual void watch(std::optional<std::size_t> id) = 0;
    [[nodiscard]] virtual const BallHistory& watched() const = 0;
};

/// Where a live run is stored; nowhere if empty.
struct RecordRequest {
    std::string path;
    bool force = false;
};

/// \throws InputError, SystemError  the run cannot start, or not be stored
std::unique_ptr<Show> make_live_show(const SceneRequest& request, const RecordRequest& record);
/// \throws InputError, SystemError  it is no trajectory
/// \param look  overrides of the stored scene's [look]
std::unique_ptr<Show> make_stored_show(const std::string& path, const std::vector<std::string>& look = {});

}  // namespace carom
