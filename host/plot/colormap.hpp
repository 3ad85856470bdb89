#pragma once

#include "host/plot/image.hpp"

namespace carom {

/// Viridis, a colour map in which equal steps look equal, also to the colour-blind (S. van der Walt and N. Smith 2015).
/// \param t  0 (dark blue) to 1 (yellow); clamped
Color viridis(float t);

}  // namespace carom
