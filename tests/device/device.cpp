// The device: executes translated kernels, block after block. Threads of a kernel with barriers or warp operations are
// fibres, each with a stack of its own, that run until they wait for one another; those of other kernels just run.
#include "device.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "memory.hpp"

extern "C" void ptx_switch(void** save, void* load);
// Saves the callee-saved registers on this stack, its pointer in *save, and goes on where `load` was saved.
asm(R"(
.text
.globl ptx_switch
.type ptx_switch,@function
ptx_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size ptx_switch,.-ptx_switch
)");

namespace ptx {

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

enum class State : std::uint8_t { kReady, kAtWarp, kAtBarrier, kAtCluster, kDone };
enum class Meeting : std::uint8_t { kSync, kShuffle, kVote, kMatch, kReduce };

struct Fibre {
    Thread thread;
    void* stack = nullptr;
    void* saved = nullptr;
    State state = State::kReady;
    // What it waits for, and what it brings and gets.
    Meeting meeting{};
    int line = 0;
    std::uint32_t mask = 0;
    std::uint64_t value = 0;
    std::uint64_t out = 0;
    std::uint32_t barrier = 0, barrier_count = 0;
    bool barrier_value = false;
    bool yielded = false;  // it could have gone on, but lets others
};

PTX_EARLY std::vector<void*> g_stacks;

}  // namespace

struct Block {
    const Kernel* kernel;
    const std::uint8_t* params;
    std::uint8_t* shared;
    std::vector<Fibre> fibres;
    std::vector<std::uint32_t> clocks;  // Thread::clocks
    void* main = nullptr;
    std::uint32_t live = 0;
};

Running g_running{};

namespace {

PTX_EARLY Random g_order(1);
PTX_EARLY std::map<std::uintptr_t, std::vector<std::uint32_t>> g_released;  // the clocks that a place was released with

std::string where(const Thread& t, int line) {
    char text[256];
    std::snprintf(text, sizeof text, "block (%u,%u,%u), thread (%u,%u,%u), PTX line %d of ", t.ctaid[0], t.ctaid[1],
                  t.ctaid[2], t.tid[0], t.tid[1], t.tid[2], line);
    return text + std::string(g_running.kernel != nullptr ? short_name(g_running.kernel->name) : "?");
}

void entry_point() {
    Fibre* const self = static_cast<Fibre*>(g_running.fibre);
    Block* const block = self->thread.block;
    block->kernel->run(self->thread, block->params);
    self->state = State::kDone;
    --block->live;
    ptx_switch(&self->saved, block->main);
    __builtin_trap();
}

void prepare(Fibre& fibre) {
    auto* top = reinterpret_cast<std::uint64_t*>(static_cast<char*>(fibre.stack) + kStackBytes);
    *--top = 0;  // return address of entry_point: none
    *--top = reinterpret_cast<std::uint64_t>(&entry_point);
    for (int i = 0; i < 6; ++i) *--top = 0;
    fibre.saved = top;
    fibre.state = State::kReady;
}

void leave(Fibre& self) { ptx_switch(&self.saved, self.thread.block->main); }

Fibre& fibre_of(Thread& t) { return t.block->fibres[t.linear]; }

/// Answers a meeting of the lanes in `who` of a warp.
void answer(Block& block, Fibre& any, std::uint32_t first, std::uint32_t who) {
    switch (any.meeting) {
        case Meeting::kSync:
        case Meeting::kShuffle:
            break;  // each takes what it wants, below
        case Meeting::kVote: {
            std::uint32_t ballot = 0;
            for (std::uint32_t lane = 0; lane < 32; ++lane)
                if ((who >> lane & 1) != 0 && block.fibres[first + lane].value != 0) ballot |= 1U << lane;
            for (std::uint32_t lane = 0; lane < 32; ++lane)
                if ((who >> lane & 1) != 0) block.fibres[first + lane].out = ballot;
            break;
        }
        case Meeting::kMatch:
            for (std::uint32_t lane = 0; lane < 32; ++lane) {
                if ((who >> lane & 1) == 0) continue;
                std::uint32_t same = 0;
                for (std::uint32_t other = 0; other < 32; ++other)
                    if ((who >> other & 1) != 0 &&
                        block.fibres[first + other].value == block.fibres[first + lane].value)
                        same |= 1U << other;
                block.fibres[first + lane].out = same;
            }
            break;
        case Meeting::kReduce:
            break;
    }
}

/// Waits until all lanes of `mask` are at this instruction; true behind it. Values given stay readable until each
/// lane's next meeting, so `take` runs for all at once.
template <class Take>
void meet(Thread& t, Meeting meeting, std::uint32_t mask, std::uint64_t value, int line, Take&& take) {
    Block& block = *t.block;
    Fibre& self = fibre_of(t);
    const std::uint32_t first = t.linear - t.lane;
    if ((mask >> t.lane & 1) == 0) fail(where(t, line) + ": a warp operation by a lane that its mask leaves out");
    self.meeting = meeting;
    self.line = line;
    self.mask = mask;
    self.value = value;
    self.state = State::kAtWarp;
    std::uint32_t here = 0;
    bool all = true;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        const std::uint32_t index = first + lane;
        if (index >= block.fibres.size()) continue;  // a warp that is not full
        Fibre& other = block.fibres[index];
        if (other.state == State::kDone) {
            remark(where(t, line) + ": a warp operation names lanes that have ended");
            continue;
        }
        if (other.state == State::kAtWarp && other.line == line && other.mask == mask) {
            here |= 1U << lane;
        } else {
            all = false;
        }
    }
    if (!all) {
        leave(self);
        return;
    }
    answer(block, self, first, here);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((here >> lane & 1) == 0) continue;
        take(block.fibres[first + lane], first, here);
    }
    for (std::uint32_t lane = 0; lane < 32; ++lane)
        if ((here >> lane & 1) != 0) block.fibres[first + lane].state = State::kReady;
}

