#pragma once

#include <cmath>

namespace carom {

/// Whether one time is nearer to the wanted one than another; of times that are equally far to the precision of
/// numbers, as from one that is far away, the one on its side.
inline bool is_nearer(double time, double than, double wanted) {
    const double off = std::abs(time - wanted);
    const double other = std::abs(than - wanted);
    if (off != other) return off < other;
    return (wanted > time && time > than) || (wanted < time && time < than);
}

}  // namespace carom
