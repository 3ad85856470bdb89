#include "host/compare/gas_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/compare/context.hpp"
#include "host/events/events_solver.hpp"
#include "host/observables/time_series.hpp"
#include "host/run/say.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/design.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/linear_spring.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

/// What the checks must know besides what was measured.
struct GasScene {
    const Scene& scene;  ///< as the spring solver ran it
    const Balls& balls;
    const SpringDesign& design;
};

/// Unwrapped positions of one frame, one array an axis.
using Places = std::array<std::vector<double>, 3>;

class GasObserver {
public:
    GasObserver(Solver& solver, const Balls& balls, const std::array<bool, 3>& periodic, const Vector3& box_size,
                const GasPlan& plan, const CompareContext& context, const std::function<double()>& met)
        : solver_(solver),
          met_(met),
          balls_(balls),
          periodic_(periodic),
          box_size_(box_size),
          plan_(plan),
          context_(context),
          dimension_(static_cast<std::size_t>(balls.dimension)) {
        for (std::size_t ball = 0; ball < balls.size(); ++ball) mass_ += balls.species_of(ball).mass;
    }

    GasMeasured run() {
        context_.advance(solver_, plan_.settle);
        read();
        find_drift();
        start_ = solver_.time();
        places_.push_back(places());
        measured_.energy_start = solver_.totals().energy();
        for (int block = 0; block < plan_.blocks; ++block) measure_block(block);
        measured_.energy_end = solver_.totals().energy();
        std::ranges::sort(measured_.speeds);
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            measured_.axis_share[axis] *=
                degrees() / degrees_along(axis) / static_cast<double>(std::max<std::size_t>(1, measured_.snapshots));
        }
        add_displacements();
        return std::move(measured_);
    }

