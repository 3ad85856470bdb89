#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/backends/spring_backends.hpp"
#include "kernels/core/half_done.hpp"
#include "kernels/ranks/cut.hpp"  // CannotShare
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_engine.hpp"

namespace carom {

/// Makes a rank's share of an engine, as make_spring_bricks does.
using BrickMaker = std::function<std::unique_ptr<BrickEngine>(const std::string& processor, Transport& transport,
                                                              const SpringSetup* setup, const RawBalls* balls,
                                                              std::uint64_t step, const std::array<int, 3>& layers)>;

/// The ranks of a run as rank 0 sees them: it leads, the others do as they are told (serve_rank).
class Ranks {
public:
    explicit Ranks(std::shared_ptr<Transport> transport, BrickMaker maker = make_spring_bricks);
    /// Lets the others end; with a status of failure where not all could follow.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] int count() const;
    /// \param layers  into which the axes of a box are cut from the next engine on; 0: as is best
    void cut_into(const std::array<int, 3>& layers) { layers_ = layers; }
    /// \param processor  "cpu" or "cuda": of the next engine on
    void compute_on(const std::string& processor) { processor_ = processor; }
    /// A run's engine, shared by all. Several may live at once. As SpringEngineMaker.
    /// \throws CannotShare  the box has too few cells for so many ranks
    [[nodiscard]] std::unique_ptr<SpringEngine> make_engine(const SpringSetup& setup, const RawBalls& balls,
                                                            std::uint64_t step, const Tallies& tallies);

    /// Has the others do their work (RankWork), while this one does its part of it, which talks to them.
    void work(std::span<const std::byte> order, const std::function<void(Transport&)>& mine);

private:
    std::shared_ptr<Transport> transport_;
    BrickMaker maker_;
    std::string processor_ = "cpu";
    std::array<int, 3> layers_{};
    HalfDone orders_;
    std::uint64_t engines_ = 0;  // that have been made
};

/// What ranks other than 0 do at Ranks::work.
using RankWork = std::function<void(Transport& transport, std::span<const std::byte> order)>;

/// What ranks other than 0 do, until rank 0 lets them go.
/// \throws RanksLost, and whatever an engine throws: then the others cannot go on either
void serve_rank(Transport& transport, const RankWork& work = {}, const BrickMaker& maker = make_spring_bricks);

/// Starts so many ranks as threads of this process, for tests: this one is rank 0.
class ThreadRanks {
public:
    /// \param reach_devices  see Transport: as the emulated one's can be
    explicit ThreadRanks(int ranks, const RankWork& work = {}, const BrickMaker& maker = make_spring_bricks,
                         bool reach_devices = false);
    /// Waits until all have ended.
    ~ThreadRanks();
    ThreadRanks(const ThreadRanks&) = delete;
    ThreadRanks& operator=(const ThreadRanks&) = delete;

    [[nodiscard]] std::shared_ptr<Transport> rank_0() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace carom
