#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Allocations that fail, in carom_rehearsal alone: with CAROM_MEMORY_FAULT=N in the environment the N-th of the
// program, and with CAROM_MEMORY_FAULT=N+ all from that one on. Allocations of C libraries (HDF5, those of threads) are
// not among them.

namespace {

std::atomic<long> allocations{0};

struct MemoryFault {
    long at = 0;  // none
    bool for_ever = false;

    MemoryFault() {
        const char* wish = std::getenv("CAROM_MEMORY_FAULT");
        char* end = nullptr;
        if (wish != nullptr) at = std::strtol(wish, &end, 10);
        for_ever = end != nullptr && *end == '+';
    }
};

bool fails() {
    static const MemoryFault fault;
    const long now = ++allocations;
    return fault.at > 0 && (now == fault.at || (fault.for_ever && now > fault.at));
}

void* allocated(std::size_t bytes, std::size_t alignment) {
    void* block = nullptr;
    if (fails() || posix_memalign(&block, alignment, bytes) != 0) throw std::bad_alloc();
    return block;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { std::free(block); }
