#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/physics/impulse.hpp"

// Contacts at one instant, one or several.
//
// Several: contacts a = 1 ... n have normals n_a and closing speeds vn_a = J v, J the matrix whose row a holds -n_a at
// the first body and +n_a at the second; impulses p change the velocities by M^-1 J^T p, so closing speeds by W p,
// W = J M^-1 J^T (Delassus). No rigid law is the only right one; carom offers three:
//
//   sequential  the approaching contact that comes first in the order given, by the binary rule, until none approaches
//   newton      0 <= p _|_ W p + (1 + e) vn >= 0 over all contacts that do not separate (Moreau 1988), while any
//               approaches
//   reflect     the same over the approaching contacts only, while any approaches (generalised reflections: Smith,
//               Kaufman, Vouga, Tamstorf, Grinspun, ACM TOG 2012)
//
// The complementarity problem is the least-squares problem min_{p >= 0} |M^-1/2 J^T p + (1 + e) M^1/2 v|, solved by
// active sets (Lawson & Hanson 1974, chapter 23), which needs no regular W. Velocities after are unique even where p is
// not. Only `sequential` is defined with friction.

namespace carom {

enum class SimultaneousLaw : std::uint8_t {
    kReflect,
    kSequential,
    kNewton,
    kBilateral,  ///< W p = -(1 + e) vn on every contact, pulling ones too: for tests of published formulas only
};

/// A contact of a cluster.
template <int Dim>
struct ClusterContact {
    static constexpr int kWall = -1;

    int one;                     ///< index into Cluster::bodies
    int two;                     ///< index into Cluster::bodies, or kWall
    Vec<double, Dim> normal;     ///< unit, from one to two
    double e;                    ///< restitution
    double mu;                   ///< Coulomb's coefficient
    Vec<double, Dim> impulse{};  ///< out: on two, all rounds together
    bool hit = false;            ///< out: passed an impulse
};

/// Bodies that touch each other, and their contacts in the order of (i, j).
template <int Dim>
struct Cluster {
    std::vector<ImpactBody<Dim>> bodies;
    std::vector<ClusterContact<Dim>> contacts;

    void clear() {
        bodies.clear();
        contacts.clear();
    }
};

/// How the resolution went.
struct ClusterOutcome {
    bool gave_up = false;        ///< no end within the cap: finished with restitution 0
    double energy_change = 0.0;  ///< translation and spin
    std::uint64_t rounds = 0;
    std::uint64_t elastic = 0;  ///< impacts made elastic because slower than the cut-off speed
};

/// Speeds below this fraction of the cluster's largest closing speed count as none: rounding noise of the inputs, a few
/// hundred ulp. (A plain comparison with 0 fails on symmetric racks.)
constexpr double kClosingNoise = 1.0e-12;

/// Changes the velocities and spins of the cluster's bodies, and tells each contact what it passed.
/// \param cutoff_speed  approaches slower than this are elastic
template <int Dim>
ClusterOutcome resolve_cluster(Cluster<Dim>& cluster, SimultaneousLaw law, double cutoff_speed);

/// The same, and if contact `first`, which brought us here, has passed nothing, being slower than the cluster's noise,
/// it is resolved alone: it must not come again at once. \param first  a number beyond all contacts: none
template <int Dim>
ClusterOutcome resolve_cluster_from(Cluster<Dim>& cluster, std::size_t first, SimultaneousLaw law, double cutoff_speed);

extern template ClusterOutcome resolve_cluster<2>(Cluster<2>&, SimultaneousLaw, double);
extern template ClusterOutcome resolve_cluster<3>(Cluster<3>&, SimultaneousLaw, double);
extern template ClusterOutcome resolve_cluster_from<2>(Cluster<2>&, std::size_t, SimultaneousLaw, double);
extern template ClusterOutcome resolve_cluster_from<3>(Cluster<3>&, std::size_t, SimultaneousLaw, double);

/// Who touches whom at one instant: grown from one contact over all that touch its bodies, directly or through others.
/// Bodies are slots below `count`; walls, which join no one, count + number.
class Touches {
public:
    struct Pair {
        std::uint32_t key_one, key_two;  ///< ids, or count + number of the wall: what they are sorted by
        std::uint32_t one;               ///< slot
        std::uint32_t two;               ///< slot, or count + number
    };

