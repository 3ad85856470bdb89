#pragma once

// What counts as touching, and as equal, where rounding alone decides.

namespace carom {

/// Two surfaces closer than this fraction of the sum of the radii (of a ball and a wall: of the radius) touch. Places
/// are rounded to eps = 1.1e-16 of the box, which may be some 10^5 diameters wide, and read from decimals that somebody
/// has worked out: together below 1e-10 of a diameter. Ten times that is crossed in no time that matters.
constexpr double kTouching = 1.0e-9;
/// Centres nearer than this share of the smaller radius are as good as through each other: a spring run ends there.
constexpr double kDeepest = 0.5;
/// Share of the box by which a length worked out by hand may miss another one: rounding of both, some 10^4 eps.
constexpr double kLengthSlack = 1.0e-12;

}  // namespace carom