void join(std::vector<std::uint32_t>& clocks, const std::vector<std::uint32_t>& others) {
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) clocks[rank] = std::max(clocks[rank], others[rank]);
}

/// Lets those go on that wait at a barrier to which all that still live have come.
bool open_barriers(Block& block) {
    struct Waiting {
        std::uint32_t here = 0, yes = 0, count = 0;
    };
    Waiting waiting[16];
    for (const Fibre& fibre : block.fibres) {
        if (fibre.state != State::kAtBarrier) continue;
        Waiting& at = waiting[fibre.barrier];
        ++at.here;
        at.yes += fibre.barrier_value ? 1 : 0;
        at.count = fibre.barrier_count;
    }
    bool opened = false;
    for (std::uint32_t which = 0; which < 16; ++which) {
        const Waiting& at = waiting[which];
        if (at.here == 0 || at.here != (at.count == 0 ? block.live : at.count)) continue;
        if (at.count == 0 && at.here != block.fibres.size())
            remark_once("barrier with threads that have ended: " + std::string(short_name(block.kernel->name)));
        for (Fibre& fibre : block.fibres) {
            if (fibre.state != State::kAtBarrier || fibre.barrier != which) continue;
            fibre.out = at.yes | std::uint64_t{at.here} << 32;
            fibre.state = State::kReady;
            ++fibre.thread.stage;
        }
        opened = true;
    }
    return opened;
}

/// The same for the barrier of the cluster.
bool open_cluster(std::span<Block> team) {
    for (const Block& block : team)
        for (const Fibre& fibre : block.fibres)
            if (fibre.state != State::kAtCluster && fibre.state != State::kDone) return false;
    std::vector<std::uint32_t> all = team[0].clocks;
    for (Block& block : team) join(all, block.clocks);
    bool opened = false;
    for (std::size_t rank = 0; rank < team.size(); ++rank) {
        team[rank].clocks = all;
        if (!all.empty()) ++team[rank].clocks[rank];
        for (Fibre& fibre : team[rank].fibres) {
            if (fibre.state != State::kAtCluster) continue;
            if (!all.empty()) fibre.thread.clocks = team[rank].clocks.data();
            fibre.state = State::kReady;
            ++fibre.thread.stage;
            opened = true;
        }
    }
    return opened;
}

