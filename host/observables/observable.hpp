#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "host/state/frame.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// What an observable is called in files, tables and figures.
struct ObservableInfo {
    std::string name;                     ///< in files, tables and sweeps: "kinetic_energy"
    std::string unit;                     ///< SI, as H5MD writes units: "kg m s-1"; empty for a pure number
    std::string label;                    ///< for the axis of a figure: "kinetic energy"
    std::vector<std::string> components;  ///< one name per value; empty: a scalar

    [[nodiscard]] std::size_t width() const { return components.empty() ? 1 : components.size(); }
    bool operator==(const ObservableInfo&) const = default;
};

/// What does not change during a run.
struct ObservableContext {
    Box box;
    double mean_radius = 0.0;      ///< over all balls at the start [length]
    const Balls* start = nullptr;  ///< where the balls were at time 0; only for observables that ask for it
    bool driven = false;           ///< something gives the balls energy, or takes it
    std::size_t walls = 0;         ///< [[wall]] entries
};

/// Pressure is force per area, and in 2D per length.
inline std::string pressure_unit(int dimension) { return dimension == 2 ? "N m-1" : "Pa"; }

/// What one row is computed from.
struct Sample {
    double time = 0.0;
    std::uint64_t step = 0;
    const Totals& totals;
    const Tallies& tallies;
    double previous_time = 0.0;         ///< of the row before this one
    const Tallies* previous = nullptr;  ///< at the row before this one; null in the first row
    const Frame* frame = nullptr;       ///< null if no observable needs one
};

/// One quantity that is followed during a run. A new one is a file beside this one and its line in registry.cpp.
class Observable {
public:
    virtual ~Observable() = default;

    [[nodiscard]] virtual ObservableInfo info() const = 0;
    /// Frames are costly; only those who look at single balls need them.
    [[nodiscard]] virtual bool needs_frame() const { return false; }
    /// Writes info().width() values; NaN where there is none.
    virtual void evaluate(const Sample& sample, std::span<double> values) const = 0;
};

}  // namespace carom
