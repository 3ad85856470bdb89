#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"
#include "kernels/core/key.hpp"

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
    double mean_radius = 0.0;        ///< over all balls of finite mass at the start [length]
    double mass = 0.0;               ///< of all balls of finite mass at the start
    std::uint64_t balls = 0;         ///< at the start
    const Balls* species = nullptr;  ///< of what species each is; of [[observe]] alone
    const Balls* start = nullptr;    ///< the same, where they were at time 0; of kinds that tell of it
    bool driven = false;             ///< something gives the balls energy, or takes it
    std::size_t walls = 0;           ///< [[wall]] entries
};

/// One [[observe]] of a scene; what its kind does not take is as here.
struct ObserveEntry {
    std::string name;
    std::string kind;                    ///< of find_observable_kind
    std::string species;                 ///< empty: all balls; averages: all of finite mass
    double threshold = 0.0;              ///< [length]
    std::string with;                    ///< gr: the species of the other balls; empty: as `species`
    int axis = 0;                        ///< of a profile; of a map in 3D the one along which one looks
    std::size_t bins = 0;                ///< 0: as many as the kind has
    double max = 0.0;                    ///< where the bins end; 0: as the kind likes
    Vector3 region_min{}, region_max{};  ///< temperature: only balls whose centres are in there [length]
    std::optional<double> every = {};    ///< between samples [time]; empty: what costs little
    double from = 0.0;                   ///< samples are taken from this time on [time]
    KindValues own = {};                 ///< of the keys that are the kind's own
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

/// One quantity that is followed during a run: a value, or several, in each row.
class Observable {
public:
    virtual ~Observable() = default;

    [[nodiscard]] virtual ObservableInfo info() const = 0;
    /// Frames are costly; only those who look at single balls need them.
    [[nodiscard]] virtual bool needs_frame() const { return false; }
    /// Writes info().width() values; NaN where there is none.
    virtual void evaluate(const Sample& sample, std::span<double> values) const = 0;
};

/// One row of all observables at one time; values of the observables one after the other.
struct ObservableRow {
    double time = 0.0;
    std::uint64_t step = 0;
    std::vector<double> values;
};

/// The observables of a run, and what was counted when the last row was taken.
class ObservableSet {
public:
    explicit ObservableSet(std::vector<std::unique_ptr<Observable>> observables);
    /// One more, at the end of the row. \throws std::invalid_argument  there is one of that name
    void add(std::shared_ptr<const Observable> observable);

    [[nodiscard]] const std::vector<ObservableInfo>& infos() const { return infos_; }
    [[nodiscard]] bool needs_frame() const { return needs_frame_; }

    /// One row from what the solver says now. `frame` may be null unless needs_frame().
    ObservableRow evaluate(double time, std::uint64_t step, const Totals& totals, const Tallies& tallies,
                           const Frame* frame);
    /// The same, with another row than the last one as the row before; changes nothing.
    [[nodiscard]] ObservableRow evaluate_since(const Sample& sample) const;
    /// Time of the row that was evaluated last.
    [[nodiscard]] double previous_time() const { return previous_time_; }

private:
    std::vector<std::shared_ptr<const Observable>> observables_;
    std::vector<ObservableInfo> infos_;
    std::size_t width_ = 0;
    bool needs_frame_ = false;
    bool first_ = true;
    double previous_time_ = 0.0;
    Tallies previous_;
};

}  // namespace carom
