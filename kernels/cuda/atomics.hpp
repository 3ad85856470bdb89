#pragma once

#include <cstdint>

#include "kernels/core/portability.hpp"
#include "kernels/cuda/processor.hpp"

// What threads of one kernel write together. Only integer additions, minima and maxima, so that order does not
// matter; non-negative floats are compared as the integers with the same bits, which order alike. On the host, where
// one thread runs everything, these are plain operations.

namespace carom::CAROM_PROCESSOR {

/// The bits of a non-negative float or double, as an integer that compares like it.
CAROM_HD std::uint32_t to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }
CAROM_HD std::uint64_t to_bits(double value) { return __builtin_bit_cast(std::uint64_t, value); }
CAROM_HD float from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
CAROM_HD double from_bits(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }

/// CUDA's atomic functions know 64-bit integers by this name alone; two's complement serves both signs.
template <class T>
CAROM_HD unsigned long long* as_cuda_word(T* place) {
    static_assert(sizeof(T) == 8);
    return reinterpret_cast<unsigned long long*>(place);
}

/// What other threads have written, past this processor's own cache.
template <class T>
CAROM_HD T load_shared(const T* place) {
    return *static_cast<const volatile T*>(place);
}

template <class T>
CAROM_HD void add_shared(T* place, T value) {
#if defined(__CUDA_ARCH__)
    atomicAdd(as_cuda_word(place), static_cast<unsigned long long>(value));
#else
    *place += value;
#endif
}

CAROM_HD void lower_shared(std::uint64_t* place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    atomicMin(as_cuda_word(place), static_cast<unsigned long long>(value));
#else
    if (value < *place) *place = value;
#endif
}

/// Most values do not raise a maximum: reading first spares the write.
template <class Word>
CAROM_HD void raise_shared(Word* place, Word value) {
    if (!(value > load_shared(place))) return;
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Word) == 4) {
        atomicMax(place, value);
    } else {
        atomicMax(as_cuda_word(place), static_cast<unsigned long long>(value));
    }
#else
    *place = value;
#endif
}

/// The largest values that the balls of a step show, as bits.
template <class Word>
struct StepPeaks {
    Word speed_squared = 0;
    Word overlap = 0;

    CAROM_HD void raise(const StepPeaks& other) {
        if (other.speed_squared > speed_squared) speed_squared = other.speed_squared;
        if (other.overlap > overlap) overlap = other.overlap;
    }
};

/// True for one caller: the last of `callers`, each of which has called once. What the others wrote before is then
/// visible to load_shared. For use by one thread of a block, behind a barrier of the block.
CAROM_HD bool last_of(std::uint32_t* tickets, std::uint32_t callers) {
#if defined(__CUDA_ARCH__)
    __threadfence();
    const bool last = atomicAdd(tickets, 1U) == callers - 1;
    __threadfence();
    return last;
#else
    return ++*tickets == callers;
#endif
}

}  // namespace carom::CAROM_PROCESSOR