private:
    void read() {
        solver_.request_frame(frame_);
        solver_.finish_frame(frame_);
    }

    /// The velocity of the whole, which never changes on a periodic axis.
    void find_drift() {
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            double momentum = 0.0;
            for (std::size_t ball = 0; ball < balls_.size(); ++ball) {
                momentum += balls_.species_of(ball).mass * frame_.velocity[axis][ball];
            }
            drift_[axis] = periodic_[axis] ? momentum / mass_ : 0.0;
        }
    }

    /// Kinetic energy without the drift, from the sums.
    [[nodiscard]] double inner_kinetic(const Totals& totals) const {
        double squared = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) squared += drift_[axis] * drift_[axis];
        return totals.kinetic - 0.5 * mass_ * squared;
    }

    /// Translational degrees of freedom: without the momenta that are conserved.
    [[nodiscard]] double degrees() const {
        double degrees = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) degrees += degrees_along(axis);
        return degrees;
    }
    [[nodiscard]] double degrees_along(std::size_t axis) const {
        return static_cast<double>(balls_.size()) - (periodic_[axis] ? 1.0 : 0.0);
    }

    [[nodiscard]] Places places() const {
        Places result;
        const double elapsed = frame_.time - start_;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            result[axis].resize(balls_.size());
            for (std::size_t ball = 0; ball < balls_.size(); ++ball) {
                result[axis][ball] =
                    frame_.position[axis][ball] + frame_.image[axis][ball] * box_size_[axis] - drift_[axis] * elapsed;
            }
        }
        return result;
    }

    void measure_block(int block) {
        const Tallies before = solver_.tallies();
        const double met = met_ ? met_() : 0.0;
        const double begin = solver_.time();
        double kinetic = 0.0;
        double virial = 0.0;
        std::array<double, 3> along{};
        double contacts = 0.0;
        double wall_contacts = 0.0;
        double spring = 0.0;
        const double block_start = start_ + block * plan_.block;
        for (int sample = 1; sample <= plan_.samples; ++sample) {
            context_.advance(solver_, block_start + plan_.block * sample / plan_.samples);
            const Totals totals = solver_.totals();
            kinetic += inner_kinetic(totals);
            virial += totals.virial;
            for (std::size_t axis = 0; axis < dimension_; ++axis) along[axis] += totals.pair_stress[axis];
            contacts += static_cast<double>(totals.contacts);
            wall_contacts += static_cast<double>(totals.wall_contacts);
            spring += totals.spring;
        }
        const Tallies after = solver_.tallies();
        const double elapsed = solver_.time() - begin;
        const double count = plan_.samples;
        measured_.temperature.push_back(2.0 * kinetic / count / degrees());
        measured_.virial.push_back(after.collisional_virial
                                       ? (*after.collisional_virial - *before.collisional_virial) / elapsed
                                       : virial / count);
        for (std::size_t axis = 0; axis < dimension_; ++axis)
            measured_.virial_along[axis].push_back(along[axis] / count);
        measured_.contacts.push_back(contacts / count);
        measured_.wall_contacts.push_back(wall_contacts / count);
        measured_.spring_energy.push_back(spring / count);
        for (std::size_t face = 0; face < 2 * dimension_; ++face) {
            measured_.face_force[face].push_back((after.wall_impulse[face] - before.wall_impulse[face]) / elapsed);
        }
        if (met_) measured_.collision_rate.push_back((met_() - met) / elapsed);
        read();
        places_.push_back(places());
        if ((block + 1) % plan_.blocks_per_snapshot == 0) take_snapshot();
    }

    void take_snapshot() {
        std::vector<double> twice_energy(balls_.size(), 0.0);
        std::array<double, 3> by_axis{};
        double sum = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            for (std::size_t ball = 0; ball < balls_.size(); ++ball) {
                const double v = frame_.velocity[axis][ball] - drift_[axis];
                const double part = balls_.species_of(ball).mass * v * v;
                twice_energy[ball] += part;
                by_axis[axis] += part;
                sum += part;
            }
        }
        const double temperature = sum / degrees();
        for (const double energy : twice_energy) measured_.speeds.push_back(std::sqrt(energy / temperature));
        for (std::size_t axis = 0; axis < dimension_; ++axis) measured_.axis_share[axis] += by_axis[axis] / sum;
        ++measured_.snapshots;
    }

    [[nodiscard]] double mean_square(const Places& from, const Places& to) const {
        double sum = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            for (std::size_t ball = 0; ball < balls_.size(); ++ball) {
                const double way = to[axis][ball] - from[axis][ball];
                sum += way * way;
            }
        }
        return sum / static_cast<double>(balls_.size());
    }

    void add_displacements() {
        for (std::size_t block = 0; block + 1 < places_.size(); ++block) {
            measured_.displacement.push_back(mean_square(places_[block], places_[block + 1]));
        }
        for (std::size_t lag = 1; lag < places_.size(); lag *= 2) {
            double sum = 0.0;
            std::size_t count = 0;
            for (std::size_t from = 0; from + lag < places_.size(); ++from, ++count) {
                sum += mean_square(places_[from], places_[from + lag]);
            }
            measured_.lags.push_back(lag);
            measured_.lag_displacement.push_back(sum / static_cast<double>(count));
        }
    }

    Solver& solver_;
    std::function<double()> met_;
    const Balls& balls_;
    std::array<bool, 3> periodic_;
    Vector3 box_size_;
    const GasPlan& plan_;
    const CompareContext& context_;
    std::size_t dimension_;
    double mass_ = 0.0;
    Vector3 drift_{};
    double start_ = 0.0;
    Frame frame_;
    std::vector<Places> places_;  // at the ends of the blocks
    GasMeasured measured_;
};

/// Runs a solver and measures.
/// \param periodic  axes on which momentum is conserved
/// \param balls     whose masses are taken
/// \param met       collisions of a ball up to now; none where they are not counted
/// \throws SimulationError, Interrupted
GasMeasured measure_gas(Solver& solver, const Balls& balls, const std::array<bool, 3>& periodic,
                        const Vector3& box_size, const GasPlan& plan, const CompareContext& context,
                        const std::function<double()>& met = {}) {
    return GasObserver(solver, balls, periodic, box_size, plan, context, met).run();
}

}  // namespace

