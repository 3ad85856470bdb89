#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/events_scene.hpp"

namespace carom::test {

/// The slowest event-driven simulation there is: after every event, all pairs in all images and all walls are tried
/// again. Frictionless, with gravity or without; box walls and periodic sides. What the engine is compared with.
inline std::vector<LoggedImpact> naive_events(const EventsScene& scene, double until) {
    const int dim = scene.dimension();
    const Balls& balls = scene.state.balls;
    const std::size_t n = balls.size();
    const Box& box = scene.setup.box;
    std::vector<Vector3> x(n), v(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (int a = 0; a < dim; ++a) {
            x[i][a] = balls.position[a][i] - box.min[a];
            v[i][a] = balls.velocity[a][i];
        }
    }
    const auto radius = [&](std::size_t i) { return balls.species_of(i).radius; };
    const auto inverse = [&](std::size_t i) { return 1.0 / balls.species_of(i).mass; };
    std::vector<LoggedImpact> log;
    double now = 0.0;
    for (;;) {
        double best = until - now;
        std::size_t bi = 0, bj = 0;
        int wall = -1;
        bool found = false;
        Vector3 normal{};
        for (std::size_t i = 0; i < n; ++i) {
            for (int a = 0; a < dim; ++a) {
                if (box.periodic(a)) continue;
                for (int side = 0; side < 2; ++side) {
                    const double sign = side == 0 ? 1.0 : -1.0;
                    const double h = std::max(0.0, (side == 0 ? x[i][a] : box.size[a] - x[i][a]) - radius(i));
                    const double speed = sign * v[i][a];
                    const double g = sign * scene.setup.gravity[a];
                    double t = 1e300;
                    const double d = speed * speed - 2.0 * g * h;
                    if (g < 0.0) t = (speed + std::sqrt(d)) / -g;
                    if (g == 0.0 && speed < 0.0) t = -h / speed;
                    if (g > 0.0 && speed < 0.0 && d > 0.0) t = 2.0 * h / (std::sqrt(d) - speed);
                    if (t < best) {
                        best = t, bi = i, wall = 2 * a + side, found = true;
                    }
                }
            }
            for (std::size_t j = i + 1; j < n; ++j) {
                for (int image = 0; image < (dim == 2 ? 25 : 125); ++image) {
                    const int step[3] = {image % 5 - 2, image / 5 % 5 - 2, image / 25 - 2};
                    Vector3 d{};
                    double b = 0, c = 0, v2 = 0;
                    bool allowed = true;
                    for (int a = 0; a < dim; ++a) {
                        if (step[a] != 0 && !box.periodic(a)) allowed = false;
                        d[a] = x[j][a] + step[a] * box.size[a] - x[i][a];
                        const double w = v[j][a] - v[i][a];
                        b += d[a] * w, c += d[a] * d[a], v2 += w * w;
                    }
                    c -= (radius(i) + radius(j)) * (radius(i) + radius(j));
                    const double disc = b * b - v2 * c;
                    if (!allowed || b >= 0 || disc <= 0) continue;
                    const double t = std::max(0.0, c / (std::sqrt(disc) - b));
                    if (t < best) {
                        best = t, bi = i, bj = j, wall = -1, found = true;
                        for (int a = 0; a < dim; ++a) normal[a] = d[a] + t * (v[j][a] - v[i][a]);
                    }
                }
            }
        }
        if (!found) return log;
        now += best;
        for (std::size_t i = 0; i < n; ++i) {
            for (int a = 0; a < dim; ++a) {
                const double g = scene.setup.gravity[a];
                x[i][a] += best * (v[i][a] + 0.5 * best * g);
                v[i][a] += best * g;
                if (box.periodic(a)) x[i][a] -= box.size[a] * std::floor(x[i][a] / box.size[a]);
            }
        }
        LoggedImpact impact;
        impact.time = now;
        impact.i = static_cast<std::uint32_t>(bi);
        if (wall >= 0) {
            v[bi][wall / 2] *= -scene.setup.wall_restitution;
            impact.wall = true;
            impact.j = static_cast<std::uint32_t>(wall);
        } else {
            double b = 0, d2 = 0;
            for (int a = 0; a < dim; ++a) b += normal[a] * (v[bj][a] - v[bi][a]), d2 += normal[a] * normal[a];
            const double f = -(1.0 + scene.setup.restitution) * b / (d2 * (inverse(bi) + inverse(bj)));
            for (int a = 0; a < dim; ++a) {
                v[bi][a] -= f * inverse(bi) * normal[a];
                v[bj][a] += f * inverse(bj) * normal[a];
            }
            impact.j = static_cast<std::uint32_t>(bj);
            impact.velocity_j = v[bj];
        }
        impact.velocity_i = v[bi];
        log.push_back(impact);
    }
}

}  // namespace carom::test
