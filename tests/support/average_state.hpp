#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "host/observables/averager.hpp"
#include "host/observables/frame_sampler.hpp"

namespace carom::test {

/// A small state and what makes averages of it.
struct AverageState {
    Box box;
    Frame frame;
    std::shared_ptr<Population> population = std::make_shared<Population>();

    /// Balls of species "a" (mass 1) and "b" (mass 3) in turns, anywhere in the box, velocities Gaussian.
    AverageState(int dimension, std::size_t count, Face face, unsigned seed) {
        box.dimension = dimension;
        box.min = {-1.0, 2.0, dimension == 3 ? 0.5 : 0.0};
        box.size = {10.0, 7.0, dimension == 3 ? 8.0 : 0.0};
        for (auto& faces : box.faces) faces = {face, face};
        population->table = {{"a", 0.1, 1.0, 0.05, ""}, {"b", 0.2, 3.0, 0.05, ""}, {"wall", 1.0, INFINITY, 0.5, ""}};
        frame.resize(dimension, count);
        for (std::size_t id = 0; id < count; ++id) population->species.push_back(static_cast<std::uint32_t>(id % 2));
        population->species[0] = 2;
        shake(seed);
    }
    /// Other places and velocities.
    void shake(unsigned seed) {
        std::mt19937_64 generator(seed);
        std::uniform_real_distribution<double> uniform;
        std::normal_distribution<double> normal;
        for (int axis = 0; axis < box.dimension; ++axis) {
            for (std::size_t id = 0; id < frame.size(); ++id) {
                frame.position[axis][id] = box.min[axis] + box.size[axis] * uniform(generator);
                frame.velocity[axis][id] = normal(generator) + 0.3;
                frame.image[axis][id] = static_cast<std::int32_t>(generator() % 5) - 2;
                frame.gone[id] = 0;
            }
        }
        frame.gone[frame.size() - 1] = 1;
        for (int axis = 0; axis < box.dimension; ++axis) frame.position[axis][frame.size() - 1] = std::nan("");
    }
    [[nodiscard]] AverageContext context(double every = 0.5, std::uint64_t samples = 100) const {
        return {.box = box, .population = population, .every = every, .samples = samples};
    }
    /// One sample of the balls as they are.
    void show(Averager& averager, std::uint64_t index) const {
        const std::vector<double> masses = finite_masses(population->table);
        FrameSampler balls(frame, {.species = population->species, .mass = masses});
        averager.add(balls, {.time = frame.time, .index = index});
    }
    [[nodiscard]] const Species& species(std::size_t id) const { return population->table[population->species[id]]; }
    /// In, of finite mass, and of that species if one is named.
    [[nodiscard]] bool counts(std::size_t id, const std::string& name = "") const {
        if (frame.gone[id] != 0) return false;
        return name.empty() ? std::isfinite(species(id).mass) : species(id).name == name;
    }
};

}  // namespace carom::test
