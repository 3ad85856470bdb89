#include "kernels/cpu/cpu_engine_impl.hpp"

namespace carom {

template std::unique_ptr<SpringEngine> make_cpu_engine_of<double, 3>(const SpringSetup&, const RawBalls&, std::uint64_t,
                                                                     const Tallies&);

}  // namespace carom
