#include "host/spring/spring_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/state/errors.hpp"

namespace carom {

namespace {

SpringTallies to_spring(const Tallies& tallies) {
    return {tallies.wall_impulse, tallies.max_overlap, tallies.balls_left, tallies.sorts};
}

class SpringSolver final : public Solver {
public:
    SpringSolver(const SpringSetup& setup, const SolverState& state, std::string name,
                 const std::function<std::unique_ptr<SpringEngine>(const RawBalls&, const SpringTallies&)>& engine_of)
        : setup_(setup),
          name_(std::move(name)),
          species_table_(state.balls.species_table),
          species_(state.balls.species),
          spin_(state.balls.spin) {
        const std::size_t count = species_.size();
        std::vector<double> radius(count);
        std::vector<double> inverse_mass(count);
        for (std::size_t id = 0; id < count; ++id) {
            const Species& species = species_table_[species_[id]];
            radius[id] = species.radius;
            inverse_mass[id] = std::isinf(species.mass) ? 0.0 : 1.0 / species.mass;
        }
        // The engine only reads what it is given here; the pointers are mutable for its way out.
        Balls& balls = const_cast<Balls&>(state.balls);
        engine_ = engine_of(raw(balls, radius.data(), inverse_mass.data()), to_spring(state.tallies));
        for (std::size_t id = 0; id < count; ++id) rotational_ += balls.gone[id] ? 0.0 : spin_energy(id);
    }

    double time() const override { return static_cast<double>(engine_->step()) * setup_.dt; }
    std::uint64_t step() const override { return engine_->step(); }
    double reachable_time(double time) const override { return static_cast<double>(step_at(time)) * setup_.dt; }

    bool advance_to(double time, double seconds) override {
        const std::uint64_t target = step_at(time);
        const auto start = std::chrono::steady_clock::now();
        const auto elapsed = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        while (engine_->step() < target) {
            // Slices of about a tenth of the caller's patience, from the pace of the slices before.
            const std::uint64_t slice = std::min(target - engine_->step(), slice_);
            const double before = elapsed();
            const AdvanceResult result = engine_->advance(slice);
            if (result.fault.kind != SpringFault::Kind::kNone) throw_fault(result.fault);
            const double after = elapsed();
            if (after - before < 0.05 * seconds) slice_ = std::min<std::uint64_t>(slice_ * 2, 1U << 20);
            if (after - before > 0.2 * seconds) slice_ = std::max<std::uint64_t>(slice_ / 2, 1);
            if (after > seconds) break;
        }
        return engine_->step() >= target;
    }

    Totals totals() override {
        const SpringTotals sums = engine_->totals();
        Totals totals;
        totals.kinetic = sums.kinetic;
        totals.rotational = rotational_;
        totals.spring = sums.spring;
        totals.gravitational = sums.gravitational;
        std::copy_n(sums.momentum, 3, totals.momentum.begin());
        std::copy_n(sums.angular, 3, totals.angular_momentum.begin());
        add_spin(totals.angular_momentum);
        totals.virial = sums.virial;
        totals.contacts = sums.contacts;
        totals.wall_contacts = sums.wall_contacts;
        totals.overlap = sums.overlap;
        totals.speed = sums.speed;
        totals.balls = sums.balls;
        totals.mobile = sums.mobile;
        return totals;
    }

    Tallies tallies() override {
        const SpringTallies counted = engine_->tallies();
        Tallies tallies;
        tallies.wall_impulse = counted.wall_impulse;
        tallies.max_overlap = counted.max_overlap;
        tallies.balls_left = counted.balls_left;
        tallies.sorts = counted.sorts;
        return tallies;
    }

    void request_frame(Frame& frame) override {
        frame.resize(setup_.dimension, species_.size());
        frame.time = time();
        frame.step = step();
        frame.spin = spin_;
        FrameArrays arrays;
        for (int axis = 0; axis < setup_.dimension; ++axis) {
            arrays.position[axis] = frame.position[axis].data();
            arrays.velocity[axis] = frame.velocity[axis].data();
            arrays.image[axis] = frame.image[axis].data();
        }
        arrays.gone = frame.gone.data();
        engine_->request_frame(arrays);
    }

