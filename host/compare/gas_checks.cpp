#include "host/compare/gas_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/restitution.hpp"

namespace carom {

namespace {

constexpr double kSigmas = 4.0;  // standard errors; by chance once in 16,000 checks

// Springs are hard balls of the soft diameter to first order in loss / diameter =: s. What is left is of second order
// in the pressure, with a coefficient below 10 up to the densities that are fluid; and of first order, with a
// coefficient below 4, where the diameter at which a contact is counted enters itself (rates, displacements, energies).
constexpr double kSecondOrder = 10.0;
constexpr double kFirstOrder = 4.0;

/// Within 4 standard errors and `bound` of what is expected.
Check against(const std::string& name, const std::string& what, const Estimate& value, const std::string& other,
              const Estimate& expected, double bound) {
    const double error = std::hypot(value.error, expected.error);
    const double off = value.mean - expected.mean;
    const bool good = std::abs(off) <= kSigmas * error + bound;
    const std::string expected_text = expected.error > 0.0
                                          ? fmt::format("{:.5g} +- {:.2g}", expected.mean, expected.error)
                                          : fmt::format("{:.5g}", expected.mean);
    return {.name = name,
            .verdict = verdict_of(good),
            .words = fmt::format(
                "{} {:.5g} +- {:.2g}, {} {}: {:.2g} % apart, {}", what, value.mean, value.error, other, expected_text,
                100.0 * std::abs(off) / std::max(std::abs(expected.mean), 1e-300),
                good ? "as it should be"
                     : fmt::format("more than the {:.2g} % allowed",
                                   100.0 * (kSigmas * error + bound) / std::max(std::abs(expected.mean), 1e-300))),
            .figures = {{"value", value.mean},
                        {"error", value.error},
                        {"expected", expected.mean},
                        {"expected_error", expected.error},
                        {"bound", bound}}};
}

class GasChecks {
public:
    GasChecks(const GasStatistics& gas, const GasScene& described, std::vector<std::string>& notes)
        : gas_(gas),
          described_(described),
          notes_(notes),
          dimension_(static_cast<std::size_t>(gas.dimension)),
          count_(static_cast<double>(described.balls.size())) {
        const Balls& balls = described.balls;
        for (std::size_t ball = 0; ball < balls.size(); ++ball) {
            alike_ = alike_ && balls.species_of(ball).radius == balls.species_of(0).radius &&
                     balls.species_of(ball).mass == balls.species_of(0).mass;
            mean_radius_ += balls.species_of(ball).radius / count_;
            smallest_ = ball == 0 ? balls.species_of(0).radius : std::min(smallest_, balls.species_of(ball).radius);
        }
        softness_ = gas.loss / (2.0 * smallest_);
        for (int axis = 0; axis < gas.dimension; ++axis) walls_ = walls_ || !described.scene.box.periodic(axis);
    }

    std::vector<Check> all() {
        speeds();
        energy();
        pressure();
        if (walls_) wall_pressure();
        rate();
        displacement();
        partition();
        return std::move(checks_);
    }

private:
    [[nodiscard]] double temperature() const { return estimate(gas_.spring.temperature).mean; }

    void speeds() {
        const std::vector<double>& speeds = gas_.spring.speeds;
        const double distance = kolmogorov_distance(gas_.dimension, speeds);
        const double limit = kolmogorov_limit(speeds.size());
        const bool good = distance <= limit;
        checks_.push_back(
            {.name = "speeds",
             .verdict = verdict_of(good),
             .words = fmt::format("{} Maxwell-Boltzmann: the distributions are at most {:.2g} apart over {} "
                                  "speeds (Kolmogorov-Smirnov, 0.1 % limit {:.2g})",
                                  good ? "as" : "not as", distance, speeds.size(), limit),
             .figures = {{"distance", distance}, {"limit", limit}, {"speeds", static_cast<double>(speeds.size())}}});
        // Each share of D = N S independent squares has a variance of 2 (d - 1) / (N S) about.
        const double error = std::sqrt(2.0 / static_cast<double>(speeds.size()));
        double worst = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            worst = std::max(worst, std::abs(gas_.spring.axis_share[axis] - 1.0));
        }
        const bool even = worst <= kSigmas * error;
        checks_.push_back({.name = "equipartition",
                           .verdict = verdict_of(even),
                           .words = fmt::format("kinetic energy is {}shared evenly by the axes: at most {:.2g} % off "
                                                "(standard error {:.2g} %)",
                                                even ? "" : "not ", 100.0 * worst, 100.0 * error),
                           .figures = {{"worst", worst}, {"error", error}}});
    }

