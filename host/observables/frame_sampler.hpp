#pragma once

#include "host/observables/average.hpp"
#include "host/state/balls.hpp"
#include "kernels/sampling/ball_sampler.hpp"

namespace carom {

/// Looks at the balls of a frame. Several threads may do so at once.
class FrameSampler final : public BallSampler {
public:
    /// Both must live as long.
    FrameSampler(const Frame& frame, const BallKinds& kinds);

    double sums(const BallSums& what, std::span<const std::uint8_t> chosen, std::span<std::int64_t> sums) override;
    PairSample pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                     std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) override;
    void follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                std::span<double> values) override;

private:
    double find_largest_energy(std::span<const std::uint8_t> chosen) override {
        return carom::largest_energy(balls_, chosen.data(), dimension_);
    }

    int dimension_;
    SampledBalls<double> balls_{};
};

}  // namespace carom
