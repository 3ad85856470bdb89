#pragma once

#include <cstdint>

#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_engine.hpp"

namespace carom {

/// What all ranks have come to.
struct RankFigures {
    std::uint64_t steps = 0;      ///< done
    std::uint64_t coasts = 0;     ///< stretches of steps without a word to all
    std::uint64_t retreats = 0;   ///< of these, given up and done again step by step
    std::uint64_t dealings = 0;   ///< of the balls
    double mean_imbalance = 0.0;  ///< the most work of a rank over the mean, less 1, at dealings
    double seconds = 0.0;         ///< in advance(), of this rank
    double agreeing = 0.0;        ///< of these, in words to all and in waiting for them
};

/// The steps of a run that is shared by ranks: each of them calls the same functions, in the same order.
///
/// When the balls must be dealt out anew depends on the fastest of all, but asking all ranks at each step would cost
/// more than a step. So they coast: for as many steps as the speeds of now would take them without harm, a rank hears
/// from its neighbours alone. Where that was too bold, or a step shows a fault, whoever notices says so in its messages
/// and does nothing more; at the end of the stretch all hear of it, go back to its beginning, and do it again with
/// a word after each step. So a run ends at the same step, with the same fault, as it does in one process.
class RankSteps {
public:
    static constexpr std::uint64_t kLongestCoast = 32;  ///< [steps]

    RankSteps(BrickEngine& bricks, Transport& transport) : bricks_(bricks), transport_(transport) {}

    AdvanceResult advance(std::uint64_t steps);
    /// As SpringEngine::change. \param setup  as BrickEngine::go_on_with
    void change(const SpringSetup* setup, bool same_setup, const VelocityChange& velocities);
    /// The number of a signal that any rank has got; 0: none.
    [[nodiscard]] int signal() const { return static_cast<int>(known_.signal); }
    [[nodiscard]] const RankFigures& figures() const { return figures_; }

private:
    /// The largest of all ranks' values.
    struct Known {
        double motion = 0.0;
        double pending = 0.0;
        double last = 0.0;
        std::uint64_t held_up = 0;
        std::uint64_t signal = 0;
        std::uint64_t fault_key = FaultKey::kNone;  ///< the smallest
    };

    void agree(bool held_up, std::uint64_t fault_key);
    [[nodiscard]] std::uint64_t coast_length() const;
    void deal();
    SpringFault careful_step();

    BrickEngine& bricks_;
    Transport& transport_;
    Known known_;
    std::uint64_t careful_ = 0;  ///< steps to be done one by one
    RankFigures figures_;
};

}  // namespace carom
