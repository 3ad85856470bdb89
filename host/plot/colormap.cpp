#include "host/plot/colormap.hpp"

#include <algorithm>

namespace carom {

Color viridis(float t) {
    // Polynomial of degree 6 in t through matplotlib's table, per channel; off by 1 % at most.
    static constexpr std::array<Color, 7> kCoefficients{{
        {0.27772733f, 0.00540734f, 0.33409981f},
        {0.10509304f, 1.40461353f, 1.38459016f},
        {-0.33086183f, 0.21484756f, 0.09509516f},
        {-4.63423050f, -5.79910097f, -19.33244096f},
        {6.22826994f, 14.17993337f, 56.69055260f},
        {4.77638500f, -13.74514538f, -65.35303263f},
        {-5.43545586f, 4.64585261f, 26.31243525f},
    }};
    t = std::clamp(t, 0.0f, 1.0f);
    Color color{};
    for (std::size_t power = kCoefficients.size(); power-- > 0;) {
        for (std::size_t k = 0; k < 3; ++k) color[k] = color[k] * t + kCoefficients[power][k];
    }
    for (float& channel : color) channel = std::clamp(channel, 0.0f, 1.0f);
    return color;
}

}  // namespace carom