/// Runs blocks at a time, a thread after the other.
void run_team(std::span<Block> team, bool shuffled) {
    constexpr int kPatience = 10000;  // rounds in which threads do nothing but let others go first
    const auto n = static_cast<std::uint32_t>(team[0].fibres.size());
    static std::vector<std::uint32_t> order;
    order.resize(n);
    std::iota(order.begin(), order.end(), 0U);
    if (shuffled) g_order.shuffle(order);
    int in_vain = 0;
    while (true) {
        bool live = false;
        bool moved = false;
        bool yielded = false;
        for (std::uint32_t rank = 0; rank < team.size(); ++rank) {
            Block& block = team[rank];
            g_running.shared = block.shared;
            for (const std::uint32_t index : order) {
                Fibre& fibre = block.fibres[index];
                if (fibre.state != State::kReady) continue;
                g_running.fibre = &fibre;
                g_running.thread = &fibre.thread;
                ptx_switch(&block.main, fibre.saved);
                yielded = yielded || fibre.yielded;
                moved = moved || !fibre.yielded;
                fibre.yielded = false;
            }
            moved = open_barriers(block) || moved;
            live = live || block.live > 0;
        }
        if (!live) return;
        moved = open_cluster(team) || moved;
        in_vain = moved ? 0 : in_vain + 1;
        if (moved || (yielded && in_vain < kPatience)) continue;
        std::string text = "threads of a block wait for ever in " + std::string(short_name(team[0].kernel->name)) + ":";
        std::set<std::tuple<int, int, std::uint32_t>> seen;
        for (const Block& block : team) {
            for (const Fibre& fibre : block.fibres) {
                if (fibre.state == State::kDone || seen.size() > 8) continue;
                if (!seen.insert({static_cast<int>(fibre.state), fibre.line, fibre.mask}).second) continue;
                const char* const at = fibre.state == State::kAtWarp      ? "warp"
                                       : fibre.state == State::kAtBarrier ? "barrier"
                                       : fibre.state == State::kAtCluster ? "cluster"
                                                                          : "sleep";
                char line[128];
                std::snprintf(line, sizeof line, " [thread %u of block %u at PTX line %d, %s, mask %08x]",
                              fibre.thread.linear, fibre.thread.ctaid[0], fibre.line, at, fibre.mask);
                text += line;
            }
        }
        fail(text);
    }
}

}  // namespace

void barrier(Thread& t, std::uint32_t which, std::uint32_t count, int line) {
    Fibre& self = fibre_of(t);
    if (count % 32 != 0) fail(where(t, line) + ": barrier for a number of threads that is no multiple of 32");
    self.barrier = which;
    self.barrier_count = count;
    self.barrier_value = false;
    self.line = line;
    self.mask = 0;
    self.state = State::kAtBarrier;
    leave(self);
}

std::uint32_t barrier_reduce(Thread& t, std::uint32_t which, bool value, Reduce kind, int line) {
    Fibre& self = fibre_of(t);
    self.barrier = which;
    self.barrier_count = 0;
    self.barrier_value = value;
    self.line = line;
    self.mask = 0;
    self.state = State::kAtBarrier;
    leave(self);
    const auto yes = static_cast<std::uint32_t>(self.out);
    const auto all = static_cast<std::uint32_t>(self.out >> 32);
    if (kind == Reduce::kPopc) return yes;
    return kind == Reduce::kAnd ? yes == all : yes > 0;
}

/// Orders memory, too: what one of them has acquired, all see behind it.
void warp_sync(Thread& t, std::uint32_t mask, int line) {
    meet(t, Meeting::kSync, mask, t.acquired ? 1 : 0, line, [](Fibre& to, std::uint32_t first, std::uint32_t here) {
        to.out = 0;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            if ((here >> lane & 1) != 0) to.out |= to.thread.block->fibres[first + lane].value;
        }
    });
    if (fibre_of(t).out != 0) t.acquired = true;
}

