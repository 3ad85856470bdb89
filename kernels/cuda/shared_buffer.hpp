#pragma once

#include <memory>

#include "kernels/core/picture.hpp"
#include "kernels/cuda/queue.hpp"

namespace carom::CAROM_PROCESSOR {

/// A buffer of OpenGL's current context, registered with CUDA; emulated: null, there is nothing to register with.
/// \throws std::runtime_error  OpenGL draws on something else than the GPU in use
std::unique_ptr<SharedBuffer> register_buffer(unsigned buffer);

}  // namespace carom::CAROM_PROCESSOR
