// Buffers that CUDA and OpenGL share.

#include <stdexcept>
#include <string>

#include "kernels/cuda/shared_buffer.hpp"

#if !defined(CAROM_EMULATED)
#include <algorithm>
#include <array>

// Of cuda_gl_interop.h, which includes GL/gl.h only to know that names are unsigned: so OpenGL's headers are not
// needed.
extern "C" {
cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource** resource, unsigned buffer,
                                                   unsigned flags);
cudaError_t CUDARTAPI cudaGLGetDevices(unsigned* count, int* devices, unsigned room, unsigned which);
}
#endif

namespace carom::CAROM_PROCESSOR {

#if defined(CAROM_EMULATED)

std::unique_ptr<SharedBuffer> register_buffer(unsigned) { return nullptr; }

#else

namespace {

/// Whether OpenGL's context draws on the GPU in use. Without this a buffer of another GPU could be registered, and each
/// picture would go through the host after all.
void require_same_device() {
    constexpr unsigned kAll = 1;  // cudaGLDeviceListAll
    std::array<int, 16> devices{};
    unsigned count = 0;
    if (cudaGLGetDevices(&count, devices.data(), static_cast<unsigned>(devices.size()), kAll) != cudaSuccess) {
        cudaGetLastError();
        throw std::runtime_error("OpenGL does not draw on a GPU of CUDA's");
    }
    int mine = 0;
    check(cudaGetDevice(&mine), "cudaGetDevice");
    const auto end = devices.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, devices.size()));
    if (std::find(devices.begin(), end, mine) == end) throw std::runtime_error("OpenGL draws on another GPU");
}

class RegisteredBuffer final : public SharedBuffer {
public:
    explicit RegisteredBuffer(unsigned buffer) {
        require_same_device();
        constexpr unsigned kReadAndWritten = 0;  // cudaGraphicsRegisterFlagsNone: samples are read back
        check(cudaGraphicsGLRegisterBuffer(&resource_, buffer, kReadAndWritten), "cudaGraphicsGLRegisterBuffer");
    }
    ~RegisteredBuffer() override {
        // Also behind a failure, so nothing is checked.
        if (mapped_) cudaGraphicsUnmapResources(1, &resource_, nullptr);
        cudaGraphicsUnregisterResource(resource_);
        cudaGetLastError();
    }
    RegisteredBuffer(const RegisteredBuffer&) = delete;
    RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;

    void* map() override {
        check(cudaGraphicsMapResources(1, &resource_, nullptr), "cudaGraphicsMapResources");
        mapped_ = true;
        // Mapping holds back what this stream does until OpenGL is done. The balls are written in another one, which
        // begins when this function is over.
        check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
        void* place = nullptr;
        std::size_t bytes = 0;
        check(cudaGraphicsResourceGetMappedPointer(&place, &bytes, resource_), "cudaGraphicsResourceGetMappedPointer");
        return place;
    }

    void unmap() override {
        mapped_ = false;
        check(cudaGraphicsUnmapResources(1, &resource_, nullptr), "cudaGraphicsUnmapResources");
    }

private:
    cudaGraphicsResource* resource_ = nullptr;
    bool mapped_ = false;
};

}  // namespace

std::unique_ptr<SharedBuffer> register_buffer(unsigned buffer) { return std::make_unique<RegisteredBuffer>(buffer); }

#endif

}  // namespace carom::CAROM_PROCESSOR