Estimate estimate(const std::vector<double>& blocks) {
    Estimate result{.error = blocked_error(blocks)};
    for (const double block : blocks) result.mean += block / static_cast<double>(blocks.size());
    return result;
}

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
        const Box& box = described.scene.box;
        for (int axis = 0; axis < gas.dimension; ++axis) {
            walls_ = walls_ || !box.periodic(axis);
            narrow_ = narrow_ || box.size[static_cast<std::size_t>(axis)] < kNarrowestPeriod * 2.0 * mean_radius_;
        }
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
    /// From blocks: dense balls collide more often for as long as they happen to stand closer.
    [[nodiscard]] Estimate hard_rate() const { return estimate(gas_.hard.collision_rate); }

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
        // A share of N S among d N S independent squares has the variance 2 (d - 1) / (d N S), as a part of its mean;
        // of 200 disks, in which long flows outlive the time between snapshots, 1.1 and 1.3 times that were measured.
        constexpr double kFlows = 1.15;
        const double error =
            kFlows * std::sqrt(2.0 * (gas_.dimension - 1.0) / (gas_.dimension * static_cast<double>(speeds.size())));
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
        // Single precision adds as much again.
        const double time = gas_.plan.block * gas_.plan.blocks;
        const double collisions = 0.5 * count_ * hard_rate().mean * time;
        const double mass = described_.balls.species_of(0).mass;
        const SpringKeys& spring = described_.scene.spring;
        const bool known = spring.law == "linear" && spring.integrator == Integrator::kVerlet;
        const double walk = energy_walk({.dt = described_.design.dt,
                                         .phase = described_.design.phase_step,
                                         .thermal_speed = 2.0 * std::sqrt(temperature() / mass),
                                         .distance = 2.0 * mean_radius_,
                                         .time = time,
                                         .contacts = collisions,
                                         .balls = count_,
                                         .dimension = gas_.dimension,
                                         .alike = known && alike_ && !walls_});
        const bool good = std::abs(drift) <= 2.0 * kSigmas * walk + kRounding;
        checks_.push_back(
            {.name = "energy",
             .verdict = verdict_of(good),
             .words = fmt::format("total energy changes by {:.2g} of itself in about {:.3g} collisions (a "
                                  "random walk of the steps' errors: {:.2g}; rounding: {:.2g})",
                                  drift, collisions, walk, kRounding),
             .figures = {{"drift", drift}, {"walk", walk}}});
    }

    /// p V / (N T) from the virial, block by block. Between walls V is the centres' own, for both solvers: shrink()
    /// gives hard ones as much.
    [[nodiscard]] Estimate virial_z(const GasMeasured& measured) const {
        const Box& box = described_.scene.box;
        const double volumes = box.volumes_along(mean_radius_ - wall_loss());
        std::vector<double> blocks;
        for (std::size_t k = 0; k < measured.virial.size(); ++k) {
            const double twice_kinetic = static_cast<double>(dimension_) * count_ * measured.temperature[k];
            const double pressure = (twice_kinetic + measured.virial[k]) / volumes;
            blocks.push_back(pressure * box.volume() / (count_ * measured.temperature[k]));
        }
        return estimate(blocks);
    }

    /// Why theories of one fluid without bounds say nothing of this one; empty where they do.
    [[nodiscard]] std::string no_bulk_theory() const {
        if (!alike_) return "balls are of several kinds: no equation of state, no kinetic theory here";
        if (walls_) return "between walls the bulk's equation of state is only approached: not held against it";
        if (narrow_) {
            return fmt::format("a side of the box is less than {:g} diameters: no equation of state, no kinetic theory",
                               kNarrowestPeriod);
        }
        const bool fluid = soft_fraction() <= largest_fluid_fraction(gas_.dimension);
        return fluid ? "" : "too dense for a fluid's equation of state";
    }

    void pressure() {
        spring_z_ = virial_z(gas_.spring);
        const Estimate hard = virial_z(gas_.hard);
        const double excess = std::max(std::abs(hard.mean - 1.0), 0.1);
        checks_.push_back(against("pressure", "p V / (N T) of the springs (virial)", spring_z_,
                                  "of hard balls of the soft diameter", hard,
                                  kSecondOrder * softness_ * softness_ * excess + (walls_ ? softness_ * excess : 0.0)));
        if (const std::string reason = no_bulk_theory(); !reason.empty()) {
            notes_.push_back(reason);
            return;
        }
        const double fraction = soft_fraction();
        const double z = hard_compressibility(gas_.dimension, fraction);
        // N balls in a periodic box: off by a few (Z - 1) / N.
        const double bound = (z - 1.0) * (compressibility_uncertainty(gas_.dimension) +
                                          finite_size_uncertainty(count_) + kSecondOrder * softness_ * softness_);
        checks_.push_back(against("equation of state", "p V / (N T) of the springs", spring_z_,
                                  fmt::format("at the soft packing fraction {:.5g} theory has", fraction),
                                  {.mean = z, .error = 0.0}, bound));
    }

    /// A wall bears the stress along its own axis, which in a box with walls along some axes, or of unlike sides, is
    /// not that along others: F (L - 2 r) = N T + sum of r_ij F_ij along it, for each of its two.
    void wall_pressure() {
        const double wall_radius = mean_radius_ - wall_loss();
        const Box& box = described_.scene.box;
        std::vector<double> difference;
        std::vector<double> walls;
        for (std::size_t k = 0; k < gas_.spring.temperature.size(); ++k) {
            double force = 0.0;
            double due = 0.0;
            double area = 0.0;
            for (std::size_t axis = 0; axis < dimension_; ++axis) {
                const int across = static_cast<int>(axis);
                if (box.periodic(across)) continue;
                force += gas_.spring.face_force[2 * axis][k] + gas_.spring.face_force[2 * axis + 1][k];
                due += 2.0 * (count_ * gas_.spring.temperature[k] + gas_.spring.virial_along[axis][k]) /
                       box.length(across, wall_radius);
                area += 2.0 * box.face_area(across);
            }
            walls.push_back(force / area);
            difference.push_back((force - due) / area);
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
             .words = fmt::format("the walls bear {:.5g} +- {:.2g}, {} the stress across them to {:.2g} % +- "
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
        // In the mean over the speeds at which they begin a contact lasts so long: pairs as near as that, of which
        // there are as many as if they were hard times the integral of exp(-U / T), over the current of pairs into
        // contact.
        const double t_c = gas_.loss * std::sqrt(2.0 * kPi * 0.5 * ball.mass / temperature());
        const Estimate rate{.mean = 2.0 * contacts.mean / (count_ * t_c),
                            .error = 2.0 * contacts.error / (count_ * t_c)};
        const Estimate hard = hard_rate();
        checks_.push_back(against("collision rate", "collisions a ball and time of the springs (contacts / duration)",
                                  rate, "of hard balls of the soft diameter", hard,
                                  kFirstOrder * softness_ * hard.mean));
        if (!no_bulk_theory().empty()) return;
        const double fraction = soft_fraction();
        const double diameter = 2.0 * ball.radius - gas_.loss;
        const double z = hard_compressibility(gas_.dimension, fraction);
        const double theory = collision_rate(gas_.dimension, z, temperature(), ball.mass, diameter);
        const double bound = theory * (compressibility_uncertainty(gas_.dimension) + finite_size_uncertainty(count_));
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

    /// A contact whose energy goes as overlap^(n + 1) holds T / (n + 1) in the mean: linear springs T / 2.
    void partition() {
        const double softness = described_.design.pair_contact().softness();
        std::vector<double> ratio;
        double share = 0.0;
        const double blocks = static_cast<double>(gas_.spring.contacts.size());
        for (std::size_t k = 0; k < gas_.spring.contacts.size(); ++k) {
            const double contacts = gas_.spring.contacts[k] + gas_.spring.wall_contacts[k];
            if (!(contacts > 0.0)) return;
            const double thermal = gas_.spring.temperature[k];
            ratio.push_back(gas_.spring.spring_energy[k] / (contacts * softness * thermal));
            const double kinetic = 0.5 * static_cast<double>(dimension_) * count_ * thermal;
            share += gas_.spring.spring_energy[k] / (kinetic + gas_.spring.spring_energy[k]) / blocks;
        }
        checks_.push_back(
            against("spring energy",
                    fmt::format("springs hold {:.3g} % of the energy; a contact's mean energy over T / {:g} is",
                                100.0 * share, 1.0 / softness),
                    estimate(ratio), "theory has", {.mean = 1.0, .error = 0.0}, kFirstOrder * softness_));
        checks_.back().figures.emplace_back("share", share);
    }

    [[nodiscard]] double wall_loss() const {
        return described_.design.wall_contact().soft_diameter_loss(temperature());
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
    bool narrow_ = false;
    double mean_radius_ = 0.0;
    double smallest_ = 0.0;
    double softness_ = 0.0;  // s
    Estimate spring_z_;
    std::vector<Check> checks_;
};

/// Holds a gas against theory and the two solvers against each other. Adds to `notes` what could not be held.
std::vector<Check> gas_checks(const GasStatistics& gas, const GasScene& described, std::vector<std::string>& notes) {
    return GasChecks(gas, described, notes).all();
}

constexpr std::size_t kLeastBalls = 200;
constexpr double kSettle = 20.0;  // collisions a ball before anything is measured: kurtosis is right to 0.1 %
constexpr int kBlocks = 20;
constexpr double kBlock = 5.0;  // collisions a ball in a block, where that can be paid for
constexpr double kLeastBlock = 1.0;
constexpr int kSnapshotBlocks = 2;     // 10 collisions a ball between snapshots of speeds, where that can be paid for
constexpr double kSampleSteps = 25.0;  // half a contact at the default step: contacts differ from sample to sample

/// Hard balls of the soft diameter, between walls that stand where soft walls turn balls back.
void shrink(Scene& scene, SolverState& state, double loss, double wall_loss) {
    for (Species& species : scene.species) species.radius -= 0.5 * loss;
    for (Species& species : state.balls.species_table) species.radius -= 0.5 * loss;
    const double back = wall_loss - 0.5 * loss;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(scene.dimension()); ++axis) {
        if (scene.box.periodic(static_cast<int>(axis))) continue;
        scene.box.min[axis] -= back;
        scene.box.size[axis] += 2.0 * back;
    }
    scene.run.solver = SolverKind::kEvents;
}

double collisions_per_ball(const EventsSolver& solver, std::size_t balls) {
    return 2.0 * static_cast<double>(solver.statistics().ball_collisions) / static_cast<double>(balls);
}

/// As GasObserver measures it [energy].
double temperature_without_drift(const Balls& balls, const std::array<bool, 3>& periodic) {
    double twice = 0.0;  // the kinetic energy
    double degrees = 0.0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(balls.dimension); ++axis) {
        double mass = 0.0;
        double momentum = 0.0;
        for (std::size_t ball = 0; ball < balls.size(); ++ball) {
            const double own = balls.species_of(ball).mass;
            const double velocity = balls.velocity[axis][ball];
            mass += own;
            momentum += own * velocity;
            twice += own * velocity * velocity;
        }
        degrees += static_cast<double>(balls.size()) - (periodic[axis] ? 1.0 : 0.0);
        if (periodic[axis]) twice -= momentum * momentum / mass;
    }
    return twice / degrees;
}

/// Collisions per ball and time as of a thin gas of the balls' mean size and mass; where they fill more they collide
/// more often. 0 for balls that move as a whole, or not at all.
double thin_rate(const Scene& scene, const Balls& balls) {
    std::array<bool, 3> periodic{};
    double volume = 1.0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(balls.dimension); ++axis) {
        periodic[axis] = scene.box.periodic(static_cast<int>(axis));
        volume *= scene.box.size[axis];
    }
    const auto count = static_cast<double>(balls.size());
    double mass = 0.0;
    double radius = 0.0;
    for (std::size_t ball = 0; ball < balls.size(); ++ball) {
        mass += balls.species_of(ball).mass / count;
        radius += balls.species_of(ball).radius / count;
    }
    constexpr double kRounding = 1e-12;
    const double temperature = temperature_without_drift(balls, periodic);
    if (!(temperature > kRounding * temperature_without_drift(balls, {}))) return 0.0;
    const double second_virial =
        0.5 * std::exp2(balls.dimension) * count * ball_volume(balls.dimension, radius) / volume;
    return collision_rate(balls.dimension, 1.0 + second_virial, temperature, mass, 2.0 * radius);
}

