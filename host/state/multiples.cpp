#include "host/state/multiples.hpp"

#include <cmath>

namespace carom {

Multiples::Multiples(double every) : every_(every) {
    constexpr double kMostDigits = 1e9;  // of which doubles hold millions of multiples
    constexpr double kMostScale = 1e15;
    for (double scale = 1.0; scale <= kMostScale; scale *= 10.0) {
        const double digits = std::round(every * scale);
        if (digits > kMostDigits) return;
        if (digits < 1.0 || digits / scale != every) continue;
        digits_ = digits;
        scale_ = scale;
        return;
    }
}

double Multiples::operator()(double count) const {
    constexpr double kExact = 9e15;  // below 2^53: then one division is all that is rounded
    return digits_ > 0.0 && count * digits_ < kExact ? count * digits_ / scale_ : count * every_;
}

}  // namespace carom
