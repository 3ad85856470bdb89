#pragma once

// What these sources are compiled for. The same .cu files are compiled twice: by nvcc for the GPU, and by the host
// compiler, with Thrust's host device system, as the backend `emulated` that tests use where there is no GPU. Each
// in a namespace of its own, so that both link into one program. What differs between the two is in this header,
// atomics.hpp, queue.hpp, device_array.hpp and scratch.hpp, and nowhere else.

#if defined(CAROM_EMULATED)
#define CAROM_PROCESSOR emulated
#else
#define CAROM_PROCESSOR cuda
#endif

#include <cstddef>
#include <cstdint>
#include <string>

namespace carom::CAROM_PROCESSOR {

/// The GPU in use, or "emulated".
std::string device_name();

}  // namespace carom::CAROM_PROCESSOR

#if !defined(CAROM_EMULATED)

#include <cuda_runtime.h>

namespace carom::cuda {

/// Turns the failure of a CUDA call into an exception that names the call and the device: the one place that does.
/// \throws std::runtime_error
void check(cudaError_t status, const char* call);

/// \throws std::runtime_error  when the device has less than `bytes` free, with how many of `balls` would fit
void require_memory(std::uint64_t bytes, std::size_t balls);

}  // namespace carom::cuda

#endif
