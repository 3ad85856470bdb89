#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

/// Rows of a table of species, by id. Balls of one species mostly have ids one after the other, so their stretches are
/// kept where these take less.
class SpeciesById {
public:
    SpeciesById() = default;
    SpeciesById(const std::vector<std::uint32_t>& rows);  // NOLINT: a vector is as good
    /// Of balls behind those that there are.
    void append(std::uint32_t row, std::size_t count = 1);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint32_t operator[](std::size_t id) const {
        return each_.empty() ? in_stretches(id) : each_[id];
    }
    [[nodiscard]] std::vector<std::uint32_t> rows() const;
    /// Of `to.size()` balls from `first` on.
    void copy(std::size_t first, std::span<std::uint32_t> to) const;
    /// Calls f(row, count) for all, in the order of ids.
    template <class F>
    void for_each_stretch(F&& f) const {
        for (const std::uint32_t row : each_) f(row, std::size_t{1});
        std::size_t begin = 0;
        for (const Stretch& one : stretches_) {
            f(one.row, one.end - begin);
            begin = one.end;
        }
    }

    friend bool operator==(const SpeciesById& a, const SpeciesById& b) {
        return a.size() == b.size() && a.rows() == b.rows();
    }

private:
    struct Stretch {
        std::size_t end = 0;
        std::uint32_t row = 0;
    };
    [[nodiscard]] std::uint32_t in_stretches(std::size_t id) const;

    std::size_t size_ = 0;
    std::vector<Stretch> stretches_;
    std::vector<std::uint32_t> each_;  // instead of them
};

/// Balls as structure of arrays, one entry per ball, index = id. Positions are absolute and inside the
/// box on periodic axes; `image` counts how often a ball has crossed the periodic faces (the unwrapped
/// position is position + image * size).
///
/// Where nobody has all of them they come in parts, in the order of ids: then entry k is ball first + k.
struct BallColumns {
    int dimension = 2;
    std::size_t first = 0;                           ///< balls before this part
    std::size_t rest = 0;                            ///< and after it
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

/// Gives all balls, a part at a time in the order of ids, as often as it is asked: where nobody has room for all.
class BallParts {
public:
    virtual ~BallParts() = default;
    [[nodiscard]] virtual std::size_t size() const = 0;  ///< of all
    [[nodiscard]] virtual const std::vector<Species>& species_table() const = 0;
    /// Parts have that table, too; one is good until the next comes.
    virtual void each(const std::function<void(const Balls& part)>& take) const = 0;
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

/// The same of a frame that comes in parts.
class StateHash {
public:
    void add(const Frame& part);
    /// \pre all parts have been added
    [[nodiscard]] std::uint64_t value() const;

private:
    std::uint64_t sum_ = 0;
    std::uint64_t balls_ = 0;
};

}  // namespace carom
