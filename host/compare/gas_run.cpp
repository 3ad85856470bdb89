#include "host/compare/gas_run.hpp"

#include <algorithm>
#include <cmath>

#include "host/observables/time_average.hpp"

namespace carom {

namespace {

/// Unwrapped positions of one frame, one array an axis.
using Places = std::array<std::vector<double>, 3>;

class GasObserver {
public:
    GasObserver(Solver& solver, const Balls& balls, const std::array<bool, 3>& periodic, const Vector3& box_size,
                const GasPlan& plan, const CompareContext& context)
        : solver_(solver),
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
        for (double& share : measured_.axis_share) {
            share *=
                static_cast<double>(dimension_) / static_cast<double>(std::max<std::size_t>(1, measured_.snapshots));
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
        double degrees = static_cast<double>(dimension_ * balls_.size());
        for (std::size_t axis = 0; axis < dimension_; ++axis) degrees -= periodic_[axis] ? 1.0 : 0.0;
        return degrees;
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
        const double begin = solver_.time();
        double kinetic = 0.0;
        double virial = 0.0;
        double contacts = 0.0;
        double wall_contacts = 0.0;
        double spring = 0.0;
        const double block_start = start_ + block * plan_.block;
        for (int sample = 1; sample <= plan_.samples; ++sample) {
            context_.advance(solver_, block_start + plan_.block * sample / plan_.samples);
            const Totals totals = solver_.totals();
            kinetic += inner_kinetic(totals);
            virial += totals.virial;
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
        measured_.contacts.push_back(contacts / count);
        measured_.wall_contacts.push_back(wall_contacts / count);
        measured_.spring_energy.push_back(spring / count);
        for (std::size_t face = 0; face < 2 * dimension_; ++face) {
            measured_.face_force[face].push_back((after.wall_impulse[face] - before.wall_impulse[face]) / elapsed);
        }
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

}  // namespace

Estimate estimate(const std::vector<double>& blocks) {
    // What is remembered for longer than a block (sound crosses a wide box slowly) shows in pairs and fours of them.
    constexpr std::size_t kLeastBlocks = 5;
    Estimate result{.error = blocked_error(blocks, kLeastBlocks)};
    for (const double block : blocks) result.mean += block / static_cast<double>(blocks.size());
    return result;
}

GasMeasured measure_gas(Solver& solver, const Balls& balls, const std::array<bool, 3>& periodic,
                        const Vector3& box_size, const GasPlan& plan, const CompareContext& context) {
    return GasObserver(solver, balls, periodic, box_size, plan, context).run();
}

}  // namespace carom
