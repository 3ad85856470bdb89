#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
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

    /// Balls of one species, radius and mass share a row of the table.
    struct Share {
        std::int64_t base = -1;  ///< row of the species; -1: nameless
        double radius = 0.0;
        double mass = 0.0;
        bool operator==(const Share&) const = default;
    };
    /// What whoever puts balls has found: one thread, which keeps it.
    struct Putting {
        std::string_view name{};  ///< of the species told last; the collector's
        std::int64_t base = -1;   ///< of that
        Share share;              ///< of the ball put last
        std::uint32_t row = 0;    ///< of that
        bool any = false;         ///< has been put
        double largest_radius = 0.0;
        double fastest = 0.0;  ///< squared
    };
    /// Room for so many more. \throws SystemError  there is not so much memory
    void make_room(std::uint64_t more);
    /// Puts a ball where it belongs; others may put others at the same time. False: there is something wrong with it,
    /// or none of its kind has been added, and add() must have it. \param before  how many there will be between those
    /// that have been added and it \pre           there is room
    bool put(std::uint64_t before, const BallRow& row, Putting& putting);
    /// Adds what has been put, the next ones. \param at  of the first; the others follow on
    void take(std::uint64_t balls, std::uint64_t at);
    /// Of all that has been put, when it has been taken.
    void take_extremes(const Putting& putting);

    /// No more are to come.
    void finish();

private:
    struct ShareHash {
        std::size_t operator()(const Share& share) const;
    };
    [[nodiscard]] std::int64_t base_of(const BallRow& row, Putting& putting) const;
    [[nodiscard]] Share share_of(const BallRow& row, std::int64_t base) const;
    [[nodiscard]] bool lacks_size(const BallRow& row, std::int64_t base) const;
    [[nodiscard]] std::optional<std::uint32_t> row_of(const Share& share) const;
    [[noreturn]] void refuse_unknown(const BallRow& row, std::string_view name) const;
    void make_row(const BallRow& row);
    void check_radius(double radius) const;

    const Scene& scene_;
    std::size_t number_;
    LoadedBalls& into_;
    Balls balls_;  ///< the first count_ of them have been added
    std::uint64_t count_ = 0;
    std::unordered_map<Share, std::uint32_t, ShareHash> rows_;
    std::map<std::string, std::int64_t, std::less<>> names_;  ///< row of each species by name
    Putting own_;                                             ///< of those that are added one by one
};

/// Reads a frame of an H5MD file of another program: places, velocities and what else it has of the balls of one
/// group. As in a table each number of a ball has a name, that of its element; of several numbers "position[0]" and so
/// on.
/// \param descriptor  of the file; it becomes the reader's
/// \returns false: the file is one of carom's own, which its own readers take
/// \throws InputError  it has no balls, or what it has fits neither together nor the scene
bool read_h5md(const std::string& path, int descriptor, BallCollector& collector);

}  // namespace carom
