#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/sampling/ball_sampler.hpp"

namespace carom {

/// The balls of one time that a rank holds, those that are in, for rank 0 to ask of: for the balls themselves, some at
/// a time, or for sums over all of them. All ranks call the same functions, with what rank 0 asks on rank 0 alone, and
/// what comes of it is all ranks'.
class HeldBalls {
public:
    explicit HeldBalls(Transport& transport) : transport_(transport) {}

    /// As BrickEngine::frame.
    void hold(BrickEngine& bricks, bool raw);

    /// Gives rank 0 those that all ranks hold, `count` ids from `first` on, some at a time: place(FrameBall) each.
    template <class F>
    void gather(std::uint64_t first, std::uint64_t count, F&& place);

    /// What a BallSampler may be asked: of frames that are held, all of them sums of integers, so that they have the
    /// bits that one process finds.
    enum class Question : std::uint8_t { kKinds, kEnergy, kSums, kPairs, kFollow };
    /// On ranks other than 0: the part of this one.
    void answer(Question question);

    /// Once a frame, before all others. \param all  balls of the run
    void learn_kinds(const BallKinds* kinds, std::uint64_t all);
    [[nodiscard]] double largest_energy(std::vector<std::uint8_t> chosen);
    double sums(BallSums what, std::vector<std::uint8_t> chosen, std::vector<std::int64_t>& sums);
    PairSample pairs(PairOrder order, std::vector<std::uint8_t> references, std::vector<std::uint8_t> others,
                     std::vector<std::int64_t>& pairs);
    /// \param values  by axis and id
    void follow(std::vector<std::uint32_t> ids, Followed what, std::vector<double> size, std::vector<double>& values);

private:
    static constexpr std::size_t kPiece = 16384;  // balls, of a MB
    static std::size_t piece_of(std::size_t left) { return std::min(left, kPiece); }
    [[nodiscard]] const FrameBall& ball(std::size_t place) const {
        return frame_[static_cast<std::uint32_t>(by_id_[place])];
    }
    [[nodiscard]] std::uint32_t id_of(std::size_t place) const {
        return static_cast<std::uint32_t>(by_id_[place] >> 32);
    }
    [[nodiscard]] SampledBalls<double> as_sampled(std::size_t place) const;

    /// Gives all ranks the values of rank 0, however many.
    template <class T>
    void tell(std::vector<T>& values) {
        std::uint64_t count = values.size();
        transport_.broadcast_value(count);
        values.resize(count);
        if (count > 0) transport_.broadcast(std::as_writable_bytes(std::span(values)));
    }
    [[nodiscard]] double max_of(double mine);

    Transport& transport_;
    std::vector<FrameBall> frame_;
    std::vector<std::uint64_t> by_id_;    // id, and place in frame_
    std::vector<std::uint32_t> species_;  // in the order of ids
    std::vector<double> mass_;            // as BallKinds
    std::uint64_t all_ = 0;               // balls of the run
    std::vector<FrameBall> piece_;
};

template <class F>
void HeldBalls::gather(std::uint64_t first, std::uint64_t count, F&& place) {
    const auto from = std::ranges::lower_bound(by_id_, first << 32);
    const auto end = std::ranges::lower_bound(by_id_, (first + count) << 32);
    const std::span<const std::uint64_t> mine(from, end);
    if (transport_.rank() == 0) {
        for (const std::uint64_t one : mine) place(frame_[static_cast<std::uint32_t>(one)]);
    }
    piece_.resize(kPiece);
    if (transport_.rank() != 0) {
        std::uint64_t all = mine.size();
        transport_.send_to(0, std::as_bytes(std::span(&all, 1)));
        for (std::size_t at = 0; at < mine.size(); at += kPiece) {
            const std::span some = std::span(piece_).first(piece_of(mine.size() - at));
            for (std::size_t k = 0; k < some.size(); ++k) some[k] = frame_[static_cast<std::uint32_t>(mine[at + k])];
            transport_.send_to(0, std::as_bytes(some));
        }
        return;
    }
    for (int peer = 1; peer < transport_.size(); ++peer) {
        const auto all = values_in<std::uint64_t>(transport_.receive_from(peer)).at(0);
        for (std::size_t at = 0; at < all; at += kPiece) {
            const std::span some = std::span(piece_).first(piece_of(all - at));
            transport_.receive_from(peer, std::as_writable_bytes(some));
            std::ranges::for_each(some, place);
        }
    }
}

}  // namespace carom
