#pragma once

#include <cstdint>
#include <vector>

#include "kernels/physics/impulse.hpp"

// Several contacts at one instant. Contacts a = 1 ... n have normals n_a and closing speeds vn_a = J v, J the matrix
// whose row a holds -n_a at the first body and +n_a at the second; impulses p change the velocities by M^-1 J^T p, so
// closing speeds by W p, W = J M^-1 J^T (Delassus). No rigid law is the only right one; carom offers three:
//
//   sequential  the approaching contact that comes first in the order given, by the binary rule, until none approaches
//   newton      0 <= p _|_ W p + (1 + e) vn >= 0 over all contacts that do not separate (Moreau 1988), while any
//   approaches reflect     the same over the approaching contacts only, while any approaches (generalised reflections:
//   Smith,
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

extern template ClusterOutcome resolve_cluster<2>(Cluster<2>&, SimultaneousLaw, double);
extern template ClusterOutcome resolve_cluster<3>(Cluster<3>&, SimultaneousLaw, double);

}  // namespace carom
