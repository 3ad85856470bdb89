#pragma once

#include "kernels/cuda/queue.hpp"
#include "kernels/sampling/ball_sampler.hpp"

namespace carom::CAROM_PROCESSOR {

/// Looks at balls in the device's memory, which lie there by id. Takes its own memory as it is needed.
template <class Real>
class DeviceSampler final : public BallSampler {
public:
    /// Both must live as long.
    DeviceSampler(Queue& queue, Scratch& scratch) : queue_(queue), scratch_(scratch) {}

    /// From here on looks at these.
    /// \param balls  without what `kinds` tells; its arrays may still be written by what is in the queue
    void look_at(SampledBalls<Real> balls, int dimension, const BallKinds& kinds);

    double sums(const BallSums& what, std::span<const std::uint8_t> chosen, std::span<std::int64_t> sums) override;
    PairSample pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                     std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) override;
    void follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                std::span<double> values) override;

    [[nodiscard]] std::uint64_t memory_bytes() const;

private:
    double find_largest_energy(std::span<const std::uint8_t> chosen) override;
    /// Of a table of sums, how often it is there: some 64,000 words in all.
    static std::uint32_t tables_of(std::size_t width);

    Queue& queue_;
    Scratch& scratch_;
    int dimension_ = 2;
    SampledBalls<Real> balls_{};

    DeviceArray<std::uint32_t> species_;  // by id
    DeviceArray<double> mass_;            // by species
    DeviceArray<std::uint8_t> chosen_, others_;
    DeviceArray<std::int64_t> sums_;
    DeviceArray<std::uint64_t> peak_;  // one word
    DeviceArray<unsigned char> tally_;
    DeviceArray<std::uint32_t> cell_, place_, id_of_slot_, cell_start_;
    DeviceArray<double> position_[3];  // by slot
    DeviceArray<std::uint32_t> followed_;
    DeviceArray<double> values_;
};

/// Device memory of one that looks at `count` balls of `dimension` [bytes].
/// \param pairs  it counts pairs, too
std::uint64_t sampler_bytes(std::size_t count, int dimension, bool pairs);

extern template class DeviceSampler<float>;
extern template class DeviceSampler<double>;

}  // namespace carom::CAROM_PROCESSOR
