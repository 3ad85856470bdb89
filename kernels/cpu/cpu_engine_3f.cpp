#include "kernels/cpu/cpu_brick.hpp"
#include "kernels/cpu/cpu_engine_impl.hpp"

namespace carom {

template std::unique_ptr<SpringEngine> make_cpu_engine_of<float, 3>(const SpringSetup&, const RawBalls&, std::uint64_t,
                                                                    const Tallies&);
template std::unique_ptr<BrickEngine> make_cpu_brick_of<float, 3>(Transport&, const SpringSetup*, const RawBalls*,
                                                                  std::uint64_t, const std::array<int, 3>&);

}  // namespace carom
