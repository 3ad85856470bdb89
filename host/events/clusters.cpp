#include "host/events/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace carom {

namespace {

/// A small symmetric positive semidefinite matrix W = A^T A, row by row.
struct Gram {
    std::size_t size = 0;
    std::vector<double> entries;

    explicit Gram(std::size_t n) : size(n), entries(n * n, 0.0) {}
    double& at(std::size_t row, std::size_t column) { return entries[row * size + column]; }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const { return entries[row * size + column]; }
};

/// A pivot below this fraction of its diagonal entry means that the row depends on those before: the square of the
/// 1e-6 to which independent directions of contacts in a packing are told apart.
constexpr double kDependentPivot = 1.0e-12;
/// A violation below this fraction of the largest |q| is rounding: the acceptance is 1e-12.
constexpr double kViolation = 1.0e-13;

/// Cholesky factor of W on a set, largest pivot first, without the rows that depend on others.
class Factor {
public:
    Factor(const Gram& w, const std::vector<std::size_t>& set) : rows_(set) {
        const std::size_t n = rows_.size();
        lower_.assign(n * n, 0.0);
        std::vector<double> left(n);
        for (std::size_t k = 0; k < n; ++k) left[k] = w.at(rows_[k], rows_[k]);
        for (; rank_ < n; ++rank_) {
            std::size_t best = rank_;
            for (std::size_t k = rank_ + 1; k < n; ++k) {
                if (left[k] > left[best]) best = k;
            }
            if (!(left[best] > kDependentPivot * w.at(rows_[best], rows_[best]))) break;
            std::swap(rows_[best], rows_[rank_]);
            std::swap(left[best], left[rank_]);
            for (std::size_t c = 0; c < rank_; ++c) std::swap(lower_[best * n + c], lower_[rank_ * n + c]);
            const double pivot = std::sqrt(left[rank_]);
            lower_[rank_ * n + rank_] = pivot;
            for (std::size_t k = rank_ + 1; k < n; ++k) {
                double sum = w.at(rows_[k], rows_[rank_]);
                for (std::size_t c = 0; c < rank_; ++c) sum -= lower_[k * n + c] * lower_[rank_ * n + c];
                lower_[k * n + rank_] = sum / pivot;
                left[k] -= lower_[k * n + rank_] * lower_[k * n + rank_];
            }
        }
    }

    /// Adds to p the solution for the right-hand side.
    void add_solution(const std::vector<double>& right, std::vector<double>& p) const {
        const std::size_t n = rows_.size();
        std::vector<double> x(rank_);
        for (std::size_t k = 0; k < rank_; ++k) {
            x[k] = right[rows_[k]];
            for (std::size_t c = 0; c < k; ++c) x[k] -= lower_[k * n + c] * x[c];
            x[k] /= lower_[k * n + k];
        }
        for (std::size_t k = rank_; k-- > 0;) {
            for (std::size_t c = k + 1; c < rank_; ++c) x[k] -= lower_[c * n + k] * x[c];
            x[k] /= lower_[k * n + k];
            p[rows_[k]] += x[k];
        }
    }

private:
    std::vector<std::size_t> rows_;
    std::vector<double> lower_;
    std::size_t rank_ = 0;
};

std::vector<double> residual(const Gram& w, const std::vector<double>& q, const std::vector<double>& p) {
    std::vector<double> result(w.size);
    for (std::size_t row = 0; row < w.size; ++row) {
        double sum = q[row];
        for (std::size_t column = 0; column < w.size; ++column) {
            if (p[column] != 0.0) sum += w.at(row, column) * p[column];
        }
        result[row] = -sum;
    }
    return result;
}

/// A solution p of W p = -q restricted to the rows and columns in `set` (p is 0 elsewhere); rows that depend on others
/// are left out, which changes nothing where q is in the range of W.
std::vector<double> solve_on_set(const Gram& w, const std::vector<double>& q, const std::vector<std::size_t>& set) {
    std::vector<double> p(w.size, 0.0);
    const Factor factor(w, set);
    std::vector<double> right(w.size, 0.0);  // the residual, where it is asked for
    // The second and third round take away the factorisation's own error.
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t row : set) {
            double sum = q[row];
            for (const std::size_t column : set) sum += w.at(row, column) * p[column];
            right[row] = -sum;
        }
        factor.add_solution(right, p);
    }
    return p;
}

