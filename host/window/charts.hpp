#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/plot/figure.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// Numbers over all of a run's time. Where there are very many, every other time is forgotten.
class History {
public:
    explicit History(std::size_t width) : columns_(width) {}
    /// What was later is forgotten: time has gone back. \param values  one for each column
    void add(double time, std::span<const double> values);
    void clear();
    [[nodiscard]] const std::vector<double>& times() const { return times_; }
    [[nodiscard]] const std::vector<double>& column(std::size_t k) const { return columns_[k]; }

private:
    std::vector<double> times_;
    std::vector<std::vector<double>> columns_;
};

/// The speed of one ball, and its kinetic energy with that of its spin, over time.
class BallHistory {
public:
    /// Another ball's begins anew; none: nothing is kept.
    void watch(std::optional<std::size_t> id);
    [[nodiscard]] std::optional<std::size_t> id() const { return id_; }
    void add(const Balls& balls, const Frame& frame);
    [[nodiscard]] Figure speed(const Scene& scene) const;
    [[nodiscard]] Figure energy(const Scene& scene) const;

private:
    std::optional<std::size_t> id_;
    History history_{2};
};

/// A figure of columns of a history, over time. \param labels  of the curves; a single one needs none
Figure figure_over_time(const History& history, const std::vector<std::size_t>& columns,
                        const std::vector<std::string>& labels, const std::string& label, const std::string& unit,
                        const Scene& scene);

/// A histogram and the theory's curve, both as densities over the same axis.
struct Distribution {
    std::string label;
    std::string unit;
    double most = 0.0;            ///< end of the axis, which begins at 0
    std::vector<double> counted;  ///< one a bin of equal width
    std::vector<double> theory;   ///< at the middles of the bins; empty if it says nothing here
};

/// Speeds of the balls of finite mass, and Maxwell and Boltzmann's law for the temperature that they have: each ball's
/// own mass counts.
Distribution speed_distribution(const Balls& balls, const Frame& frame);

/// Density of balls over the height above the lower face, and the barometric curve of an ideal gas between floor and
/// ceiling at the temperature that the balls have; each ball's own mass counts. Without gravity there is none.
Distribution height_distribution(const Scene& scene, const Balls& balls, const Frame& frame);

Figure figure_of(const Distribution& distribution, const Scene& scene);

/// A figure in the present panel: its curves with axes, ticks and units, theory's in grey.
/// \param cursor  a place of the x axis that is marked
void draw_chart(const Figure& figure, const std::optional<double>& cursor = std::nullopt);

}  // namespace carom
