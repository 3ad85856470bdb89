#include "kernels/cuda/cuda_brick.hpp"
#include "kernels/cuda/cuda_engine_impl.hpp"

namespace carom::CAROM_PROCESSOR {

template std::unique_ptr<SpringEngine> make_engine_of<float, 3>(const SpringSetup&, const RawBalls&, std::uint64_t,
                                                                const Tallies&, const CrewOptions&);
template std::unique_ptr<BrickEngine> make_brick_of<float, 3>(Transport&, const SpringSetup*, const RawBalls*,
                                                              std::uint64_t, const std::array<int, 3>&);

}  // namespace carom::CAROM_PROCESSOR