    /// Nothing but rounding and the steps may change the total energy.
    void energy() {
        const double start = gas_.spring.energy_start;
        const double drift = (gas_.spring.energy_end - start) / start;
        // Each collision changes it by 0.15 h^2 of its own 2 T, at random; single precision adds as much again.
        const double h = described_.design.phase_step;
        const double collisions = 0.5 * count_ * gas_.hard_rate * gas_.plan.block * gas_.plan.blocks;
        const double walk = 0.15 * h * h * std::sqrt(collisions) * 2.0 / (count_ * static_cast<double>(dimension_));
        const bool good = std::abs(drift) <= 2.0 * kSigmas * walk + kRounding;
        checks_.push_back(
            {.name = "energy",
             .verdict = verdict_of(good),
             .words = fmt::format("total energy changes by {:.2g} of itself in about {:.3g} collisions (a "
                                  "random walk of the steps' errors: {:.2g}; rounding: {:.2g})",
                                  drift, collisions, walk, kRounding),
             .figures = {{"drift", drift}, {"walk", walk}}});
    }

    /// p V / (N T) from the virial, block by block. Between walls V is the centres' own.
    [[nodiscard]] Estimate virial_z(const GasMeasured& measured, const Scene& scene, double wall_radius) const {
        std::vector<double> blocks;
        for (std::size_t k = 0; k < measured.virial.size(); ++k) {
            const double twice_kinetic = static_cast<double>(dimension_) * count_ * measured.temperature[k];
            const double pressure = (twice_kinetic + measured.virial[k]) / centre_volume(scene, wall_radius);
            blocks.push_back(pressure * described_.scene.box.volume() / (count_ * measured.temperature[k]));
        }
        return estimate(blocks);
    }

    /// Sum over axes of face area times the length that centres have: d V in a periodic box.
    [[nodiscard]] double centre_volume(const Scene& scene, double wall_radius) const {
        double sum = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            const double edge = scene.box.size[axis];
            const double length = scene.box.periodic(static_cast<int>(axis)) ? edge : edge - 2.0 * wall_radius;
            sum += scene.box.volume() / edge * length;
        }
        return sum;
    }

    void pressure() {
        spring_z_ = virial_z(gas_.spring, described_.scene, mean_radius_ - wall_loss());
        const Estimate hard = virial_z(gas_.hard, described_.hard_scene, mean_radius_ - 0.5 * gas_.loss);
        const double excess = std::max(std::abs(hard.mean - 1.0), 0.1);
        checks_.push_back(against("pressure", "p V / (N T) of the springs (virial)", spring_z_,
                                  "of hard balls of the soft diameter", hard,
                                  kSecondOrder * softness_ * softness_ * excess + (walls_ ? softness_ * excess : 0.0)));
        const double fraction = soft_fraction();
        if (!alike_ || walls_ || fraction > largest_fluid_fraction(gas_.dimension)) {
            notes_.push_back(!alike_ ? "balls are of several kinds: no equation of state, no kinetic theory here"
                             : walls_
                                 ? "between walls the bulk's equation of state is only approached: not held against it"
                                 : "too dense for a fluid's equation of state");
            return;
        }
        const double z = hard_compressibility(gas_.dimension, fraction);
        // N balls in a periodic box: off by a few (Z - 1) / N.
        const double bound = (z - 1.0) * (compressibility_uncertainty(gas_.dimension) + 3.0 / count_ +
                                          kSecondOrder * softness_ * softness_);
        checks_.push_back(against("equation of state", "p V / (N T) of the springs", spring_z_,
                                  fmt::format("at the soft packing fraction {:.5g} theory has", fraction),
                                  {.mean = z, .error = 0.0}, bound));
    }

    void wall_pressure() {
        const double wall_radius = mean_radius_ - wall_loss();
        std::vector<double> difference;
        std::vector<double> walls;
        for (std::size_t k = 0; k < gas_.spring.virial.size(); ++k) {
            const double twice_kinetic = static_cast<double>(dimension_) * count_ * gas_.spring.temperature[k];
            const double virial =
                (twice_kinetic + gas_.spring.virial[k]) / centre_volume(described_.scene, wall_radius);
            double force = 0.0;
            double area = 0.0;
            for (std::size_t face = 0; face < 2 * dimension_; ++face) {
                if (described_.scene.box.periodic(static_cast<int>(face / 2))) continue;
                force += gas_.spring.face_force[face][k];
                area += described_.scene.box.volume() / described_.scene.box.size[face / 2];
            }
            walls.push_back(force / area);
            difference.push_back(force / area - virial);
        }
        const Estimate wall = estimate(walls);
        const Estimate apart = estimate(difference);
        // A mixture's radii differ at the walls.
        const double edge =
            *std::min_element(described_.scene.box.size.begin(),
                              described_.scene.box.size.begin() + static_cast<std::ptrdiff_t>(dimension_));
        const double bound = wall.mean * ((alike_ ? 0.0 : mean_radius_ / edge) + gas_.loss / edge);
        const bool good = std::abs(apart.mean) <= kSigmas * apart.error + bound;
        checks_.push_back(
            {.name = "wall pressure",
             .verdict = verdict_of(good),
             .words = fmt::format("the walls bear {:.5g} +- {:.2g}, {} the virial's pressure to {:.2g} % +- "
                                  "{:.2g} %",
                                  wall.mean, wall.error, good ? "and equal" : "and should equal",
                                  100.0 * apart.mean / wall.mean, 100.0 * apart.error / wall.mean),
             .figures = {{"value", wall.mean},
                         {"error", wall.error},
                         {"difference", apart.mean},
                         {"difference_error", apart.error}}});
    }

