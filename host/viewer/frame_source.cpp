#include "host/viewer/frame_source.hpp"

#include <fmt/format.h>

#include "host/state/errors.hpp"

namespace carom {

void check_frame_count(const std::string& key, double count) {
    constexpr double kMost = 1e6;
    if (count <= kMost) return;
    throw InputError(fmt::format("{}: makes {:.3g} frames; allowed: up to {:.0f}", key, count, kMost));
}

}  // namespace carom
