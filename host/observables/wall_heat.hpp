#pragma once

#include <limits>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"

namespace carom {

/// Energy that each wall has given to the balls since the start of the run: 0 for walls that reflect, NaN for a face
/// that is no wall.
class WallHeat final : public Observable {
public:
    explicit WallHeat(const ObservableContext& context) : box_(context.box), walls_(context.walls) {}
    [[nodiscard]] ObservableInfo info() const override {
        std::vector<std::string> names{"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};
        names.resize(faces());
        for (std::size_t wall = 0; wall < walls_; ++wall) names.push_back("wall_" + std::to_string(wall));
        return {.name = "wall_heat", .unit = "J", .label = "heat given by walls", .components = std::move(names)};
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const std::vector<double>& heat = sample.tallies.wall_heat;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const bool wall = k >= faces() || box_.faces[k / 2][k % 2] == Face::kWall;
            const std::size_t number = k < faces() ? k : k - faces() + 6;
            values[k] = !wall ? std::numeric_limits<double>::quiet_NaN() : number < heat.size() ? heat[number] : 0.0;
        }
    }

private:
    [[nodiscard]] std::size_t faces() const { return 2 * static_cast<std::size_t>(box_.dimension); }

    Box box_;
    std::size_t walls_;
};

}  // namespace carom