/// Collisions per ball and time once the gas has settled, and when that was; 0 where that would be too long to wait
/// for. \param chunk  a time that is short against that between collisions
std::pair<double, double> settle(const Scene& scene, const SolverState& state, double chunk,
                                 const CompareContext& context) {
    EventsSolver solver(events_setup(scene), state);
    const std::size_t balls = state.balls.size();
    constexpr double kPatience = 30.0;  // times as long as a thin gas needs
    const double most = kPatience * (kSettle + 2.0 * kBlock) / thin_rate(scene, state.balls);
    double time = 0.0;
    double settled = 0.0;
    double before = 0.0;
    double last = 0.0;
    while (std::isfinite(most) && time < most) {
        context.advance(solver, time = std::min(time + chunk, most));
        const double now = collisions_per_ball(solver, balls);
        if (now - last < 0.5) chunk *= 2.0;
        last = now;
        if (settled == 0.0 && now >= kSettle) {
            settled = time;
            before = now;
        } else if (settled > 0.0 && now >= before + 2.0 * kBlock) {
            return {(now - before) / (time - settled), settled};
        }
    }
    return {0.0, 0.0};
}

}  // namespace

std::string no_gas(const Scene& scene, const Balls& balls) {
    if (balls.size() < kLeastBalls) {
        return fmt::format("{} are no gas: statistics need at least {}", plural(balls.size(), "ball"), kLeastBalls);
    }
    const Physics& physics = scene.physics;
    if (physics.restitution < 1.0 || physics.wall_restitution < 1.0 ||
        (scene.spring.damping && *scene.spring.damping > 0.0)) {
        return "a gas that loses energy has no equilibrium to hold against theory";
    }
    for (const double g : physics.gravity) {
        if (g != 0.0) return "under gravity density depends on height: theory of a uniform gas does not hold";
    }
    if (!scene.walls.empty()) return "with walls inside the box its free volume is not known";
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(scene.dimension()); ++axis) {
        for (const Face face : scene.box.faces[axis]) {
            if (face == Face::kOpen) return "a gas that escapes through an open face has no equilibrium";
        }
    }
    for (std::size_t ball = 0; ball < balls.size(); ++ball) {
        if (std::isinf(balls.species_of(ball).mass)) return "balls of infinite mass are in the way of a uniform gas";
    }
    return "";
}

