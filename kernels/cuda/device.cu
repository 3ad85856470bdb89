// Devices, their errors, streams; where these sources are emulated, the errors that a test wants.

#include <stdexcept>
#include <string>

#include "kernels/cuda/queue.hpp"

#if defined(CAROM_EMULATED)

#include <atomic>
#include <charconv>
#include <cstdlib>

namespace carom::emulated {

namespace {

struct WantedFault {
    std::string kind;  // empty: none
    std::uint64_t at = 0;

    static WantedFault read() {
        const char* const text = std::getenv("CAROM_DEVICE_FAULT");
        if (text == nullptr) return {};
        const std::string words = text;
        const std::size_t colon = words.find(':');
        WantedFault fault{.kind = words.substr(0, colon)};
        const char* const end = words.data() + words.size();
        if (colon == std::string::npos || std::from_chars(words.data() + colon + 1, end, fault.at).ptr != end) {
            throw std::invalid_argument("CAROM_DEVICE_FAULT is KIND:N");
        }
        return fault;
    }
};

}  // namespace

void device_call(const char* kind) {
    static const WantedFault wanted = WantedFault::read();
    static std::atomic<std::uint64_t> calls{0};  // frames are waited for in a thread of their own
    if (wanted.kind.empty()) return;
    const bool lost = wanted.kind == "lost";
    if (!lost && wanted.kind != kind) return;
    const std::uint64_t number = ++calls;
    if (number == wanted.at || (lost && number > wanted.at)) {
        throw std::runtime_error(std::string(kind) + " failed on " + device_name() + ": " + (lost ? "lost" : "wanted"));
    }
}

void use_device(int) {}

}  // namespace carom::emulated

#else

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

StepLaunch StepLaunch::of(const void* kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlockThreads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device_number()),
          "cudaDeviceGetAttribute");
    return {.waits = attributes.ptxVersion >= kOverlapArch / 10,
            .wave = static_cast<unsigned>(std::max(1, blocks * processors))};
}

void use_device(int number) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (count > 0) check(cudaSetDevice(number % count), "cudaSetDevice");
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
    for (cudaStream_t* stream : {&aside_, &branch_}) {
        check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    for (cudaEvent_t* event : {&written_, &copied_, &forked_, &joined_}) {
        check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate");
    }
}

Queue::~Queue() {
    // Also behind a failure, so nothing is checked. Work still queued must not outlive the arrays it uses.
    for (cudaStream_t stream : {stream_, aside_}) {
        if (stream != nullptr) cudaStreamSynchronize(stream);
    }
    for (cudaEvent_t event : {written_, copied_, forked_, joined_}) {
        if (event != nullptr) cudaEventDestroy(event);
    }
    for (cudaStream_t stream : {branch_, aside_, stream_}) {
        if (stream != nullptr) cudaStreamDestroy(stream);
    }
}

}  // namespace cuda

std::vector<CudaDevice> list_cuda_devices(std::string* why) {
    std::vector<CudaDevice> devices;
    const auto none = [&](std::string reason) {
        cudaGetLastError();
        if (why != nullptr) *why = std::move(reason);
        return devices;
    };
    const auto version = [](int number) {
        return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    int driver = 0;  // 0 where none is installed: asking costs nothing
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return none("no driver was found");
    int count = 0;
    const cudaError_t counted = cudaGetDeviceCount(&count);
    if (counted == cudaErrorInsufficientDriver) {
        return none("the driver is for CUDA " + version(driver) + ", older than this build's " +
                    version(CUDART_VERSION));
    }
    if (counted == cudaErrorNoDevice || (counted == cudaSuccess && count == 0)) return none("no GPU was found");
    if (counted != cudaSuccess) return none(std::string("no GPU can be used: ") + cudaGetErrorString(counted));
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        devices.push_back(
            {properties.name, properties.totalGlobalMem, properties.major, properties.minor, version(driver)});
    }
    return devices;
}

}  // namespace carom

#endif
