#include "host/scene/contacts.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/physics/restitution.hpp"

namespace carom {
namespace {

/// The contact of the two lightest balls of finite mass, which has the smallest reduced mass and so the shortest
/// duration.
void add_lightest_pair(const std::vector<const PresentSpecies*>& mobile, double design_speed,
                       std::vector<PossibleContact>& contacts) {
    std::vector<const PresentSpecies*> lightest = mobile;
    const std::size_t enough = std::min<std::size_t>(2, lightest.size());
    std::ranges::partial_sort(lightest, lightest.begin() + static_cast<std::ptrdiff_t>(enough), {},
                              &PresentSpecies::mass);
    if (lightest.empty()) return;
    const PresentSpecies& a = *lightest[0];
    if (a.count < 2 && lightest.size() < 2) return;
    const PresentSpecies& b = a.count < 2 ? *lightest[1] : a;
    contacts.push_back(
        {reduced_mass(1.0 / a.mass, 1.0 / b.mass), std::min(a.radius, b.radius), 2.0 * design_speed, false});
}

}  // namespace

bool PresentSpecies::mobile() const { return !std::isinf(mass); }

std::vector<PresentSpecies> present_species(const Balls& balls) {
    std::vector<PresentSpecies> all(balls.species_table.size());
    std::vector<double> square(all.size(), 0.0);
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const std::size_t species = balls.species[id];
        double speed_square = 0.0;
        for (int axis = 0; axis < balls.dimension; ++axis) {
            speed_square += balls.velocity[axis][id] * balls.velocity[axis][id];
        }
        square[species] = std::max(square[species], speed_square);
        ++all[species].count;
    }
    for (std::size_t index = 0; index < all.size(); ++index) {
        all[index].radius = balls.species_table[index].radius;
        all[index].mass = balls.species_table[index].mass;
        all[index].fastest = std::sqrt(square[index]);
    }
    std::erase_if(all, [](const PresentSpecies& species) { return species.count == 0; });
    return all;
}

std::vector<PossibleContact> extreme_contacts(const std::vector<PresentSpecies>& species, bool walls,
                                              double design_speed) {
    std::vector<PossibleContact> contacts;
    std::vector<const PresentSpecies*> mobile;
    std::vector<const PresentSpecies*> by_radius;
    for (const PresentSpecies& one : species) {
        by_radius.push_back(&one);
        if (!one.mobile()) continue;
        mobile.push_back(&one);
        if (walls) contacts.push_back({one.mass, one.radius, design_speed, true});
    }
    add_lightest_pair(mobile, design_speed, contacts);

    // From the largest radius down each species has the smaller radius of all its pairs with those before it. Of these
    // the heaviest mobile one and the fastest of the others matter; every quantity grows with each of them.
    std::ranges::sort(by_radius, std::ranges::greater{}, &PresentSpecies::radius);
    const PresentSpecies* heaviest = nullptr;
    const PresentSpecies* fastest_fixed = nullptr;
    for (const PresentSpecies* one : by_radius) {
        const bool moves = one->mobile();
        if (moves && one->count > 1 && (heaviest == nullptr || one->mass > heaviest->mass)) heaviest = one;
        if (heaviest != nullptr) {
            const double speed = design_speed + (moves ? design_speed : one->fastest);
            contacts.push_back({reduced_mass(1.0 / one->mass, 1.0 / heaviest->mass), one->radius, speed, false});
        }
        if (moves && fastest_fixed != nullptr) {
            const double reduced = reduced_mass(1.0 / one->mass, 1.0 / fastest_fixed->mass);
            contacts.push_back({reduced, one->radius, design_speed + fastest_fixed->fastest, false});
        }
        if (moves && (heaviest == nullptr || one->mass > heaviest->mass)) heaviest = one;
        if (!moves && (fastest_fixed == nullptr || one->fastest > fastest_fixed->fastest)) fastest_fixed = one;
    }
    return contacts;
}

}  // namespace carom
