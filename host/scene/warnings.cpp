#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/scene/contacts.hpp"
#include "host/scene/design.hpp"

namespace carom {
namespace {

constexpr double kQuantaPerStep = 100.0;  // fewer, and rounding of positions heats or stops the slow balls
constexpr double kWideRatio = 4.0;        // cells hold the largest ball, so each holds very many of the smallest
constexpr double kWidestRatio = 10.0;     // beyond this the search for neighbours is not tested
constexpr double kFewestSteps = 10.0;     // a contact
constexpr double kStable = 2.0;           // w_max dt
constexpr double kMostRadii = 0.1;        // of the smallest radius a step

/// The largest share of the smaller radius that two balls of the scene overlap by when each has the design speed.
double overlap_at_design_speed(const Balls& balls, const SpringDesign& design) {
    double worst = 0.0;
    for (const PossibleContact& contact : extreme_contacts(present_species(balls), false, design.design_speed)) {
        worst = std::max(worst, design.pair_contact().largest_overlap(contact.approach, contact.reduced_mass) /
                                    contact.smaller_radius);
    }
    return worst;
}

}  // namespace

std::vector<std::string> design_warnings(const Scene& scene, const Balls& balls, const SpringDesign& design,
                                         double quantum) {
    std::vector<std::string> warnings;
    if (balls.size() == 0) return warnings;
    double smallest = balls.species_of(0).radius;
    for (std::size_t id = 0; id < balls.size(); ++id) smallest = std::min(smallest, balls.species_of(id).radius);

    if (design.phase_step >= kStable) {
        warnings.push_back(fmt::format("dt = {:.3g} is unstable: the stiffest contact needs less than {:.3g}",
                                       design.dt, kStable * design.dt / design.phase_step));
    } else if (design.contact_duration > 0.0 && design.dt > design.contact_duration / kFewestSteps) {
        warnings.push_back(fmt::format(
            "dt = {:.3g} is more than a tenth of the shortest contact ({:.3g}); spring.dt = {:.3g} would resolve it",
            design.dt, design.contact_duration, design.contact_duration / 50.0));
    }
    if (design.design_speed * design.dt > 1.001 * kMostRadii * smallest) {
        warnings.push_back(
            fmt::format("a ball at the design speed ({:.3g}) moves {:.2g} of the smallest radius in a step; contacts "
                        "may be missed above 0.1",
                        design.design_speed, design.design_speed * design.dt / smallest));
    }
    if (const double overlap = overlap_at_design_speed(balls, design);
        scene.spring.stiffness && overlap > 1.001 * scene.spring.max_overlap) {
        warnings.push_back(
            fmt::format("overlaps may reach {:.2g} of the radius at the design speed ({:.3g}), above "
                        "spring.max_overlap = {}; stiffness = \"auto\" would avoid that",
                        overlap, design.design_speed, scene.spring.max_overlap));
    }
    if (quantum > 0.0 && design.rms_speed > 0.0 && design.rms_speed * design.dt < kQuantaPerStep * quantum) {
        warnings.push_back(
            fmt::format("a ball at the mean speed moves {:.3g} quanta of position in a step, under {}; use --precision "
                        "double or a larger dt",
                        design.rms_speed * design.dt / quantum, kQuantaPerStep));
    }
    if (design.size_ratio > kWidestRatio) {
        warnings.push_back(fmt::format(
            "the largest ball is {:.3g} times the smallest, above {}; the search for neighbours will be very slow",
            design.size_ratio, kWidestRatio));
    } else if (design.size_ratio > kWideRatio) {
        warnings.push_back(
            fmt::format("the largest ball is {:.3g} times the smallest; the search for neighbours will be slow",
                        design.size_ratio));
    }
    if (scene.spring.damping && (scene.physics.restitution < 1.0 || scene.physics.wall_restitution < 1.0)) {
        warnings.push_back("spring.damping is a number, so physics.restitution is not used");
    }
    return warnings;
}

}  // namespace carom
