#include "host/ranks/rank_steps.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "host/ranks/launched.hpp"

namespace carom {

namespace {

constexpr double kBolder = 1.1;      // speeds may grow by this meanwhile
constexpr double kNearTheEnd = 0.9;  // of what balls may move: then they are dealt out, or coasts get short

std::uint64_t largest_weight(const std::vector<std::uint64_t>& weight, const std::vector<std::int32_t>& faces) {
    std::uint64_t largest = 0;
    for (std::size_t layer = 0; layer + 1 < faces.size(); ++layer) {
        std::uint64_t sum = 0;
        for (auto cell = faces[layer]; cell < faces[layer + 1]; ++cell) sum += weight[static_cast<std::size_t>(cell)];
        largest = std::max(largest, sum);
    }
    return largest;
}

}  // namespace

void RankSteps::agree(bool held_up, std::uint64_t fault_key) {
    // None of the numbers is negative, so they are in the order of their bits.
    std::uint64_t words[] = {
        std::bit_cast<std::uint64_t>(bricks_.motion()),      std::bit_cast<std::uint64_t>(bricks_.pending_motion()),
        std::bit_cast<std::uint64_t>(bricks_.last_motion()), held_up ? 1U : 0U,
        static_cast<std::uint64_t>(rank_signal()),           ~fault_key};
    const auto began = std::chrono::steady_clock::now();
    transport_.max_all(words);
    figures_.agreeing += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    known_ = {std::bit_cast<double>(words[0]),
              std::bit_cast<double>(words[1]),
              std::bit_cast<double>(words[2]),
              words[3],
              words[4],
              ~words[5]};
}

std::uint64_t RankSteps::coast_length() const {
    const double left = bricks_.most_motion() - (known_.motion + known_.pending);
    if (left < 0.0) return 0;
    if (!(known_.last > 0.0)) return 1;  // nothing is known yet
    return 1 + static_cast<std::uint64_t>(
                   std::min(std::floor(left / (kBolder * known_.last)), static_cast<double>(kLongestCoast - 1)));
}

/// Deals out the balls, by another cut where the ranks' shares have become too different.
void RankSteps::deal() {
    constexpr double kWorth = 0.98;  // of the largest share
    Cut cut = bricks_.cut();
    for (int axis = 0; axis < cut.dimension; ++axis) {
        if (!cut.cuts(axis)) continue;
        std::vector<std::uint64_t> weight = bricks_.work_along(axis);
        transport_.sum_all(weight);
        std::vector<std::int32_t> better = balanced_faces(weight, cut.along(axis));
        if (static_cast<double>(largest_weight(weight, better)) <
            kWorth * static_cast<double>(largest_weight(weight, cut.faces[axis]))) {
            cut.faces[axis] = std::move(better);
        }
    }
    bricks_.deal(cut);
    std::uint64_t most = bricks_.work();
    std::uint64_t all = most;
    transport_.max_all({&most, 1});
    transport_.sum_all({&all, 1});
    const double mean = static_cast<double>(all) / transport_.size();
    const double imbalance = all > 0 ? static_cast<double>(most) / mean - 1.0 : 0.0;
    ++figures_.dealings;
    figures_.mean_imbalance += (imbalance - figures_.mean_imbalance) / static_cast<double>(figures_.dealings);
}

/// With a word to all, so that none does a step that another cannot do.
SpringFault RankSteps::careful_step() {
    const BrickEngine::Trial trial = bricks_.try_step(false);
    agree(trial.held_up, trial.fault_key);
    if (known_.fault_key != FaultKey::kNone) {
        bricks_.reject();
        return FaultKey::unpack(known_.fault_key);
    }
    if (known_.held_up != 0) throw std::logic_error("ranks have moved farther than a step can take them");
    bricks_.commit();
    if (careful_ > 0) --careful_;
    return {};
}

void RankSteps::change(const SpringSetup* setup, bool same_setup, const VelocityChange& velocities) {
    bricks_.go_on_with(setup, velocities);
    if (!same_setup) deal();  // who is near what walls is other than it was
}

AdvanceResult RankSteps::advance(std::uint64_t steps) {
    const auto began = std::chrono::steady_clock::now();
    AdvanceResult result;
    agree(false, FaultKey::kNone);
    while (result.steps < steps) {
        const double moved = known_.motion + known_.pending;
        if (moved > kNearTheEnd * bricks_.most_motion()) {
            deal();
            agree(false, FaultKey::kNone);
        }
        if (careful_ > 0) {
            result.fault = careful_step();
            if (result.fault.kind != SpringFault::Kind::kNone) break;
            ++result.steps;
            agree(false, FaultKey::kNone);
            continue;
        }
        const std::uint64_t length = std::min(std::max<std::uint64_t>(coast_length(), 1), steps - result.steps);
        bricks_.keep();
        bricks_.keep_pace(kBolder * known_.last);
        bool held_up = false;
        for (std::uint64_t k = 0; k < length; ++k) {
            const BrickEngine::Trial trial = bricks_.try_step(held_up);
            held_up = held_up || trial.held_up || trial.fault_key != FaultKey::kNone;
            if (!held_up) bricks_.commit();
        }
        agree(held_up, FaultKey::kNone);
        ++figures_.coasts;
        if (known_.held_up == 0) {
            result.steps += length;
            continue;
        }
        bricks_.go_back();
        careful_ = length;
        ++figures_.retreats;
        agree(false, FaultKey::kNone);
    }
    // What looks at the balls needs the copies, which must not have come too far by then.
    if (known_.motion + known_.pending > bricks_.most_motion()) deal();
    figures_.steps += result.steps;
    figures_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace carom
