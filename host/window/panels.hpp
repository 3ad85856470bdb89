#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "host/viewer/painter.hpp"
#include "host/window/physics_panel.hpp"
#include "host/window/show.hpp"
#include "host/window/statistics.hpp"

namespace carom {

/// What the panels show and change beside the show itself.
struct ViewState {
    bool panels = true;
    bool help = false;
    bool labels = true;
    bool recording = false;
    bool follow = false;
    std::optional<std::size_t> selected;  ///< a ball's id
    double frames_per_second = 0.0;
    std::string message;         ///< what was just done, or why not
    std::optional<double> clip;  ///< 3D: share of the box's depth that is cut off
};

/// What the user asked for in a panel, for the window to do.
struct Wishes {
    bool screenshot = false;
    bool record = false;
    bool fit = false;
};

/// Energies over time, as far back as panels show.
class EnergyHistory {
public:
    struct Sample {
        double time;
        double kinetic;
        double total;
    };
    /// Begins anew when time goes back.
    void add(double time, double kinetic, double total);
    [[nodiscard]] const std::deque<Sample>& samples() const { return samples_; }

private:
    std::deque<Sample> samples_;
};

/// The window's panels, once between begin_panels and end_panels.
class Panels {
public:
    /// How much of the window's left and lower rim they cover at first [units of the pointer's place].
    [[nodiscard]] static float left_room();
    [[nodiscard]] static float bottom_room(const Show& show);
    Wishes draw(Show& show, Painter& painter, ViewState& state);

private:
    void control(Show& show, ViewState& state, Wishes& wishes);
    void look(Show& show, Painter& painter, ViewState& state, Wishes& wishes);
    void plots(Show& show);
    void ball(const Show& show, ViewState& state);
    void playback_bar(Show& show);
    void help(ViewState& state);

    EnergyHistory history_;
    Distribution speeds_;
    Distribution heights_;
    double counted_at_ = -1.0;  // [s]
    std::optional<std::uint64_t> counted_step_;
    PhysicsPanel physics_;
    bool fixed_range_ = false;
};

}  // namespace carom