/// p >= 0 with W p + q >= 0 and p . (W p + q) = 0, by active sets (Lawson & Hanson 1974, chapter 23).
std::vector<double> solve_complementarity(const Gram& w, const std::vector<double>& q) {
    const std::size_t n = w.size;
    std::vector<double> p(n, 0.0);
    std::vector<bool> passive(n, false);
    std::vector<bool> refused(n, false);
    double largest = 0.0;
    for (double value : q) largest = std::max(largest, std::abs(value));
    for (std::size_t round = 0; round < 10 * n + 10; ++round) {
        const std::vector<double> violation = residual(w, q, p);
        std::size_t enter = n;
        for (std::size_t k = 0; k < n; ++k) {
            if (passive[k] || refused[k] || violation[k] <= kViolation * largest) continue;
            if (enter == n || violation[k] > violation[enter]) enter = k;
        }
        if (enter == n) break;
        passive[enter] = true;
        for (bool first = true;; first = false) {
            std::vector<std::size_t> set;
            for (std::size_t k = 0; k < n; ++k) {
                if (passive[k]) set.push_back(k);
            }
            const std::vector<double> full = solve_on_set(w, q, set);
            if (first && full[enter] <= 0.0) {  // only rounding let it in
                passive[enter] = false;
                refused[enter] = true;
                break;
            }
            double step = 1.0;
            for (std::size_t k : set) {
                if (full[k] <= 0.0 && p[k] - full[k] > 0.0) step = std::min(step, p[k] / (p[k] - full[k]));
            }
            bool inside = true;
            for (std::size_t k : set) {
                if (full[k] > 0.0) continue;
                inside = false;
            }
            if (inside) {
                p = full;
                std::fill(refused.begin(), refused.end(), false);
                break;
            }
            for (std::size_t k : set) {
                p[k] += step * (full[k] - p[k]);
                if (full[k] <= 0.0 && p[k] <= 1.0e-15 * std::abs(full[k])) {
                    p[k] = 0.0;
                    passive[k] = false;
                }
            }
        }
    }
    return p;
}

constexpr std::uint64_t kMostRounds = 1000;     // of reflect and newton
constexpr std::uint64_t kMostImpacts = 100000;  // of sequential

template <int Dim>
class Resolution {
public:
    Resolution(Cluster<Dim>& cluster, double cutoff_speed)
        : bodies_(cluster.bodies), contacts_(cluster.contacts), cutoff_speed_(cutoff_speed) {
        double largest = 0.0;
        for (const auto& contact : contacts_) largest = std::max(largest, std::abs(closing(contact)));
        noise_ = kClosingNoise * largest;
    }

    ClusterOutcome run(SimultaneousLaw law) {
        switch (law) {
            case SimultaneousLaw::kSequential:
                sequential();
                break;
            case SimultaneousLaw::kBilateral:
                bilateral();
                break;
            case SimultaneousLaw::kReflect:
                rounds(-noise_);
                break;
            case SimultaneousLaw::kNewton:
                rounds(noise_);
                break;
        }
        return outcome_;
    }

private:
    using Contact = ClusterContact<Dim>;

    [[nodiscard]] ImpactBody<Dim> second(const Contact& contact) const {
        if (contact.two >= 0) return bodies_[contact.two];
        return {Vec<double, Dim>::filled(0.0), Spin<Dim>::filled(0.0), 0.0, 0.0, 0.0};
    }

    /// Relative speed along the normal, negative while the two approach.
    [[nodiscard]] double closing(const Contact& contact) const {
        const Vec<double, Dim>& one = bodies_[contact.one].velocity;
        return contact.two >= 0 ? dot(bodies_[contact.two].velocity - one, contact.normal) : -dot(one, contact.normal);
    }

    double restitution(const Contact& contact, double vn) {
        if (contact.e < 1.0 && vn < 0.0 && -vn < cutoff_speed_) {
            ++outcome_.elastic;
            return 1.0;
        }
        return contact.e;
    }

    void pass(Contact& contact, const Impact<Dim>& hit) {
        ImpactBody<Dim> two = second(contact);
        outcome_.energy_change += impact_energy_change(bodies_[contact.one], two, contact.normal, hit);
        apply_impact(bodies_[contact.one], two, contact.normal, hit);
        if (contact.two >= 0) bodies_[contact.two] = two;
        contact.impulse = contact.impulse + (hit.normal * contact.normal + hit.tangential);
        contact.hit = true;
    }

    [[nodiscard]] bool movable(const Contact& contact) const {
        return bodies_[contact.one].inverse_mass + (contact.two >= 0 ? bodies_[contact.two].inverse_mass : 0.0) > 0.0;
    }

    void sequential() {
        while (outcome_.rounds < kMostImpacts) {
            auto next = std::find_if(contacts_.begin(), contacts_.end(), [&](const Contact& contact) {
                return closing(contact) < -noise_ && movable(contact);
            });
            if (next == contacts_.end()) return;
            ++outcome_.rounds;
            pass(*next,
                 impact(bodies_[next->one], second(*next), next->normal, restitution(*next, closing(*next)), next->mu));
        }
        give_up();
    }