std::uint32_t shuffle(Thread& t, Shuffle mode, std::uint32_t value, std::uint32_t b, std::uint32_t c,
                      std::uint32_t mask, bool& in, int line) {
    // b may differ from lane to lane: it travels in the upper half.
    meet(t, Meeting::kShuffle, mask, std::uint64_t{b} << 32 | value, line,
         [&, mode, c](Fibre& to, std::uint32_t first, std::uint32_t here) {
             const auto lane = static_cast<int>(to.thread.lane);
             const auto by = static_cast<int>(to.value >> 32 & 31);
             const auto clamp = static_cast<int>(c & 31);
             const auto segment = static_cast<int>(c >> 8 & 31);
             const int most = (lane & segment) | (clamp & ~segment);
             const int least = lane & segment;
             int from = lane;
             bool good = false;
             switch (mode) {
                 case Shuffle::kUp:
                     from = lane - by;
                     good = from >= most;
                     break;
                 case Shuffle::kDown:
                     from = lane + by;
                     good = from <= most;
                     break;
                 case Shuffle::kBfly:
                     from = lane ^ by;
                     good = from <= most;
                     break;
                 case Shuffle::kIdx:
                     from = least | (by & ~segment);
                     good = from <= most;
                     break;
             }
             if (!good) from = lane;
             std::uint32_t got = 0xdeadbeefU;  // from a lane that is not there: anything
             if ((here >> from & 1) != 0) {
                 got = static_cast<std::uint32_t>(t.block->fibres[first + static_cast<std::uint32_t>(from)].value);
             } else {
                 remark_once("shuffle from a lane that takes no part in " +
                             std::string(short_name(t.block->kernel->name)));
             }
             to.out = got | std::uint64_t{good} << 32;
         });
    const Fibre& self = fibre_of(t);
    in = (self.out >> 32 & 1) != 0;
    return static_cast<std::uint32_t>(self.out);
}

std::uint32_t vote(Thread& t, Vote mode, bool value, std::uint32_t mask, int line) {
    std::uint32_t all = 0;
    meet(t, Meeting::kVote, mask, value ? 1 : 0, line,
         [](Fibre& to, std::uint32_t, std::uint32_t here) { to.out |= std::uint64_t{here} << 32; });
    const Fibre& self = fibre_of(t);
    const auto ballot = static_cast<std::uint32_t>(self.out);
    all = static_cast<std::uint32_t>(self.out >> 32);
    switch (mode) {
        case Vote::kBallot:
            return ballot;
        case Vote::kAny:
            return ballot != 0;
        case Vote::kAll:
            return ballot == all;
        case Vote::kUni:
            return ballot == all || ballot == 0;
    }
    return 0;
}

std::uint32_t match_any(Thread& t, std::uint64_t value, std::uint32_t mask, int line) {
    meet(t, Meeting::kMatch, mask, value, line, [](Fibre&, std::uint32_t, std::uint32_t) {});
    return static_cast<std::uint32_t>(fibre_of(t).out);
}

std::uint32_t reduce_warp(Thread& t, Reduce kind, bool is_signed, std::uint32_t value, std::uint32_t mask, int line) {
    meet(t, Meeting::kReduce, mask, value, line, [&](Fibre& to, std::uint32_t first, std::uint32_t here) {
        bool begun = false;
        std::uint32_t sum = 0;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            if ((here >> lane & 1) == 0) continue;
            const auto v = static_cast<std::uint32_t>(t.block->fibres[first + lane].value);
            if (!begun) {
                sum = v;
                begun = true;
                continue;
            }
            const bool less = is_signed ? static_cast<std::int32_t>(v) < static_cast<std::int32_t>(sum) : v < sum;
            switch (kind) {
                case Reduce::kAdd:
                    sum += v;
                    break;
                case Reduce::kMin:
                    sum = less ? v : sum;
                    break;
                case Reduce::kMax:
                    sum = less ? sum : v;
                    break;
                case Reduce::kAnd:
                    sum &= v;
                    break;
                case Reduce::kOr:
                    sum |= v;
                    break;
                case Reduce::kXor:
                    sum ^= v;
                    break;
                case Reduce::kPopc:
                    break;
            }
        }
        to.out = sum;
    });
    return static_cast<std::uint32_t>(fibre_of(t).out);
}

