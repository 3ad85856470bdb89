#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace carom {

/// The earliest of n times, each of which may change at any moment: a tournament, whose rounds above a changed time are
/// played again. Of equal times the one with the lower number wins.
class Earliest {
public:
    struct Entry {
        double time;
        std::uint32_t number;
    };

    explicit Earliest(std::size_t count, double never) {
        while (leaves_ < count) leaves_ *= 2;
        nodes_.assign(2 * leaves_, {never, 0});
        for (std::size_t k = 0; k < leaves_; ++k) nodes_[leaves_ + k].number = static_cast<std::uint32_t>(k);
        for (std::size_t node = leaves_ - 1; node > 0; --node) play(node);
    }

    void set(std::uint32_t number, double time) {
        std::size_t node = leaves_ + number;
        nodes_[node].time = time;
        for (node /= 2; node > 0; node /= 2) {
            const std::uint32_t before = nodes_[node].number;
            play(node);
            if (before != number && nodes_[node].number == before) return;
        }
    }

    [[nodiscard]] const Entry& first() const { return nodes_[1]; }

private:
    void play(std::size_t node) {
        const Entry& left = nodes_[2 * node];
        const Entry& right = nodes_[2 * node + 1];
        nodes_[node] = right.time < left.time ? right : left;
    }

    std::size_t leaves_ = 2;
    std::vector<Entry> nodes_;  // 1: the winner; 2k and 2k + 1 play for k
};

}  // namespace carom
