#include "host/compare/force_audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "host/scene/walls.hpp"

namespace carom {

namespace {

/// Accelerations of all balls by the law itself.
class LawForces {
public:
    LawForces(const Scene& scene, const SpringDesign& design, const Balls& balls)
        : scene_(scene),
          balls_(balls),
          dimension_(static_cast<std::size_t>(balls.dimension)),
          pair_contact_(design.pair_contact()),
          wall_contact_(design.wall_contact()),
          pair_law_(pair_contact_.law<double>()),
          wall_law_(wall_contact_.law<double>()),
          acceleration_(balls.size(), Vector3{}) {
        for (std::size_t id = 0; id < balls.size(); ++id) largest_ = std::max(largest_, radius(id));
        add_pairs();
        add_walls();
    }

    [[nodiscard]] const std::vector<Vector3>& acceleration() const { return acceleration_; }
    [[nodiscard]] std::size_t pair_contacts() const { return pair_contacts_; }
    [[nodiscard]] std::size_t wall_contacts() const { return wall_contacts_; }
    [[nodiscard]] double largest() const { return largest_acceleration_; }
    /// By how much a force changes with the overlap, at most [force/length].
    [[nodiscard]] double steepest() const { return steepest_; }

private:
    [[nodiscard]] double radius(std::size_t id) const { return balls_.species_of(id).radius; }
    [[nodiscard]] double inverse_mass(std::size_t id) const { return 1.0 / balls_.species_of(id).mass; }

    void add_pairs() {
        std::vector<std::size_t> order;
        for (std::size_t id = 0; id < balls_.size(); ++id) {
            if (balls_.gone[id] == 0) order.push_back(id);
        }
        const std::vector<double>& x = balls_.position[0];
        std::ranges::sort(order, {}, [&x](std::size_t id) { return x[id]; });
        const double reach = 2.0 * largest_;
        const double period = scene_.box.periodic(0) ? scene_.box.size[0] : std::numeric_limits<double>::infinity();
        for (std::size_t a = 0; a < order.size(); ++a) {
            for (std::size_t b = a + 1; b < order.size() && x[order[b]] - x[order[a]] < reach; ++b) {
                add_pair(order[a], order[b]);
            }
            // Across the periodic face: those at the other end of the order.
            for (std::size_t b = order.size(); b-- > a + 1;) {
                if (!(x[order[a]] + period - x[order[b]] < reach)) break;
                add_pair(order[a], order[b]);
            }
        }
    }