std::uint32_t active_mask(Thread& t, int line) {
    // Which lanes run together is the hardware's affair: one alone is always right.
    remark_once("activemask in " + std::string(short_name(t.block->kernel->name)));
    (void)line;
    return 1U << t.lane;
}

void yield(Thread& t) {
    Fibre& self = fibre_of(t);
    self.state = State::kReady;
    self.yielded = true;
    leave(self);
}

void cluster_barrier(Thread& t, int line) {
    Fibre& self = fibre_of(t);
    self.line = line;
    self.mask = 0;
    self.state = State::kAtCluster;
    leave(self);
}

std::uint64_t in_block(Thread& t, std::uint64_t at, std::uint32_t rank, int line) {
    const auto own = reinterpret_cast<std::uint64_t>(t.shared);
    if (at < own || at >= own + t.total_shared) fail(where(t, line) + ": mapa of what is not in shared memory");
    if (rank >= t.team_size)
        fail(where(t, line) + ": mapa of block " + std::to_string(rank) + ", which is not in the cluster");
    return at + (std::uint64_t{rank} - t.team_rank) * t.shared_apart;
}

// Blocks of a team see what others did through places that these release and they acquire. A clock a block is enough:
// who of a block passes on what its other threads wrote has met them at a barrier, which is looked for there.

void release(Thread& t, std::uintptr_t at, bool replaces) {
    if (t.clocks == nullptr) return;
    std::vector<std::uint32_t>& mine = t.block->clocks;
    std::vector<std::uint32_t>& there = g_released[at];
    if (replaces || there.empty()) {
        there = mine;
    } else {
        join(there, mine);
    }
    ++mine[t.team_rank];
}

void acquire(Thread& t, std::uintptr_t at) {
    if (t.clocks == nullptr) return;
    const auto there = g_released.find(at);
    if (there != g_released.end()) join(t.block->clocks, there->second);
}

void trap(Thread& t, int line) { fail(where(t, line) + ": trap"); }
void misaligned(Thread& t, std::uintptr_t at, int bytes, int line) {
    char text[96];
    std::snprintf(text, sizeof text, ": %d bytes at %#zx, which is not aligned", bytes, static_cast<std::size_t>(at));
    fail(where(t, line) + text);
}
void division_by_zero(Thread& t, int line) { fail(where(t, line) + ": an integer divided by zero"); }

void call_assertfail(Thread& t, std::uint8_t* text, std::uint8_t* file, std::uint8_t* line, std::uint8_t* function,
                     std::uint8_t*) {
    const char* message = nullptr;
    const char* name = nullptr;
    const char* in = nullptr;
    std::uint32_t number = 0;
    std::memcpy(&message, text, 8);
    std::memcpy(&name, file, 8);
    std::memcpy(&in, function, 8);
    std::memcpy(&number, line, 4);
    fail(where(t, 0) + ": assertion " + message + " failed, " + name + ":" + std::to_string(number) + ", in " + in);
}
void call_vprintf(Thread&, std::uint8_t* result, std::uint8_t* format, std::uint8_t*) {
    const char* text = nullptr;
    std::memcpy(&text, format, 8);
    std::fprintf(stderr, "[device] %s", text);
    std::memset(result, 0, 4);
}
void call_malloc(Thread& t, std::uint8_t*, std::uint8_t*) { fail(where(t, 0) + ": malloc on the device"); }
void call_free(Thread& t, std::uint8_t*) { fail(where(t, 0) + ": free on the device"); }

