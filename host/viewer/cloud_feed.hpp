#pragma once

#include <optional>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"
#include "host/viewer/ball_cloud.hpp"
#include "host/viewer/cloud_store.hpp"
#include "host/viewer/quantity.hpp"

namespace carom {

/// Brings the balls of a solver into slots of a store, by the shortest way that solver and store have: the processor
/// writes them into OpenGL's memory; or the CPU writes them as OpenGL reads them, to be copied; or they come by a
/// frame.
class CloudFeed {
public:
    /// \param frames_only  whatever else there is: for comparisons. \pre then, the store is a mapped one
    explicit CloudFeed(bool frames_only = false) : frames_only_(frames_only) {}

    /// Whether fill() wants a frame of the present time.
    [[nodiscard]] bool needs_frame(CloudStore& store, int slot, Solver& solver, Quantity quantity) const;
    /// \param balls  for species; its positions are not looked at
    /// \param frame  of the solver now; may be null unless needs_frame()
    /// \returns  the range of the quantity; {} for species
    ValueRange fill(CloudStore& store, int slot, Solver& solver, const Scene& scene, const Balls& balls,
                    Quantity quantity, const Frame* frame);
    /// The solver is another one.
    void forget() { given_.reset(); }

private:
    void give(Solver& solver, const Scene& scene, const Balls& balls, Quantity quantity, const Frame* frame);

    bool frames_only_;
    CloudMaker clouds_;
    std::vector<float> values_;
    std::vector<float> sample_;
    std::vector<BallPlace> places_;
    Frame frame_;  // for what is given once
    std::optional<Quantity> given_;
};

}  // namespace carom