    void add_pair(std::size_t i, std::size_t j) {
        Vector3 separation{};
        double squared = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            double d = balls_.position[axis][j] - balls_.position[axis][i];
            if (scene_.box.periodic(static_cast<int>(axis))) {
                d -= std::rint(d / scene_.box.size[axis]) * scene_.box.size[axis];
            }
            separation[axis] = d;
            squared += d * d;
        }
        const double reach = radius(i) + radius(j);
        const double padded = std::sqrt(squared) + scene_.spring.distance_epsilon;
        const double overlap = reach - padded;
        if (!(overlap > 0.0) || !(padded > 0.0) || !(inverse_mass(i) + inverse_mass(j) > 0.0)) return;
        double closing = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            closing -= (balls_.velocity[axis][j] - balls_.velocity[axis][i]) * separation[axis] / padded;
        }
        const double m_e = reduced_mass(inverse_mass(i), inverse_mass(j));
        const double force = pair_law_.force(overlap, closing, m_e);
        steepest_ = std::max(steepest_, pair_contact_.slope(overlap, closing, m_e));
        ++pair_contacts_;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            const double part = force * separation[axis] / padded;
            acceleration_[i][axis] -= part * inverse_mass(i);
            acceleration_[j][axis] += part * inverse_mass(j);
        }
        largest_acceleration_ = std::max(largest_acceleration_, force * std::max(inverse_mass(i), inverse_mass(j)));
    }

    void add_walls() {
        for (const Boundary<3>& wall : all_walls(scene_)) {
            for (std::size_t id = 0; id < balls_.size(); ++id) {
                if (balls_.gone[id] == 0 && inverse_mass(id) > 0.0) add_wall(wall, id);
            }
        }
    }

    void add_wall(const Boundary<3>& wall, std::size_t id) {
        Vector3 point{};
        for (std::size_t axis = 0; axis < dimension_; ++axis) point[axis] = balls_.position[axis][id];
        const WallGap<3> gap = wall_gap(wall, point);
        const double overlap = radius(id) - gap.distance;
        if (!(overlap > 0.0)) return;
        const Vector3 normal{gap.normal[0], gap.normal[1], gap.normal[2]};
        double closing = 0.0;
        for (std::size_t axis = 0; axis < dimension_; ++axis) closing -= balls_.velocity[axis][id] * normal[axis];
        const double m_e = reduced_mass(inverse_mass(id), 0.0);
        const double force = wall_law_.force(overlap, closing, m_e);
        steepest_ = std::max(steepest_, wall_contact_.slope(overlap, closing, m_e));
        ++wall_contacts_;
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            acceleration_[id][axis] += force * normal[axis] * inverse_mass(id);
        }
        largest_acceleration_ = std::max(largest_acceleration_, force * inverse_mass(id));
    }

    const Scene& scene_;
    const Balls& balls_;
    std::size_t dimension_;
    SoftContact pair_contact_;
    SoftContact wall_contact_;
    ContactLaw<double> pair_law_;
    ContactLaw<double> wall_law_;
    double largest_ = 0.0;
    std::vector<Vector3> acceleration_;  // [length/time^2]
    std::size_t pair_contacts_ = 0;
    std::size_t wall_contacts_ = 0;
    double largest_acceleration_ = 0.0;
    double steepest_ = 0.0;
};

}  // namespace

void audit_step(Solver& solver, const Scene& scene, const SpringDesign& design, const CompareContext& context,
                ForceAudit& audit) {
    SolverState before;
    SolverState after;
    solver.save(before);
    context.advance(solver, static_cast<double>(before.step + 1) * design.dt);
    solver.save(after);
    const LawForces law(scene, design, before.balls);
    audit.pair_contacts += law.pair_contacts();
    audit.wall_contacts += law.wall_contacts();
    if (!(law.largest() > 0.0)) return;
    const auto dimension = static_cast<std::size_t>(before.balls.dimension);
    double fastest = 0.0;
    for (std::size_t id = 0; id < before.balls.size(); ++id) {
        if (before.balls.gone[id] != 0 || after.balls.gone[id] != 0) continue;
        const bool mobile = !std::isinf(before.balls.species_of(id).mass);
        for (std::size_t axis = 0; axis < dimension; ++axis) {
            fastest = std::max(fastest, std::abs(after.balls.velocity[axis][id]));
            const double gained = after.balls.velocity[axis][id] - before.balls.velocity[axis][id];
            const double expected =
                (law.acceleration()[id][axis] + (mobile ? scene.physics.gravity[axis] : 0.0)) * design.dt;
            const double off = std::abs(gained - expected) / (law.largest() * design.dt);
            // Not a number counts as the worst.
            if (off <= audit.worst) continue;
            audit.worst = std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
            audit.worst_ball = id;
        }
    }
    // A step rounds a velocity and, in the overlap, the two positions; a few of each.
    constexpr double kRoundings = 16.0;
    constexpr double kEpsilon = 2.2e-16;
    double far = 0.0;  // from the origin, or across a periodic face
    for (std::size_t axis = 0; axis < dimension; ++axis) {
        far = std::max(far, scene.box.size[axis] + std::abs(scene.box.min[axis]));
        for (const double at : before.balls.position[axis]) far = std::max(far, std::abs(at));
    }
    double lightest = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < before.balls.size(); ++id) {
        lightest = std::min(lightest, before.balls.species_of(id).mass);
    }
    audit.rounding =
        std::max(audit.rounding,
                 kRoundings * kEpsilon * (fastest / design.dt + law.steepest() * far / lightest) / law.largest());
}

}  // namespace carom