bool is_space(Thread& t, Space space, std::uint64_t address) {
    const auto shared = reinterpret_cast<std::uint64_t>(t.shared);
    const bool in_shared = address >= shared && address < shared + t.total_shared;
    if (space == Space::kShared) return in_shared;
    if (space == Space::kGlobal) return device_memory_holds(address);
    return space == Space::kLocal && !in_shared && !device_memory_holds(address);
}

double approximate(Thread& t, int line, double value) {
    remark_once(where(t, line) + ": an approximate function");
    return value;
}

void fence(Thread& t) {
    if (t.released) t.acquired = true;
    t.released = false;
}
void count_atomic(Thread& t) { t.released = true; }

// -- checks of memory, in kernels translated with PTX_CHECK=1

void check_read(Thread& t, std::uintptr_t at, unsigned bytes, bool strong, int line) {
    const char* bad = check_device_read(t, at, bytes, strong);
    if (bad != nullptr) report_access(where(t, line), "reads", at, bytes, bad);
}
void check_write(Thread& t, std::uintptr_t at, unsigned bytes, bool strong, int line) {
    const char* bad = check_device_write(t, at, bytes, strong);
    if (bad != nullptr) report_access(where(t, line), "writes", at, bytes, bad);
}

// -- launches

void Counts::add(const Straight* straights, int straight_count, const std::vector<std::uint32_t>& threads) {
    const auto width = static_cast<std::size_t>(straight_count);
    const std::size_t size = threads.size() / width;
    for (std::size_t first = 0; first < size; first += 32) {
        ++warps;
        for (std::size_t which = 0; which < width; ++which) {
            std::uint64_t most = 0;
            std::uint64_t sum = 0;
            for (std::size_t lane = first; lane < std::min(first + 32, size); ++lane) {
                most = std::max<std::uint64_t>(most, threads[lane * width + which]);
                sum += threads[lane * width + which];
            }
            const Straight& straight = straights[which];
            instructions += most * straight.instructions;
            loads += most * straight.loads;
            stores += most * straight.stores;
            atomics += most * straight.atomics;
            thread_instructions += sum * straight.instructions;
            bytes_loaded += sum * straight.bytes_loaded;
            bytes_stored += sum * straight.bytes_stored;
        }
    }
}

