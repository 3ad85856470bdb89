// The device that executes kernels (device.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instructions.hpp"

// For objects that nvcc's host code may use before main: it registers kernels in constructors of its own.
#define PTX_EARLY __attribute__((init_priority(101)))

namespace ptx {

enum class Order { kForward, kReverse, kShuffled };
enum class Schedule { kEager, kLazy, kRandom };

/// What the environment sets: see README.md.
struct Settings {
    std::string modules;                          ///< PTX_MODULES: folders of translated modules, with colons between
    Schedule schedule = Schedule::kLazy;          ///< PTX_SCHEDULE: when queued work is done
    Order order = Order::kForward;                ///< PTX_ORDER: of threads and blocks
    std::uint64_t seed = 1;                       ///< PTX_SEED
    int poison = 0xcc;                            ///< PTX_POISON: fresh memory
    std::size_t memory = std::size_t{8} << 30;    ///< PTX_MEMORY: of the device [bytes]
    int processors = 8;                           ///< PTX_PROCESSORS: of the device
    bool clusters = true;                         ///< PTX_CLUSTERS=0: it has no clusters
    bool cooperative = true;                      ///< PTX_COOPERATIVE=0: it has no cooperative launches
    std::size_t pinned_blocks = ~std::size_t{0};  ///< PTX_PINNED: of the host's memory, at a time
    bool tight = false;                           ///< PTX_TIGHT: blocks end at their last byte but 15
    bool check = false;                           ///< PTX_CHECK: these modules check every access
    bool pageable_late = false;  ///< PTX_PAGEABLE=late: copies with pageable memory run as late as others
    bool strict_free = false;    ///< PTX_FREE=strict: cudaFree does not wait
    bool stats = false;          ///< PTX_STATS: what was done, at the end
    bool trace = false;          ///< PTX_TRACE: every call
    std::string ptxas;           ///< PTX_PTXAS: report of registers
    std::string count;           ///< PTX_COUNT: file for what was executed, in modules that count
};
const Settings& settings();

/// What the device does now, for messages.
struct Running {
    const Kernel* kernel = nullptr;
    const Thread* thread = nullptr;
    void* fibre = nullptr;
    const std::uint8_t* shared = nullptr;
    std::uint32_t shared_bytes = 0;
    const std::uint8_t* team_shared = nullptr;  // of the first block that runs at a time
    std::size_t shared_apart = 0;               // from one block's to the next one's
    std::uint32_t team_size = 0;
    const std::uint8_t* params = nullptr;
};
extern Running g_running;

/// xorshift: the same series everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x1234567) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    std::uint64_t below(std::uint64_t n) { return (next() >> 11) % n; }
    template <class T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::uint64_t state_;
};

/// What the warps of a kernel have executed, all together: an instruction counts once for all lanes that execute it at
/// a time, and lanes meet again at each label, as they do at best.
struct Counts {
    std::uint64_t warps = 0, instructions = 0, loads = 0, stores = 0, atomics = 0;
    std::uint64_t thread_instructions = 0, bytes_loaded = 0, bytes_stored = 0;  ///< of single lanes

    /// \param threads  of one block: for each how often each straight was executed
    void add(const Straight* straights, int straight_count, const std::vector<std::uint32_t>& threads);
};

/// \param module  of the kernel
/// \param counts  what is executed is added to, if not null and the module counts
/// \param team    blocks that run at a time: 1, a cluster, or all
void run_grid(const Module& module, Counts* counts, const Kernel& kernel, const std::uint32_t grid[3],
              const std::uint32_t block[3], std::uint32_t team, std::uint32_t dynamic_shared,
              const std::uint8_t* params, Order order);
void seed_order(std::uint64_t seed);

/// A defect of the program: said with where the host is, then the process ends (status 86).
[[noreturn]] void fail(const std::string& what);
/// Said at once, and counted; the program goes on.
void remark(const std::string& what);
void remark_once(const std::string& what);
void report_access(const std::string& where, const char* does, std::uintptr_t at, unsigned bytes, const char* what);
std::string short_name(const char* mangled);

}  // namespace ptx
