#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace carom {

/// Memory aligned to a cache line, as SIMD loads like it.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    explicit AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
    friend bool operator==(AlignedAllocator, AlignedAllocator) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace carom