void run_grid(const Module& module, Counts* counts, const Kernel& kernel, const std::uint32_t grid[3],
              const std::uint32_t block_size[3], std::uint32_t team_size, std::uint32_t dynamic_shared,
              const std::uint8_t* params, Order order) {
    const std::uint32_t threads = block_size[0] * block_size[1] * block_size[2];
    const std::uint32_t static_shared = (static_cast<std::uint32_t>(kernel.static_shared) + 15) / 16 * 16;
    const std::uint32_t total = static_shared + dynamic_shared;
    const std::size_t apart = (total + 1024 + 256 + 255) / 256 * 256;
    static std::vector<std::uint8_t> shared_memory;
    shared_memory.resize(apart * team_size + 256);
    auto* const shared =
        reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(shared_memory.data()) + 255) / 256 * 256);

    static std::vector<Block> blocks_at_a_time;
    blocks_at_a_time.resize(std::max<std::size_t>(blocks_at_a_time.size(), team_size));
    const std::span<Block> team(blocks_at_a_time.data(), team_size);
    while (kernel.synchronizes && g_stacks.size() < std::size_t{threads} * team_size) {
        void* memory = mmap(nullptr, kStackBytes + 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) fail("no memory for stacks");
        mprotect(memory, 4096, PROT_NONE);
        g_stacks.push_back(static_cast<char*>(memory) + 4096);
    }
    const std::uint64_t blocks = std::uint64_t{grid[0]} * grid[1] * grid[2];
    const std::uint64_t teams = blocks / team_size;
    // Blocks that wait for others are run in order, which is what makes waiting end.
    const bool free_order = order != Order::kForward && (!kernel.waits || std::strstr(kernel.name, "carom") != nullptr);
    std::vector<std::uint32_t> team_order;
    if (free_order && teams > 1) {
        team_order.resize(teams);
        std::iota(team_order.begin(), team_order.end(), 0U);
        if (order == Order::kReverse)
            std::reverse(team_order.begin(), team_order.end());
        else
            g_order.shuffle(team_order);
    }
    begin_launch(kernel);
    g_running.kernel = &kernel;
    g_running.shared = shared;
    g_running.shared_bytes = total;
    g_running.team_shared = shared;
    g_running.shared_apart = apart;
    g_running.team_size = team_size;
    g_running.params = params;
    std::vector<std::uint32_t> thread_order;
    const auto straights = static_cast<std::size_t>(module.straight_count);
    std::vector<std::uint32_t> executed(straights);
    for (std::uint64_t step = 0; step < teams; ++step) {
        const std::uint64_t first = (team_order.empty() ? step : team_order[step]) * team_size;
        if (counts != nullptr) executed.assign(straights * threads * team_size, 0);
        g_released.clear();
        for (std::uint32_t rank = 0; rank < team_size; ++rank) {
            const std::uint64_t index = first + rank;
            Block& block = team[rank];
            block.kernel = &kernel;
            block.params = params;
            block.shared = shared + rank * apart;
            block.live = threads;
            block.clocks.assign(team_size > 1 ? team_size : 0, 0);
            if (team_size > 1) block.clocks[rank] = 1;
            std::memset(block.shared, 0xcc, total);
            begin_block(rank, total);
            g_running.shared = block.shared;
            Thread thread{};
            thread.ctaid[0] = static_cast<std::uint32_t>(index % grid[0]);
            thread.ctaid[1] = static_cast<std::uint32_t>(index / grid[0] % grid[1]);
            thread.ctaid[2] = static_cast<std::uint32_t>(index / grid[0] / grid[1]);
            for (int axis = 0; axis < 3; ++axis) {
                thread.ntid[axis] = block_size[axis];
                thread.nctaid[axis] = grid[axis];
            }
            thread.shared = block.shared;
            thread.static_shared = static_shared;
            thread.dynamic_shared = dynamic_shared;
            thread.total_shared = total;
            thread.shared_apart = apart;
            thread.block = &block;
            thread.team_size = team_size;
            thread.team_rank = rank;
            thread.clocks = team_size > 1 ? block.clocks.data() : nullptr;
            const auto numbered = [&](std::uint32_t linear) {
                thread.linear = linear;
                thread.counts = executed.data() + (counts != nullptr ? (rank * threads + linear) * straights : 0);
                thread.tid[0] = linear % block_size[0];
                thread.tid[1] = linear / block_size[0] % block_size[1];
                thread.tid[2] = linear / block_size[0] / block_size[1];
                thread.lane = linear % 32;
                thread.warp = linear / 32;
                return thread;
            };
            if (!kernel.synchronizes) {
                if (free_order && order == Order::kShuffled) {
                    if (thread_order.size() != threads) {
                        thread_order.resize(threads);
                        std::iota(thread_order.begin(), thread_order.end(), 0U);
                    }
                    g_order.shuffle(thread_order);
                }
                for (std::uint32_t i = 0; i < threads; ++i) {
                    const std::uint32_t linear = !free_order                ? i
                                                 : order == Order::kReverse ? threads - 1 - i
                                                                            : thread_order[i];
                    Thread mine = numbered(linear);
                    g_running.thread = &mine;
                    kernel.run(mine, params);
                }
                continue;
            }
            block.fibres.resize(threads);
            for (std::uint32_t i = 0; i < threads; ++i) {
                Fibre& fibre = block.fibres[i];
                fibre.thread = numbered(i);
                fibre.stack = g_stacks[std::size_t{rank} * threads + i];
                prepare(fibre);
            }
        }
        if (kernel.synchronizes) run_team(team, free_order && order == Order::kShuffled);
        if (counts != nullptr && straights > 0) counts->add(module.straights, module.straight_count, executed);
    }
    g_running = {};
}

void seed_order(std::uint64_t seed) { g_order = Random(seed); }

}  // namespace ptx
