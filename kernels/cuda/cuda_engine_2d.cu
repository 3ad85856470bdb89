#include "kernels/cuda/cuda_engine_impl.hpp"

namespace carom::CAROM_PROCESSOR {

template std::unique_ptr<SpringEngine> make_engine_of<double, 2>(const SpringSetup&, const RawBalls&, std::uint64_t,
                                                                 const Tallies&);

}  // namespace carom::CAROM_PROCESSOR
