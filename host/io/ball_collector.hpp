#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/scene/scene.hpp"

namespace carom {

/// One ball as a file has it.
struct BallRow {
    Vector3 position{};
    Vector3 velocity{};
    Vector3 spin{};                                            ///< 2D: only component 2
    double radius = std::numeric_limits<double>::quiet_NaN();  ///< NaN: the file has none
    double mass = std::numeric_limits<double>::quiet_NaN();    ///< likewise
    std::string_view species{};                                ///< empty: none
    const Species* properties = nullptr;                       ///< what else the file knows of them
    std::uint64_t at = 0;                                      ///< line, or id
};

/// What is wrong with a ball. Whoever knows the file says where.
struct BadBall {
    std::string_view name;  ///< of the value: "x", "radius", "species"
    std::string message;
};

/// Holds balls of a file against the scene that they are for, and gives them species of its table.
class BallCollector {
public:
    BallCollector(const Scene& scene, std::size_t number, LoadedBalls& into);

    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] const LoadEntry& entry() const { return scene_.loads[number_]; }
    [[nodiscard]] std::size_t number() const { return number_; }
    [[nodiscard]] int dimension() const { return scene_.dimension(); }
    [[nodiscard]] std::uint64_t count() const { return count_; }

    /// What has been added is of another frame, and goes.
    void begin_frame(double time);
    /// Makes room. \throws SystemError  there is not so much memory
    void expect(double balls);
    /// \throws BadBall  it cannot be a ball of the scene
    void add(const BallRow& row);
    /// No more are to come.
    void finish();

private:
    /// Balls of one species, radius and mass share a row of the table.
    struct Share {
        std::int64_t base = -1;  ///< row of the species; -1: nameless
        double radius = 0.0;
        double mass = 0.0;
        bool operator==(const Share&) const = default;
    };
    struct ShareHash {
        std::size_t operator()(const Share& share) const;
    };
    [[nodiscard]] std::int64_t base_of(const BallRow& row);
    [[nodiscard]] std::uint32_t row_of(const BallRow& row);
    [[nodiscard]] std::uint32_t new_row(const Share& share, const BallRow& row);
    void check_radius(double radius) const;

    const Scene& scene_;
    std::size_t number_;
    LoadedBalls& into_;
    Balls balls_;  ///< the first count_ of them have been added
    std::uint64_t count_ = 0;
    std::unordered_map<Share, std::uint32_t, ShareHash> rows_;
    std::map<std::string, std::int64_t, std::less<>> names_;  ///< row of each species by name
    std::string last_name_;
    std::int64_t last_base_ = -1;
    Share last_share_;
    std::uint32_t last_row_ = 0;
    bool any_row_ = false;
};

/// Reads a frame of an H5MD file of another program: places, velocities and what else it has of the balls of one
/// group. As in a table each number of a ball has a name, that of its element; of several numbers "position[0]" and so
/// on.
/// \param descriptor  of the file; it becomes the reader's
/// \returns false: the file is one of carom's own, which its own readers take
/// \throws InputError  it has no balls, or what it has fits neither together nor the scene
bool read_h5md(const std::string& path, int descriptor, BallCollector& collector);

}  // namespace carom