    /// Reflect and newton: complementarity over the contacts with closing speed below `most`, while any approaches.
    void rounds(double most) {
        for (; outcome_.rounds < kMostRounds; ++outcome_.rounds) {
            std::vector<std::size_t> members;
            bool approaching = false;
            for (std::size_t a = 0; a < contacts_.size(); ++a) {
                if (!movable(contacts_[a])) continue;
                const double vn = closing(contacts_[a]);
                approaching = approaching || vn < -noise_;
                if (vn < most || (most > 0.0 && vn <= most)) members.push_back(a);
            }
            if (!approaching) return;
            together(members, true, false);
        }
        give_up();
    }

    void give_up() {
        outcome_.gave_up = true;
        std::vector<std::size_t> members;
        for (std::size_t a = 0; a < contacts_.size(); ++a) {
            if (movable(contacts_[a])) members.push_back(a);
        }
        together(members, true, true);
    }

    void bilateral() {
        std::vector<std::size_t> members(contacts_.size());
        for (std::size_t a = 0; a < members.size(); ++a) members[a] = a;
        together(members, false, false);
    }

    /// One solution over the contacts `members`.
    void together(const std::vector<std::size_t>& members, bool pushing_only, bool plastic) {
        const std::size_t n = members.size();
        Gram w(n);
        std::vector<double> q(n);
        for (std::size_t a = 0; a < n; ++a) {
            const Contact& first = contacts_[members[a]];
            for (std::size_t b = a; b < n; ++b) w.at(a, b) = w.at(b, a) = coupling(first, contacts_[members[b]]);
            const double vn = closing(first);
            q[a] = plastic ? vn : (1.0 + restitution(first, vn)) * vn;
        }
        std::vector<double> p;
        if (pushing_only) {
            p = solve_complementarity(w, q);
        } else {
            std::vector<std::size_t> all(n);
            for (std::size_t a = 0; a < n; ++a) all[a] = a;
            p = solve_on_set(w, q, all);
        }
        for (std::size_t a = 0; a < n; ++a) {
            if (p[a] != 0.0) pass(contacts_[members[a]], {p[a], Vec<double, Dim>::filled(0.0)});
        }
    }

    /// W_ab: how an impulse along contact b changes the closing speed of a.
    [[nodiscard]] double coupling(const Contact& a, const Contact& b) const {
        const double cosine = dot(a.normal, b.normal);
        double sum = 0.0;
        if (a.one == b.one) sum += bodies_[a.one].inverse_mass * cosine;
        if (a.two >= 0 && a.two == b.two) sum += bodies_[a.two].inverse_mass * cosine;
        if (a.one == b.two) sum -= bodies_[a.one].inverse_mass * cosine;
        if (a.two >= 0 && a.two == b.one) sum -= bodies_[a.two].inverse_mass * cosine;
        return sum;
    }

    std::vector<ImpactBody<Dim>>& bodies_;
    std::vector<Contact>& contacts_;
    double cutoff_speed_;
    double noise_ = 0.0;
    ClusterOutcome outcome_;
};

}  // namespace

template <int Dim>
ClusterOutcome resolve_cluster(Cluster<Dim>& cluster, SimultaneousLaw law, double cutoff_speed) {
    return Resolution<Dim>(cluster, cutoff_speed).run(law);
}

template <int Dim>
ClusterOutcome resolve_cluster_from(Cluster<Dim>& cluster, std::size_t first, SimultaneousLaw law,
                                    double cutoff_speed) {
    const ClusterOutcome outcome = resolve_cluster(cluster, law, cutoff_speed);
    if (first >= cluster.contacts.size() || cluster.contacts[first].hit) return outcome;
    Cluster<Dim> alone;
    alone.bodies = cluster.bodies;
    alone.contacts.push_back(cluster.contacts[first]);
    resolve_cluster(alone, SimultaneousLaw::kSequential, cutoff_speed);
    cluster.bodies = alone.bodies;
    cluster.contacts[first] = alone.contacts[0];
    return outcome;
}

template ClusterOutcome resolve_cluster<2>(Cluster<2>&, SimultaneousLaw, double);
template ClusterOutcome resolve_cluster<3>(Cluster<3>&, SimultaneousLaw, double);
template ClusterOutcome resolve_cluster_from<2>(Cluster<2>&, std::size_t, SimultaneousLaw, double);
template ClusterOutcome resolve_cluster_from<3>(Cluster<3>&, std::size_t, SimultaneousLaw, double);

}  // namespace carom
