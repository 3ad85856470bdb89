#pragma once

#include <map>
#include <optional>
#include <string>

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
    [[nodiscard]] std::optional<double> draw(const Dial& dial);
    void gravity(Show& show, const Scene& now, std::string& message);
    void springs(Show& show, std::string& message);
    void temperatures(Show& show, const Scene& now, std::string& message);

    std::map<std::string, Held> held_;
};

}  // namespace carom