    /// \param id_of       (slot)
    /// \param touched_by  (slot, add): calls add(other) for each slot or wall that this one touches
    template <class IdOf, class TouchedBy>
    void collect(std::uint32_t first, std::uint32_t partner, std::uint32_t count, const IdOf& id_of,
                 const TouchedBy& touched_by) {
        pairs_.clear();
        members_.assign(1, first);
        const auto add = [&](std::uint32_t one, std::uint32_t two) {
            if (two < count && index_of(two) == static_cast<int>(members_.size())) members_.push_back(two);
            if (two < count && id_of(two) < id_of(one)) std::swap(one, two);
            pairs_.push_back({id_of(one), two < count ? id_of(two) : two, one, two});
        };
        add(first, partner);
        for (std::size_t m = 0; m < members_.size(); ++m) {
            const std::uint32_t member = members_[m];
            touched_by(member, [&](std::uint32_t other) { add(member, other); });
        }
        std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
            return std::pair{a.key_one, a.key_two} < std::pair{b.key_one, b.key_two};
        });
        pairs_.erase(
            std::unique(pairs_.begin(), pairs_.end(),
                        [](const Pair& a, const Pair& b) { return a.key_one == b.key_one && a.key_two == b.key_two; }),
            pairs_.end());
    }

    [[nodiscard]] const std::vector<std::uint32_t>& members() const { return members_; }
    /// In the order of (i, j), walls behind balls; each once.
    [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
    /// Of a member.
    [[nodiscard]] int index_of(std::uint32_t slot) const {
        return static_cast<int>(std::find(members_.begin(), members_.end(), slot) - members_.begin());
    }

private:
    std::vector<std::uint32_t> members_;
    std::vector<Pair> pairs_;
};

/// Restitution of a contact that approaches with vn < 0: e but where the rules that avoid collapse make it elastic,
/// being slower than the cut-off speed or, as told by within_tc(), within tc of the one before.
template <class WithinTc, class Counts>
double restitution(double e, double vn, double cutoff_speed, const WithinTc& within_tc, Counts& counted) {
    if (e == 1.0) return e;
    if (within_tc()) {
        ++counted.elastic_by_tc;
        return 1.0;
    }
    if (-vn < cutoff_speed) {
        ++counted.elastic_by_cutoff;
        return 1.0;
    }
    return e;
}

/// What brings a ball that gravity holds on a wall, and whose hops have died away, to approach the wall at a sixteenth
/// of the cut-off speed, so that it hops on and time goes on; else it would collide endlessly without moving. The wall
/// gives it, once: a hop that slow is elastic. In the mean over hops the wall bears the ball's weight, and friction
/// acts as on a ball that lies. 0 for all other balls.
/// \param elastic  the wall takes nothing, so that a slow hop is one that has always been so
template <int Dim>
Vec<double, Dim> least_hop(const Vec<double, Dim>& velocity, const Vec<double, Dim>& into_box,
                           const Vec<double, Dim>& gravity, double cutoff_speed, bool elastic) {
    constexpr double kOfCutoff = 0.0625;
    const double least = kOfCutoff * cutoff_speed;
    const double vn = dot(velocity, into_box);
    // What an impact without rebound leaves is a rounding of either sign.
    constexpr double kRounding = 1.0e-3;  // of a hop
    const double slow = elastic ? kRounding * least : least;
    const bool rests = vn <= kRounding * least && -vn < slow && dot(gravity, into_box) < 0.0;
    return rests ? -(vn + least) * into_box : Vec<double, Dim>::filled(0.0);
}

}  // namespace carom
