#include "kernels/cuda/crew.hpp"

#if !defined(CAROM_EMULATED)

namespace carom::cuda {

namespace {

int attribute(cudaDeviceAttr what) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, what, device_number()), "cudaDeviceGetAttribute");
    return value;
}

cudaLaunchAttribute cluster_of(unsigned blocks) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    return attribute;
}

}  // namespace

bool crews_work() { return attribute(cudaDevAttrCooperativeLaunch) != 0; }

CrewRoom CrewRoom::of(const void* kernel, std::size_t shared) {
    CrewRoom room;
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlockThreads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    room.alone = static_cast<unsigned>(blocks * attribute(cudaDevAttrMultiProcessorCount));
    room.grids = crews_work();
    if (attribute(cudaDevAttrClusterLaunch) == 0) return room;
    // Of code for older devices, which the driver has translated for this one, no block waits for its cluster.
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    if (attributes.ptxVersion < kOverlapArch / 10) return room;
    // More than 8 are had by asking, and much memory; where they are not, that is no failure.
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    room.shared = shared;
    for (std::size_t k = 0; k < std::size(kSizes); ++k) {
        cudaLaunchAttribute cluster = cluster_of(kSizes[k]);
        cudaLaunchConfig_t config{};
        config.gridDim = kSizes[k];
        config.blockDim = kBlockThreads;
        config.dynamicSmemBytes = shared;
        config.attrs = &cluster;
        config.numAttrs = 1;
        int clusters = 0;
        if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) != cudaSuccess) clusters = 0;
        room.clustered[k] = static_cast<unsigned>(clusters) * kSizes[k];
    }
    cudaGetLastError();
    return room;
}

CrewShape CrewRoom::shape(std::uint64_t crews, std::uint64_t balls) const {
    const std::uint64_t wanted = (balls + kBlockThreads - 1) / kBlockThreads;
    if (crews > 1 || balls <= kClusterBalls) {
        // Smaller ones where there are many, so that all are at work at a time.
        for (std::size_t k = 0; k < std::size(kSizes); ++k) {
            if (kSizes[k] / 2 < wanted && kSizes[k] * crews <= clustered[k]) return {.blocks = kSizes[k]};
        }
    }
    if (crews > 1 || wanted <= 1 || !grids) return {};
    return {.blocks = static_cast<unsigned>(std::min<std::uint64_t>(wanted, alone)), .grid = true};
}

bool CrewRoom::shape_holder(std::uint64_t balls, CrewShape& shape) const {
    shape = {.blocks = 0, .shared = shared};
    for (std::size_t k = 0; k < std::size(kSizes); ++k) {  // the smallest that will do comes last
        if (std::uint64_t{kSizes[k]} * kBlockThreads >= balls && kSizes[k] <= clustered[k]) shape.blocks = kSizes[k];
    }
    return shape.blocks > 0;
}

void launch_crews(const Queue& queue, const void* kernel, std::size_t crews, const CrewShape& shape, void** arguments) {
    cudaLaunchAttribute how = cluster_of(shape.blocks);
    if (shape.grid) {
        how = {};
        how.id = cudaLaunchAttributeCooperative;
        how.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(crews * shape.blocks);
    config.blockDim = kBlockThreads;
    config.dynamicSmemBytes = shape.shared;
    config.stream = queue.stream();
    config.attrs = &how;
    config.numAttrs = shape.grid || shape.blocks > 1 ? 1 : 0;
    check(cudaLaunchKernelExC(&config, kernel, arguments), "kernel launch");
}

}  // namespace carom::cuda

#endif
