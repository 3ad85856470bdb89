#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "kernels/sampling/ball_sums.hpp"
#include "kernels/sampling/pair_counts.hpp"

namespace carom {

/// What is known of balls by species, and whose species is which.
struct BallKinds {
    std::span<const std::uint32_t> species = {};  ///< by id; empty where nobody has room for all: then `stretches` tell
    std::span<const double> mass;                 ///< by species; 0 for what is infinite [mass]
    /// Calls take(species, count) for all balls in the order of ids, so many at a time that are of one species.
    using Take = std::function<void(std::uint32_t species, std::uint64_t count)>;
    std::function<void(const Take& take)> stretches = {};
};

/// Looks at all balls at one time, on the processor in whose memory they are, and hands out sums: the same bits on
/// each. Sets of balls are told by species: 1 or 0 each.
class BallSampler {
public:
    virtual ~BallSampler() = default;

    /// The largest m v^2 among the balls that are in, and chosen [energy].
    double largest_energy(std::span<const std::uint8_t> chosen) {
        const std::lock_guard lock(mutex_);  // several averages may ask at once
        auto found =
            std::ranges::find_if(known_, [&](const auto& known) { return std::ranges::equal(known.first, chosen); });
        if (found == known_.end()) {
            known_.emplace_back(std::vector(chosen.begin(), chosen.end()), find_largest_energy(chosen));
            found = known_.end() - 1;
        }
        return found->second;
    }
    /// \param sums  what.width() numbers, of steps of the grids; overwritten
    /// \return      the largest of what BallSums::look returns
    virtual double sums(const BallSums& what, std::span<const std::uint8_t> chosen, std::span<std::int64_t> sums) = 0;
    /// \param pairs  order.bins numbers; overwritten
    virtual PairSample pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                             std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) = 0;
    /// What single balls do, NaN for those that are gone.
    /// \param size    of the box, by axis; as many as there are dimensions
    /// \param values  axis after axis, all balls of each
    virtual void follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                        std::span<double> values) = 0;

protected:
    virtual double find_largest_energy(std::span<const std::uint8_t> chosen) = 0;
    /// From here on it looks at another time.
    void forget() { known_.clear(); }

private:
    std::mutex mutex_;
    std::vector<std::pair<std::vector<std::uint8_t>, double>> known_;  // by who was chosen
};

}  // namespace carom
