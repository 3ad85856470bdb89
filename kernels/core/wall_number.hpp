#pragma once

#include <cstddef>
#include <string>

namespace carom {

/// How walls are numbered everywhere: 0 to 5 are the faces of the box (x-min, x-max, y-min, y-max, z-min, z-max), in 2D
/// too; then come the [[wall]] entries in file order.
class WallNumber {
public:
    static constexpr int kFaces = 6;

    constexpr explicit WallNumber(int number) : number_(number) {}
    /// \param end  0: the lower face, 1: the upper one
    static constexpr WallNumber face(int axis, int end) { return WallNumber(2 * axis + end); }
    static constexpr WallNumber entry(std::size_t index) { return WallNumber(kFaces + static_cast<int>(index)); }
    /// How many numbers there are with so many entries.
    static constexpr std::size_t count(std::size_t entries) { return kFaces + entries; }

    [[nodiscard]] constexpr int value() const { return number_; }
    [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(number_); }
    [[nodiscard]] constexpr bool is_face() const { return number_ < kFaces; }
    [[nodiscard]] constexpr int axis() const { return number_ / 2; }
    [[nodiscard]] constexpr int end() const { return number_ % 2; }
    /// Which [[wall]] it is.
    [[nodiscard]] constexpr std::size_t entry() const { return static_cast<std::size_t>(number_ - kFaces); }
    /// Of a face: 1 where its normal, which points into the box, is along the axis, else -1.
    [[nodiscard]] constexpr double inwards() const { return end() == 0 ? 1.0 : -1.0; }

    /// For people: "x-min", "wall[0]".
    [[nodiscard]] std::string name() const {
        return is_face() ? face_text('-') : "wall[" + std::to_string(entry()) + "]";
    }
    /// For programs: "x_min", "wall_0".
    [[nodiscard]] std::string plain_name() const {
        return is_face() ? face_text('_') : "wall_" + std::to_string(entry());
    }

    constexpr bool operator==(const WallNumber&) const = default;
    constexpr bool operator<(const WallNumber& other) const { return number_ < other.number_; }

private:
    [[nodiscard]] std::string face_text(char between) const {
        return std::string{"xyz"[axis()], between} + (end() == 0 ? "min" : "max");
    }

    int number_;
};

}  // namespace carom
