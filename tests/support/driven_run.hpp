#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/state/solver.hpp"
#include "kernels/core/transcendental.hpp"
#include "tests/support/spring_engines.hpp"

namespace carom::test {

/// A run of a scene, from its text, that one goes on with by hand.
class DrivenRun {
public:
    explicit DrivenRun(const std::string& text, const std::vector<std::string>& overrides = {},
                       const Processor& processor = {"cpu1", 1}) {
        SceneRequest request;
        request.overrides = overrides;
        request.threads = 1;
        request.text = SceneText{"test.toml", text};
        run_ = prepare_scene(request);
        solver_ = make_solver_on(processor, run_);
        start_ = solver_->totals();
    }

    Solver& solver() { return *solver_; }
    [[nodiscard]] const PreparedScene& scene() const { return run_; }

    void to(double time) {
        while (!solver_->advance_to(time, 1000.0)) {
        }
    }
    const Frame& frame() {
        solver_->request_frame(frame_);
        solver_->finish_frame(frame_);
        return frame_;
    }
    /// 2 K / (d N).
    double temperature() {
        const Totals totals = solver_->totals();
        return 2.0 * totals.kinetic / (run_.scene.dimension() * static_cast<double>(totals.mobile));
    }
    /// What heat, work and losses leave of the change of energy, over the energy.
    double balance() {
        const Totals totals = solver_->totals();
        const Tallies tallies = solver_->tallies();
        const double change = totals.energy() - start_.energy();
        return (change - tallies.heat() - tallies.work + tallies.lost.value()) / totals.energy();
    }
    /// Another run that goes on from this one's state, as after a restart.
    void restart() {
        SolverState state;
        solver_->save(state);
        run_.plan->store(state);
        solver_ = run_.plan->make_solver(state, "");
    }

private:
    PreparedScene run_;
    std::unique_ptr<Solver> solver_;
    Totals start_;
    Frame frame_;
};

/// Largest distance between a sample's distribution and Maxwell's of speeds, for T / m = 1.
inline double distance_from_maxwell(std::vector<double> speeds, int dimension) {
    std::sort(speeds.begin(), speeds.end());
    double largest = 0.0;
    const double count = static_cast<double>(speeds.size());
    for (std::size_t k = 0; k < speeds.size(); ++k) {
        const double v = speeds[k];
        const double gauss = std::exp(-0.5 * v * v);
        const double law =
            dimension == 2 ? 1.0 - gauss : std::erf(v / std::sqrt(2.0)) - std::sqrt(2.0 / kPi) * v * gauss;
        largest = std::max({largest, std::abs(law - static_cast<double>(k) / count),
                            std::abs(law - static_cast<double>(k + 1) / count)});
    }
    return largest;
}

}  // namespace carom::test