Findings statistics_section(const PreparedScene& run, const CompareContext& context,
                            std::optional<GasStatistics>& result) {
    Findings section{.name = "statistics"};
    const std::size_t balls = run.state.balls.size();
    if (const std::string why = no_gas(run.scene, run.state.balls); !why.empty()) {
        section.notes.push_back("not compared: " + why);
        return section;
    }
    const SpringDesign design = design_spring(run.scene, run.state.balls);
    Scene scene = run.scene;
    scene.spring.dt = design.dt;
    scene.spring.stiffness = design.stiffness;
    scene.spring.wall_stiffness = design.wall_stiffness;
    if (scene.spring.distance_epsilon > 0.0) section.notes.emplace_back(kWithoutEpsilon);
    scene.spring.distance_epsilon = 0.0;
    const int dimension = scene.dimension();

    GasStatistics gas;
    gas.dimension = dimension;
    Scene hard_scene = scene;
    SolverState hard_state = run.state;
    std::array<bool, 3> periodic{};
    for (int axis = 0; axis < dimension; ++axis) periodic[static_cast<std::size_t>(axis)] = scene.box.periodic(axis);
    // Only for the length of the run; the temperature itself is measured.
    const double guess = temperature_without_drift(run.state.balls, periodic);
    shrink(hard_scene, hard_state, design.pair_contact().soft_diameter_loss(guess),
           design.wall_contact().soft_diameter_loss(guess));
    const auto [rate, settled] = settle(hard_scene, hard_state, 10.0 * design.contact_duration, context);
    if (!(rate > 0.0)) {
        section.notes.emplace_back("not compared: the balls hardly ever collide");
        return section;
    }

    // As long as can be paid for, up to 100 collisions a ball.
    const double affordable = context.work / static_cast<double>(balls) * design.dt * rate / kBlocks;
    const double block = std::clamp(affordable, kLeastBlock, kBlock);
    GasPlan& plan = gas.plan;
    plan.settle = settled;
    plan.block = block / rate;
    plan.blocks = kBlocks;
    plan.samples = static_cast<int>(std::clamp(plan.block / (kSampleSteps * design.dt), 1.0, 400.0));
    plan.blocks_per_snapshot = std::max(1, static_cast<int>(std::ceil(kSnapshotBlocks * kBlock / block)));
    plan.blocks_per_snapshot = std::min(plan.blocks_per_snapshot, kBlocks);
    context.say(fmt::format("statistics: {} over {:.3g} collisions each, of which {:.3g} are measured",
                            plural(balls, "ball"), (plan.settle + plan.block * plan.blocks) * rate,
                            plan.block * plan.blocks * rate));
    try {
        const std::unique_ptr<Solver> spring = context.make_spring(scene, run.state, context.threads);
        gas.spring = measure_gas(*spring, run.state.balls, periodic, scene.box.size, plan, context);
    } catch (const SimulationError& error) {
        section.checks.push_back({.name = "run",
                                  .verdict = Verdict::kBad,
                                  .words = std::string("the spring run could not go on: ") + error.what()});
        return section;
    }

    // The same with hard balls of the soft diameter at the temperature that the spring run has.
    const double temperature = estimate(gas.spring.temperature).mean;
    gas.loss = design.pair_contact().soft_diameter_loss(temperature);
    hard_scene = scene;
    hard_state = run.state;
    shrink(hard_scene, hard_state, gas.loss, design.wall_contact().soft_diameter_loss(temperature));
    EventsSolver hard(events_setup(hard_scene), hard_state);
    // Hard balls only set the clock by their temperature: faster ones do the same sooner.
    const double hard_temperature = temperature_without_drift(hard_state.balls, periodic);
    const double slower = std::sqrt(temperature / hard_temperature);
    GasPlan hard_plan = plan;
    hard_plan.settle *= slower;
    hard_plan.block *= slower;
    hard_plan.samples = 1;
    context.advance(hard, hard_plan.settle);
    gas.hard = measure_gas(hard, run.state.balls, periodic, hard_scene.box.size, hard_plan, context,
                           [&] { return collisions_per_ball(hard, balls); });
    for (double& rate_of_block : gas.hard.collision_rate) rate_of_block *= slower;

    section.notes.push_back(fmt::format(
        "{} precision; {} over {:.3g} time units after {:.3g}; T = {:.5g}; hard balls of the soft diameter are smaller "
        "by {:.3g}",
        run.plan->precision(), plural(balls, "ball"), plan.block * plan.blocks, plan.settle, temperature, gas.loss));
    section.notes.emplace_back(
        "+- is one standard error, from blocks; a figure is good within 4 of them and the stated bound on theory");
    const GasScene described{scene, run.state.balls, design};
    section.checks = gas_checks(gas, described, section.notes);
    result = std::move(gas);
    return section;
}

}  // namespace carom
