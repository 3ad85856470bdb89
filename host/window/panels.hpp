#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/viewer/painter.hpp"
#include "host/window/charts.hpp"
#include "host/window/show.hpp"

namespace carom {

/// The part of the panels that changes a run while it goes on: gravity, restitution, stiffness, the time step, and the
/// temperatures of thermal walls. Each is a slider, and a number that one can type.
class PhysicsPanel {
public:
    /// \param message  told of what was changed, or why not
    void draw(Show& show, std::string& message);

private:
    /// One of the numbers, by the key of the scene that it stands for.
    struct Dial {
        std::string key;
        std::string label;
        std::string unit = {};
        double now = 0.0;
        double low = 0.0;  ///< ends of the slider
        double high = 0.0;
        double reach = 0.0;  ///< above 0: instead, that many times more and less than it first was, in equal ratios
        std::string why_not = {};  ///< that it cannot be changed; empty if it can
    };
    /// While a slider or a number is being moved or typed, it shows that and not what the run has.
    struct Held {
        double first = 0.0;
        std::optional<float> slider;
        std::optional<double> typed;
    };
    [[nodiscard]] std::optional<double> draw(const Dial& dial, const UnitNames& units);
    void gravity(Show& show, const Scene& now, std::string& message);
    void springs(Show& show, std::string& message);
    void temperatures(Show& show, const Scene& now, std::string& message);

    std::map<std::string, Held> held_;
};

/// What the panels show and change beside the show itself.
struct ViewState {
    bool panels = true;
    bool help = false;
    bool search = false;  ///< what is typed next is looked for in the help
    bool labels = true;
    bool recording = false;
    std::string_view movie = ".mp4";  ///< of movie_endings()
    bool follow = false;
    bool leaving = false;                 ///< it is being asked whether to
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
    bool copy = false;
    bool keep_clip = false;   ///< the plane that cuts stays where it is
    bool drop_clips = false;  ///< all that stayed
    bool leave = false;
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
    void ball(Show& show, ViewState& state);
    void playback_bar(Show& show);
    void help(ViewState& state);
    static void ask(const Show& show, ViewState& state, Wishes& wishes);

    /// One of those that were chosen.
    struct ChosenChart {
        std::string name;
        bool drift = false;
        std::optional<std::uint64_t> edition = std::nullopt;  ///< for which it has been made
        Figure figure = {};
        std::string refusal = {};
    };
    std::vector<ChosenChart> charts_{{.name = "energy"}};
    Distribution speeds_;
    Distribution heights_;
    std::array<char, 64> sought_{};                            // in the help
    double counted_at_ = -1.0;                                 // [s]
    std::optional<std::pair<double, std::uint64_t>> counted_;  // the time and edition of these distributions
    PhysicsPanel physics_;
    std::array<float, 2> size_{};  // of the window, a picture ago
    int when_ = 0;                 // panels are put where they belong, in Dear ImGui's words
};

}  // namespace carom
