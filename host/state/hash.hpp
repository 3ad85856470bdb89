#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace carom {

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection in which each input bit reaches each output bit.
inline std::uint64_t mix_bits(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// A hash with one more word behind what it is of.
inline std::uint64_t absorb_bits(std::uint64_t hash, std::uint64_t word) {
    return mix_bits(hash + 0x9e3779b97f4a7c15ULL + word);
}

/// The same of all bytes, eight at a time.
inline std::uint64_t absorb_words(std::uint64_t hash, const void* bytes, std::size_t size) {
    const auto* at = static_cast<const char*>(bytes);
    while (size > 0) {
        std::uint64_t word = 0;
        const std::size_t part = size < sizeof(word) ? size : sizeof(word);
        std::memcpy(&word, at, part);
        hash = absorb_bits(hash, word);
        at += part;
        size -= part;
    }
    return hash;
}

/// The same of all bytes, after how many there are.
inline std::uint64_t absorb_bytes(std::uint64_t hash, const void* bytes, std::size_t size) {
    return absorb_words(absorb_bits(hash, size), bytes, size);
}

}  // namespace carom
