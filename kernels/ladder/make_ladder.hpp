#pragma once

#include <memory>
#include <stdexcept>

#include "kernels/ladder/copy.hpp"
#include "kernels/ladder/integrate.hpp"
#include "kernels/ladder/textbook.hpp"

namespace carom {

/// kIntegrate or kTextbook over a new executor of type `Executor`, which is made from `arguments`.
/// \throws std::invalid_argument  ladder_refusal
template <class Executor, class... Arguments>
std::unique_ptr<LadderEngine> make_ladder_over(LadderRung rung, const SpringSetup& setup, const RawBalls& balls,
                                               const Arguments&... arguments) {
    if (const char* why = ladder_refusal(setup, balls); *why != 0) throw std::invalid_argument(why);
    const auto make = [&]<class Real, int Dim>() -> std::unique_ptr<LadderEngine> {
        if (rung == LadderRung::kIntegrate) {
            return std::make_unique<IntegrateRung<Real, Dim, Executor>>(Executor(arguments...), setup, balls);
        }
        return std::make_unique<TextbookRung<Real, Dim, Executor>>(Executor(arguments...), setup, balls);
    };
    if (setup.double_precision) {
        return setup.dimension == 2 ? make.template operator()<double, 2>() : make.template operator()<double, 3>();
    }
    return setup.dimension == 2 ? make.template operator()<float, 2>() : make.template operator()<float, 3>();
}

}  // namespace carom
