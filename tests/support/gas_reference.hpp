#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace carom::test {

/// tests/golden/data/stats.json: gases of hard balls by theory of high precision.
inline const nlohmann::json& stats() {
    static const nlohmann::json data =
        nlohmann::json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/stats.json"));
    return data;
}

/// Its row for disks (dimension 2) or spheres at a packing fraction.
inline const nlohmann::json& fluid(int dimension, double phi) {
    for (const nlohmann::json& row : stats()[dimension == 2 ? "eos2d" : "eos3d"]) {
        if (std::abs(row["phi"].get<double>() - phi) < 1e-9) return row;
    }
    throw std::runtime_error("no such packing fraction");
}

/// Z of so many balls in a periodic box, with T of the d (N - 1) degrees of freedom: off from the endless one as 1 / N.
inline double compressibility_of(const nlohmann::json& row, double balls) {
    const double endless = row["Z_ref"];
    return endless - (endless - row["Z_N"]["1024"].get<double>()) * 1024.0 / balls;
}

}  // namespace carom::test
