#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "kernels/cuda/processor.hpp"

namespace carom::CAROM_PROCESSOR {

#if defined(CAROM_EMULATED)

inline void* allocate_device(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{256}); }
inline void free_device(void* place) noexcept { ::operator delete (place, std::align_val_t{256}); }
inline void poison_device(void* place, std::size_t bytes) { std::memset(place, 0xff, bytes); }
inline void* allocate_pinned(std::size_t bytes) { return allocate_device(bytes); }
inline void free_pinned(void* place) noexcept { free_device(place); }

#else

inline void* allocate_device(std::size_t bytes) {
    void* place = nullptr;
    check(cudaMalloc(&place, bytes), "cudaMalloc");
    return place;
}
inline void free_device(void* place) noexcept { cudaFree(place); }
inline void poison_device(void* place, std::size_t bytes) {
    check(cudaMemset(place, 0xff, bytes), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // our streams do not wait for the one that it runs in
}
inline void* allocate_pinned(std::size_t bytes) {
    void* place = nullptr;
    check(cudaMallocHost(&place, bytes), "cudaMallocHost");
    return place;
}
inline void free_pinned(void* place) noexcept { cudaFreeHost(place); }

#endif

struct DeviceMemory {
    static void* allocate(std::size_t bytes) {
        void* place = allocate_device(bytes);
#if !defined(NDEBUG)
        // Reading what nobody wrote gives NaN and ids far out of range, not whatever was there before.
        poison_device(place, bytes);
#endif
        return place;
    }
    static void release(void* place) noexcept { free_device(place); }
};

/// Host memory that a copy can run to and from beside the host's work.
struct PinnedMemory {
    static void* allocate(std::size_t bytes) { return allocate_pinned(bytes); }
    static void release(void* place) noexcept { free_pinned(place); }
};

/// A block of plain values, owned; its contents are not set. Never of no bytes, so that data() is a place.
template <class T, class Memory>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Array() = default;
    explicit Array(std::size_t size)
        : data_(static_cast<T*>(Memory::allocate((size > 0 ? size : 1) * sizeof(T)))), size_(size) {}
    Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Array& operator=(Array&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Array() {
        if (data_ != nullptr) Memory::release(data_);
    }

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
using DeviceArray = Array<T, DeviceMemory>;
template <class T>
using PinnedArray = Array<T, PinnedMemory>;

}  // namespace carom::CAROM_PROCESSOR
