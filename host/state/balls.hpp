#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/state/box.hpp"

namespace carom {

/// Shared properties of balls. Balls described inline share one nameless entry when all is equal.
struct Species {
    std::string name;                 ///< empty: nameless (null in JSON)
    double radius = 0.0;              ///< [length]
    double mass = 0.0;                ///< [mass]; infinity: no contact and no gravity moves it
    double radius_of_gyration = 0.0;  ///< [length]
    std::string color;                ///< "#RRGGBB" or empty
    std::int32_t size_of = -1;        ///< row of the species that this is a size of; -1: it is none

    bool operator==(const Species&) const = default;
};

/// The row of a table that a row stands under: of its species, where it is one of the sizes that this has.
[[nodiscard]] inline std::uint32_t species_row(const std::vector<Species>& table, std::uint32_t row) {
    return table[row].size_of < 0 ? row : static_cast<std::uint32_t>(table[row].size_of);
}

/// Balls as structure of arrays, one entry per ball, index = id. Positions are absolute and inside the
/// box on periodic axes; `image` counts how often a ball has crossed the periodic faces (the unwrapped
/// position is position + image * size).
struct BallColumns {
    int dimension = 2;
    std::array<std::vector<double>, 3> position;     ///< [length]; third axis empty in 2D
    std::array<std::vector<double>, 3> velocity;     ///< [length/time]; third axis empty in 2D
    std::array<std::vector<double>, 3> spin;         ///< [rad/time]; in 2D only spin[2] is filled
    std::array<std::vector<std::int32_t>, 3> image;  ///< periodic crossings; third axis empty in 2D
    std::vector<std::uint8_t> gone;                  ///< 1: left through an open face

    [[nodiscard]] std::size_t size() const { return gone.size(); }
    /// Makes all arrays that a dimension uses `count` long; new entries are zero.
    void resize(int dimension_, std::size_t count);
};

/// What a solver starts from, and what it saves: velocities as its integrator holds them.
struct Balls : BallColumns {
    std::vector<Species> species_table;
    std::vector<std::uint32_t> species;  ///< index into species_table

    [[nodiscard]] std::size_t size() const { return species.size(); }
    [[nodiscard]] const Species& species_of(std::size_t id) const { return species_table[species[id]]; }
    void resize(std::size_t count) {
        species.resize(count);
        BallColumns::resize(dimension, count);
    }
};

/// What one looks at: all balls at one time, velocities at that very time; in single precision each is a float's value.
/// The other entries of a ball that is gone are NaN or 0. Reused from frame to frame without allocation.
struct Frame : BallColumns {
    double time = 0.0;
    std::uint64_t step = 0;  ///< spring: time steps done; events: events done
};

/// Hash over ids, positions, velocities and spins of the balls that are still in, in id order, bit for bit;
/// equal on every processor and for any number of threads. Negative zero counts as zero.
std::uint64_t state_hash(const Frame& frame);

}  // namespace carom
