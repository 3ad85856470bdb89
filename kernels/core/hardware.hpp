#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace carom {

/// Asks for the cache line at `address`, to be there when it is needed; any address does no harm.
[[gnu::always_inline]] inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    // g++ takes a function that does nothing but this for one without effect, and drops the calls of it.
    asm volatile("");
}

/// Of what one thread writes all the time and lies beside what another one does: were both in one cache line, or in two
/// that processors fetch together, each write would take it away from the other thread.
constexpr std::size_t kThreadsApart = 128;

/// How far behind a page's start the next large array begins, 0 to 3,840 bytes, in turn. Cache lines whose addresses
/// are equal modulo 4,096 share the few places of one set of the nearest cache (8 in most processors). Arrays that all
/// began with a page would put what a step reads and writes of one ball, 12 lines in 3D, into one set, and throw out
/// each other. (Counted by cachegrind for 32 kB with 8 ways, 10^5 balls in 3D: 0.58 times as many misses; in 2D, where
/// there are 8 lines, 0.96.)
inline std::size_t next_colour() {
    static std::atomic<std::uint32_t> turn = 0;
    return turn.fetch_add(1, std::memory_order_relaxed) % 16 * std::size_t{256};
}

/// Memory for arrays that are read at random places: on a cache line's start, and, from 2 MB on, in large pages where
/// the system has them, or most accesses would wait for an address to be translated.
///
/// A large array is mapped by itself and not taken from the heap: what others have used and given back there consists
/// of small pages already, and asking for large ones changes nothing. (Measured: half of the event-driven solver's
/// records at 10^5 balls lay so, and it ran at two thirds of its speed.)
template <class T>
class PageAllocator {
public:
    using value_type = T;
    PageAllocator() = default;
    template <class U>
    explicit PageAllocator(const PageAllocator<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kColoured) return static_cast<T*>(::operator new(bytes, kLine));
        const std::size_t more = bytes + kSmall;
        void* const pages = more < kLarge ? ::operator new(more, kPage) : map(mapped(more));
        return reinterpret_cast<T*>(static_cast<char*>(pages) + next_colour());
    }
    void deallocate(T* data, std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kColoured) {
            ::operator delete(data, kLine);
            return;
        }
        const std::size_t more = bytes + kSmall;
        char* const pages = reinterpret_cast<char*>(data) - reinterpret_cast<std::uintptr_t>(data) % kSmall;
        if (more < kLarge) {
            ::operator delete(pages, kPage);
        } else {
            munmap(pages, mapped(more));
        }
    }
    friend bool operator==(PageAllocator, PageAllocator) { return true; }

private:
    static constexpr std::size_t kLarge = std::size_t{2} << 20;
    static constexpr std::size_t kSmall = 4096;
    static constexpr std::size_t kColoured = 32 * kSmall;  // the heap does not begin smaller ones with a page
    static constexpr std::align_val_t kLine{alignof(T) > 64 ? alignof(T) : 64};
    static constexpr std::align_val_t kPage{kSmall};

    static std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

    /// What is mapped for `bytes`: whole large pages if that wastes less than an eighth, else small ones at the end.
    static std::size_t mapped(std::size_t bytes) {
        const std::size_t large = rounded(bytes, kLarge);
        return large - bytes < bytes / 8 ? large : rounded(bytes, kSmall);
    }

    /// Fresh memory that begins with a large page: more than that is mapped, and both ends are given back.
    static void* map(std::size_t bytes) {
        void* found = mmap(nullptr, bytes + kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (found == MAP_FAILED) throw std::bad_alloc();
        char* const first = static_cast<char*>(found);
        const std::size_t before = (kLarge - reinterpret_cast<std::size_t>(first) % kLarge) % kLarge;
        if (before > 0) munmap(first, before);
        if (before < kLarge) munmap(first + before + bytes, kLarge - before);
#ifdef MADV_HUGEPAGE
        madvise(first + before, bytes, MADV_HUGEPAGE);  // only advice: its failure changes nothing
#endif
        return first + before;
    }
};

/// An array in such memory.
template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

/// Memory of zeros, of which only those pages take room that are written to. It is zeros once: a vector of it may be
/// resized from nothing, and grows no more.
template <class T>
class ZeroAllocator {
public:
    using value_type = T;
    ZeroAllocator() = default;
    template <class U>
    explicit ZeroAllocator(const ZeroAllocator<U>&) {}

    T* allocate(std::size_t count) {
        constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* const found = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, kKind, -1, 0);
        if (found == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_NOHUGEPAGE
        madvise(found, count * sizeof(T), MADV_NOHUGEPAGE);  // or one that is written takes 2 MB
#endif
        return static_cast<T*>(found);
    }
    void deallocate(T* data, std::size_t count) { munmap(data, count * sizeof(T)); }
    /// Where no value is given, that is what is there.
    void construct(T*) {}
    template <class... Values>
    void construct(T* at, Values&&... values) {
        ::new (static_cast<void*>(at)) T(std::forward<Values>(values)...);
    }
    friend bool operator==(ZeroAllocator, ZeroAllocator) { return true; }
};

/// As processor_name, asked anew.
inline std::string read_processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "CPU";
}

/// Of the machine's CPU, as its maker writes it; "CPU" where the system does not tell. Asked for once: each solver of a
/// sweep wants it, and the system takes a while.
inline const std::string& processor_name() {
    static const std::string name = read_processor_name();
    return name;
}

}  // namespace carom