    void rate() {
        const Estimate contacts = estimate(gas_.spring.contacts);
        if (!alike_) return;
        const Species& ball = described_.balls.species_of(0);
        // A contact lasts t_c whatever its speed, so so many a time begin.
        const double t_c = contact_duration(described_.design.stiffness, 0.5 * ball.mass, 0.0);
        const Estimate rate{.mean = 2.0 * contacts.mean / (count_ * t_c),
                            .error = 2.0 * contacts.error / (count_ * t_c)};
        const double counted = 0.5 * count_ * gas_.hard_rate * gas_.plan.block * gas_.plan.blocks;
        const Estimate hard{.mean = gas_.hard_rate, .error = gas_.hard_rate / std::sqrt(counted)};
        checks_.push_back(against("collision rate", "collisions a ball and time of the springs (contacts / duration)",
                                  rate, "of hard balls of the soft diameter", hard,
                                  kFirstOrder * softness_ * gas_.hard_rate));
        const double fraction = soft_fraction();
        if (walls_ || fraction > largest_fluid_fraction(gas_.dimension)) return;
        const double diameter = 2.0 * ball.radius - gas_.loss;
        const double z = hard_compressibility(gas_.dimension, fraction);
        const double theory = collision_rate(gas_.dimension, z, temperature(), ball.mass, diameter);
        const double bound = theory * (compressibility_uncertainty(gas_.dimension) + 3.0 / count_);
        checks_.push_back(against("kinetic theory", "collisions a ball and time of the hard balls", hard, "Enskog has",
                                  {.mean = theory, .error = 0.0}, bound));
    }

    void displacement() {
        const Estimate spring = estimate(gas_.spring.displacement);
        const Estimate hard = estimate(gas_.hard.displacement);
        checks_.push_back(against("displacement",
                                  fmt::format("mean square displacement in t = {:.4g} of the springs", gas_.plan.block),
                                  spring, "of the hard balls", hard, kFirstOrder * softness_ * hard.mean));
    }

    /// A contact holds T / 2 in the mean, as any quadratic energy does.
    void partition() {
        std::vector<double> ratio;
        double share = 0.0;
        const double blocks = static_cast<double>(gas_.spring.contacts.size());
        for (std::size_t k = 0; k < gas_.spring.contacts.size(); ++k) {
            const double contacts = gas_.spring.contacts[k] + gas_.spring.wall_contacts[k];
            if (!(contacts > 0.0)) return;
            const double thermal = gas_.spring.temperature[k];
            ratio.push_back(gas_.spring.spring_energy[k] / (contacts * 0.5 * thermal));
            const double kinetic = 0.5 * static_cast<double>(dimension_) * count_ * thermal;
            share += gas_.spring.spring_energy[k] / (kinetic + gas_.spring.spring_energy[k]) / blocks;
        }
        checks_.push_back(against(
            "spring energy",
            fmt::format("springs hold {:.3g} % of the energy; a contact's mean energy over T / 2 is", 100.0 * share),
            estimate(ratio), "theory has", {.mean = 1.0, .error = 0.0}, kFirstOrder * softness_));
        checks_.back().figures.emplace_back("share", share);
    }

    [[nodiscard]] double wall_loss() const {
        return soft_diameter_loss(temperature(), described_.design.wall_stiffness);
    }

    [[nodiscard]] double soft_fraction() const {
        const double smaller = 1.0 - gas_.loss / (2.0 * mean_radius_);
        return described_.design.packing_fraction * std::pow(smaller, gas_.dimension);
    }

    static constexpr double kRounding = 1e-4;  // of the energy: single precision's, over 10^5 steps and more

    const GasStatistics& gas_;
    const GasScene& described_;
    std::vector<std::string>& notes_;
    std::size_t dimension_;
    double count_;
    bool alike_ = true;
    bool walls_ = false;
    double mean_radius_ = 0.0;
    double smallest_ = 0.0;
    double softness_ = 0.0;  // s
    Estimate spring_z_;
    std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> gas_checks(const GasStatistics& gas, const GasScene& described, std::vector<std::string>& notes) {
    return GasChecks(gas, described, notes).all();
}

}  // namespace carom
