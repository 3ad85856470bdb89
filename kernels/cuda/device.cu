// What only CUDA has: devices, their errors, streams. Empty where these sources are emulated.

#include "kernels/cuda/queue.hpp"

#if !defined(CAROM_EMULATED)

#include <stdexcept>
#include <string>

#include "kernels/cuda/spring_cuda.hpp"

namespace carom {

namespace cuda {

std::string device_name() {
    cudaDeviceProp properties{};
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return "GPU";
    return properties.name;
}

void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // so that a later call is not blamed for it
    std::string message = std::string(call) + " failed on " + device_name() + ": " + cudaGetErrorString(status);
    if (status == cudaErrorNoKernelImageForDevice) message += " (this build has no code for its compute capability)";
    throw std::runtime_error(message);
}

void require_memory(std::uint64_t bytes, std::size_t balls) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    if (bytes <= free_bytes) return;
    const double share = static_cast<double>(free_bytes) / static_cast<double>(bytes);
    throw std::runtime_error(
        std::to_string(balls) + " balls need " + std::to_string(bytes) + " bytes on " + device_name() +
        ", of whose memory " + std::to_string(free_bytes) + " bytes are free: at most about " +
        std::to_string(static_cast<std::uint64_t>(share * static_cast<double>(balls))) + " balls would fit");
}

Queue::Queue() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&aside_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&written_, cudaEventDisableTiming), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "cudaEventCreate");
}

Queue::~Queue() {
    // Also behind a failure, so nothing is checked. Work still queued must not outlive the arrays it uses.
    if (stream_ != nullptr) cudaStreamSynchronize(stream_);
    if (aside_ != nullptr) cudaStreamSynchronize(aside_);
    if (copied_ != nullptr) cudaEventDestroy(copied_);
    if (written_ != nullptr) cudaEventDestroy(written_);
    if (aside_ != nullptr) cudaStreamDestroy(aside_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

}  // namespace cuda

std::vector<CudaDevice> list_cuda_devices() {
    std::vector<CudaDevice> devices;
    int driver = 0;  // 0 where none is installed: asking costs nothing
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        cudaGetLastError();
        return devices;
    }
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return devices;
    }
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        devices.push_back({properties.name, properties.totalGlobalMem, properties.major, properties.minor,
                           std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10)});
    }
    return devices;
}

}  // namespace carom

#endif
