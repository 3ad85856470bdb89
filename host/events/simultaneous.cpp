#include "host/events/simultaneous.hpp"

#include <algorithm>
#include <cmath>

#include "host/events/least_squares.hpp"

namespace carom {

namespace {

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

template ClusterOutcome resolve_cluster<2>(Cluster<2>&, SimultaneousLaw, double);
template ClusterOutcome resolve_cluster<3>(Cluster<3>&, SimultaneousLaw, double);

}  // namespace carom
