#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/run/observe.hpp"
#include "host/run/row_means.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// What rows do not see of the way to equilibrium, taken from the frames that are stored: whether each species has the
/// room that it can have, whether all are equally warm, everywhere, whether velocities have settled, and whether balls
/// flow. A look costs some tens of nanoseconds a ball, and leaves a few numbers.
class EquilibriumWatch {
public:
    /// At the start of the run, whose first state says how often balls meet.
    explicit EquilibriumWatch(const PreparedScene& run);

    /// Only frames at multiples of their interval count, so that where a run was stopped and resumed makes no
    /// difference. \param frame  whole, or its parts one after the other
    void look(const Frame& frame);

    /// The means of the rows, from when on frames agree that the run is at equilibrium too.
    [[nodiscard]] RowMeans means(const RunAverages& averages) const;

    /// Among the averages of a checkpoint.
    void save(SolverState& state) const;
    /// \throws std::invalid_argument  it was saved by another run
    void restore(const SolverState& state);

private:
    struct Group {
        std::string name;
        double balls = 0.0;
    };
    struct Mode {
        std::size_t group = 0;
        int axis = 0;
        double slack = 0.0;  // by which it may be off besides chance
    };
    /// In which all balls may flow, along any axis, and each group be uneven: its mode is `first` + group *
    /// kWavesOfAxis.
    struct Wave {
        int axis = 0;
        double period = 0.0;  // over the room along the axis
        double phase = 0.0;   // in periods
        std::size_t first = 0;
    };
    /// Of a frame: a number for each mode, the temperature of each group over that of all, the kurtosis, the momentum
    /// in each wave along each axis, the energy of motion in each wave.
    struct Look {
        double time = 0.0;
        std::vector<double> numbers;
    };
    /// What a row of the species table is here.
    struct Row {
        std::size_t group = 0;  // groups_.size() or more: none
        double mass = 0.0;
        double radius = 0.0;
    };
    /// Over the balls of a frame.
    struct Sums {
        std::vector<double> modes;
        std::vector<double> balls;   // by group
        std::vector<double> warmth;  // likewise
        double squares = 0.0;
        double mass = 0.0;
        std::vector<double> momentum;       // along each axis
        std::vector<double> wave_mass;      // mass times the wave
        std::vector<double> wave_inertia;   // times its square
        std::vector<double> wave_momentum;  // and the momentum: wave after wave, along each axis
        std::vector<double> wave_balls;     // the wave where balls are
        std::vector<double> wave_squares;   // and its square
        std::vector<double> wave_warmth;
    };
    /// When the last of the modes has settled, and what that is.
    struct Settling {
        double since = -std::numeric_limits<double>::infinity();
        std::string last;
    };
    std::vector<std::size_t> grouped(const std::vector<Species>& table, const std::vector<double>& counts,
                                     std::vector<std::size_t> kinds, double all);
    [[nodiscard]] std::pair<double, double> at_equilibrium(std::size_t number) const;
    [[nodiscard]] std::size_t settled(std::size_t number) const;
    [[nodiscard]] Settling settling() const;
    [[nodiscard]] std::pair<std::optional<bool>, std::string> steady(double since) const;
    [[nodiscard]] std::pair<std::optional<bool>, std::string> spread(double since) const;
    [[nodiscard]] std::string name_of(std::size_t number) const;
    /// Of the numbers of a look, the first that is a flow.
    [[nodiscard]] std::size_t first_flow() const { return modes_.size() + groups_.size() + 1; }
    /// The first that is the warmth in a wave.
    [[nodiscard]] std::size_t first_warmth() const { return width() - waves_.size(); }
    [[nodiscard]] std::size_t width() const { return width(groups_.size()); }
    [[nodiscard]] std::size_t width(std::size_t groups) const;
    [[nodiscard]] double height(const Wave& wave, double radius, double at) const;
    [[nodiscard]] bool is_even(int axis, const Scene& scene) const;
    [[nodiscard]] double off(std::size_t mode, double value) const;
    [[nodiscard]] double after(const Look& look) const;
    void add(const Frame& frame, std::size_t begin, std::span<const std::uint32_t> rows);
    void thin();

    Scene stages_;               // its stages say what counts
    double every_;               // between frames [time]
    double stride_ = 1.0;        // between frames that are looked at, in intervals: a power of two
    double between_collisions_;  // of a ball with others ever new, on average [time]; 0: none move
    Box box_;
    std::vector<Group> groups_;  // of finite mass, one a species, or several alike where there are many
    std::size_t species_count_;  // of finite mass
    bool alike_ = true;          // they are about as heavy
    bool conducts_ = false;      // heat goes on flowing through the gas, which is not as warm everywhere
    std::vector<Row> rows_;
    std::shared_ptr<const SpeciesById> species_;
    std::vector<Mode> modes_;
    std::vector<Wave> waves_;
    std::vector<Look> looks_;
    Sums sums_;  // of a frame of which parts are still to come
};

}  // namespace carom