    void finish_frame(Frame&) override { engine_->finish_frame(); }
    PictureSource* pictures() override { return engine_.get(); }

    void save(SolverState& state) override {
        state.step = step();
        state.time = time();
        state.balls = current_balls();
        state.tallies = tallies();
        state.extra.clear();
    }

    SolverDescription describe() const override {
        SolverDescription description;
        description.solver = "spring";
        description.backend = name_;
        description.device = engine_->device();
        description.threads = engine_->threads();
        description.precision = setup_.double_precision ? "double" : "single";
        description.dt = setup_.dt;
        description.memory_bytes = engine_->memory_bytes();
        description.parameters = {{"stiffness", setup_.stiffness},
                                  {"wall_stiffness", setup_.wall_stiffness},
                                  {"damping", setup_.damping},
                                  {"damping_ratio", setup_.damping_ratio},
                                  {"wall_damping_ratio", setup_.wall_damping_ratio},
                                  {"margin", engine_->margin()},
                                  {"quantum", engine_->largest_quantum()}};
        return description;
    }

private:
    [[nodiscard]] std::uint64_t step_at(double time) const {
        return static_cast<std::uint64_t>(std::llround(std::max(0.0, time) / setup_.dt));
    }

    RawBalls raw(Balls& balls, const double* radius, const double* inverse_mass) const {
        RawBalls raw;
        raw.count = balls.size();
        for (int axis = 0; axis < setup_.dimension; ++axis) {
            raw.position[axis] = balls.position[axis].data();
            raw.velocity[axis] = balls.velocity[axis].data();
            raw.image[axis] = balls.image[axis].data();
        }
        raw.gone = balls.gone.data();
        raw.radius = radius;
        raw.inverse_mass = inverse_mass;
        return raw;
    }

    [[nodiscard]] Balls current_balls() {
        Balls balls;
        balls.dimension = setup_.dimension;
        balls.species_table = species_table_;
        balls.resize(species_.size());
        balls.species = species_;
        balls.spin = spin_;
        engine_->store(raw(balls, nullptr, nullptr));
        return balls;
    }

    [[noreturn]] void throw_fault(const SpringFault& fault) {
        throw SimulationError(explain_fault(fault, current_balls(), time(), step()));
    }

    /// Moment of inertia times spin, per axis (2D: only axis 2).
    [[nodiscard]] double inertia(std::size_t id) const {
        const Species& species = species_table_[species_[id]];
        return std::isinf(species.mass) ? 0.0 : species.mass * species.radius_of_gyration * species.radius_of_gyration;
    }
    [[nodiscard]] double spin_energy(std::size_t id) const {
        double squared = 0.0;
        for (const auto& axis : spin_) squared += axis.empty() ? 0.0 : axis[id] * axis[id];
        return 0.5 * inertia(id) * squared;
    }
    void add_spin(Vector3& angular) const {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            for (std::size_t id = 0; id < spin_[axis].size(); ++id) {
                if (spin_[axis][id] != 0.0) angular[axis] += inertia(id) * spin_[axis][id];
            }
        }
    }

    SpringSetup setup_;
    std::string name_;
    std::vector<Species> species_table_;
    std::vector<std::uint32_t> species_;
    std::array<std::vector<double>, 3> spin_;  // nothing changes it: the contacts are smooth
    double rotational_ = 0.0;
    std::unique_ptr<SpringEngine> engine_;
    std::uint64_t slice_ = 1;
};

}  // namespace

std::unique_ptr<Solver> make_spring_solver(
    const SpringSetup& setup, const SolverState& state, const std::string& name,
    const std::function<std::unique_ptr<SpringEngine>(const RawBalls&, const SpringTallies&)>& engine_of) {
    auto solver = std::make_unique<SpringSolver>(setup, state, name, engine_of);
    return solver;
}

std::unique_ptr<Solver> make_spring_solver(const SpringSetup& setup, const SolverState& state,
                                           const std::string& processor) {
    return make_spring_solver(setup, state, processor, [&](const RawBalls& balls, const SpringTallies& tallies) {
        return std::move(make_spring_processor(processor, setup, balls, state.step, tallies).engine);
    });
}

}  // namespace carom
