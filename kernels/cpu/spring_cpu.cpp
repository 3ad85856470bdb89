#include "kernels/cpu/spring_cpu.hpp"

#include "kernels/cpu/cpu_engine.hpp"

namespace carom {

std::unique_ptr<SpringEngine> make_cpu_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                              const SpringTallies& tallies) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? make_cpu_engine_of<double, 2>(setup, balls, step, tallies)
                                    : make_cpu_engine_of<double, 3>(setup, balls, step, tallies);
    }
    return setup.dimension == 2 ? make_cpu_engine_of<float, 2>(setup, balls, step, tallies)
                                : make_cpu_engine_of<float, 3>(setup, balls, step, tallies);
}

}  // namespace carom
