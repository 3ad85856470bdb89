#pragma once

#include "kernels/physics/linear_spring.hpp"

namespace carom::examples {

inline constexpr Key kSeriesSpringKeys[] = {
    {.name = "stiffness",
     .type = KeyType::kNumberOrAuto,
     .bounds = kPositive,
     .fallback = "\"auto\"",
     .help = "series: of a coil [force/length]"},
    {.name = "wall_stiffness", .bounds = kPositive, .fallback = "stiffness", .help = "[force/length]"},
    {.name = "coils",
     .type = KeyType::kWhole,
     .bounds = {.min = 1.0, .max = 1000.0},
     .fallback = "required",
     .help = "series: how many"},
};

/// Equal linear springs one behind the other: n of stiffness k are one of stiffness k / n. Their number is a key of the
/// law's own.
template <class Real>
struct SeriesSpring : LinearSpring<Real> {
    using Linear = LinearSpring<Real>;
    static constexpr Kind kKind{"series", kSeriesSpringKeys, "linear springs one behind the other"};
    static constexpr std::string_view kForceOfStiffness = "stiffness times diameter over coils";

    static double coils(const ContactTerms& terms) { return terms.own.number("coils"); }
    static ContactTerms as_one(ContactTerms terms) {
        terms.stiffness /= coils(terms);
        return terms;
    }

    static SeriesSpring make(const ContactTerms& terms) { return {Linear::make(as_one(terms))}; }
    static double stiffness_for(const ContactTerms& terms, double overlap, double speed, double m_e) {
        return coils(terms) * Linear::stiffness_for(terms, overlap, speed, m_e);
    }
    static double largest_overlap(const ContactTerms& terms, double speed, double m_e) {
        return Linear::largest_overlap(as_one(terms), speed, m_e);
    }
    static double duration(const ContactTerms& terms, double speed, double m_e) {
        return Linear::duration(as_one(terms), speed, m_e);
    }
    static double slope(const ContactTerms& terms, double overlap, double overlap_rate, double m_e) {
        return Linear::slope(as_one(terms), overlap, overlap_rate, m_e);
    }
    static double strongest_force(const ContactTerms& terms, double overlap, double speed, double m_e) {
        return Linear::strongest_force(as_one(terms), overlap, speed, m_e);
    }
    static double soft_diameter_loss(const ContactTerms& terms, double temperature) {
        return Linear::soft_diameter_loss(as_one(terms), temperature);
    }
};

}  // namespace carom::examples
