#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/fixed_sum.hpp"
#include "kernels/core/totals.hpp"
#include "kernels/ranks/cut.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_setup.hpp"

namespace carom {

/// What a rank has counted since it was made, in whole steps of the run's grids, so that ranks add up to the bit.
struct BrickCounts {
    std::array<WideCount, kWallNumbers> impulse{};
    std::array<WideCount, kHeatSources> heat{};
    double max_overlap = 0.0;
    std::uint64_t balls_left = 0;

    void merge(const BrickCounts& other) {
        for (std::size_t wall = 0; wall < impulse.size(); ++wall) impulse[wall].merge(other.impulse[wall]);
        for (std::size_t source = 0; source < heat.size(); ++source) heat[source].merge(other.heat[source]);
        max_overlap = larger(other.max_overlap, max_overlap);
        balls_left += other.balls_left;
    }
};

/// A ball on its way to rank 0.
struct FrameBall {
    double position[3];
    double velocity[3];
    std::int32_t image[3];
    std::uint32_t id;
};

/// What a rank will hold, as far as that is known before.
struct BrickForecast {
    std::array<int, 3> layers{1, 1, 1};  ///< into which the axes are cut
    std::uint64_t bytes = 0;             ///< of a rank, if balls are spread evenly
};

/// What a rank tells of its traffic.
struct BrickTraffic {
    std::uint64_t messages = 0;  ///< sent to bring copies up to date
    std::uint64_t bytes = 0;     ///< sent in them
    double seconds = 0.0;        ///< that this took in steps, waiting for others included
};

/// A rank's balls: what a processor must offer so that a run can be shared by many. The ranks do the same things in the
/// same order; "together" stands where they talk to each other meanwhile.
///
/// A rank steps the balls of its brick alone. Around these it holds copies of its neighbours' balls, as they were when
/// the balls were last dealt out, whose places come anew before each step. Dealt out are balls before any has moved by
/// half the margin, so no contact is missed.
class BrickEngine {
public:
    virtual ~BrickEngine() = default;

    [[nodiscard]] virtual std::uint64_t step() const = 0;
    [[nodiscard]] virtual const Cut& cut() const = 0;
    [[nodiscard]] virtual std::uint64_t balls() const = 0;  ///< of this rank
    /// What a step costs this rank, as the balls were last dealt out: by their number and their pairs', in any unit.
    [[nodiscard]] virtual std::uint64_t work() const = 0;
    /// The same by cells along an axis, in a unit of its own.
    [[nodiscard]] virtual std::vector<std::uint64_t> work_along(int axis) const = 0;

    /// Deals out all balls anew by a cut, together.
    virtual void deal(const Cut& cut) = 0;
    /// How far any ball of this rank and its neighbours may have moved since then, to the time of the copies [length].
    [[nodiscard]] virtual double motion() const = 0;
    /// What its own have moved since that time [length].
    [[nodiscard]] virtual double pending_motion() const = 0;
    /// How far they may [length].
    [[nodiscard]] virtual double most_motion() const = 0;
    /// In the last step alone [length].
    [[nodiscard]] virtual double last_motion() const = 0;

    /// What no ball of any rank is expected to exceed in a step for a while [length]: what is to be done every few
    /// steps all do at the same ones, since neighbours wait for each other.
    virtual void keep_pace(double) {}

    /// What comes of trying a step.
    struct Trial {
        bool held_up = false;  ///< some rank cannot go on: all must go back
        std::uint64_t fault_key = FaultKey::kNone;
    };
    /// Computes the next step, together; commit() or reject() must follow where that was done.
    /// \param held_up  this rank cannot go on, and takes part so that others hear of it
    virtual Trial try_step(bool held_up) = 0;
    virtual void commit() = 0;
    /// Some rank has found a fault in the step: what it did to this one counts as it does in a run of one process.
    virtual void reject() = 0;

    /// Remembers the state, to come back to it. No balls may be dealt out between.
    virtual void keep() = 0;
    virtual void go_back() = 0;

    /// Between steps gives the balls other velocities and, where there are any, takes other constants for them,
    /// together; what was counted begins anew. After other constants balls must be dealt out. As SpringEngine::change,
    /// but the margin stays whatever a new engine would choose: one would need all balls in one place. \param setup
    /// rank 0 has it, for all; null there: the constants stay
    virtual void go_on_with(const SpringSetup* setup, const VelocityChange& velocities) = 0;

    virtual SpringSums sums() = 0;  ///< together
    /// Balls that are in; together. \param raw  as SpringEngine::store, else as request_frame
    virtual void frame(bool raw, std::vector<FrameBall>& balls) = 0;
    [[nodiscard]] virtual BrickCounts counts() const = 0;
    [[nodiscard]] virtual BrickTraffic traffic() const = 0;
    [[nodiscard]] virtual std::uint64_t copies() const = 0;  ///< of neighbours' balls
    [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;

    // The same for all ranks.
    [[nodiscard]] virtual const ObserveGrids& observe_grids() const = 0;
    [[nodiscard]] virtual CountUnits count_units() const = 0;
    [[nodiscard]] virtual double box_min(int axis) const = 0;
    [[nodiscard]] virtual std::string device() const = 0;
    [[nodiscard]] virtual int threads() const = 0;
    [[nodiscard]] virtual double margin() const = 0;
    [[nodiscard]] virtual double largest_quantum() const = 0;
};

}  // namespace carom
