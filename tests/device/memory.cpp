#include "memory.hpp"

#include <execinfo.h>
#include <immintrin.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ptx {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kArena = std::size_t{1} << 40;
constexpr std::uint8_t kCanary = 0x5a;

/// Who touched a byte last, in a launch.
struct Touch {
    std::uint32_t launch = 0;
    std::uint32_t writer = 0;  // thread of the grid, from 1
    std::uint32_t reader = 0;
    std::uint32_t writer_stage = 0, reader_stage = 0;
    std::uint32_t writer_clock = 0, reader_clock = 0;  // of its block
    bool writer_strong = false, reader_strong = false;
};

struct BlockOfMemory {
    std::size_t bytes = 0;
    std::size_t number = 0;
    std::uint8_t* pages = nullptr;
    std::size_t page_bytes = 0;
    bool freed = false;
    std::vector<std::uint8_t> written;  // one a byte; only with checks
    std::vector<Touch> touched;
};

struct Pinned {
    std::size_t bytes = 0;
    std::uint8_t* pages = nullptr;
    std::size_t page_bytes = 0;
    int to_be_written = 0, to_be_read = 0;
    std::size_t number = 0;
};

PTX_EARLY std::recursive_mutex g_memory_lock;
std::uint8_t* g_arena = nullptr;
std::size_t g_arena_used = 0;
PTX_EARLY std::map<std::uintptr_t, BlockOfMemory> g_blocks;
PTX_EARLY std::map<std::uintptr_t, Pinned> g_pinned;
std::size_t g_in_use = 0, g_most = 0, g_count = 0, g_pinned_count = 0, g_live_blocks = 0;
int g_key = -1;
thread_local int g_as_device = 0;
std::uint32_t g_launch = 0;
PTX_EARLY std::vector<std::pair<std::uintptr_t, std::size_t>> g_known;
BlockOfMemory* g_last = nullptr;
std::uintptr_t g_last_at = 0;

/// The shared memory of a block.
struct SharedChecks {
    std::vector<std::uint8_t> written;
    std::vector<Touch> touched;
};
PTX_EARLY std::vector<SharedChecks> g_shared;  // by rank in the team

unsigned read_rights() {
    unsigned rights = 0;
    unsigned edx = 0;
    asm volatile(".byte 0x0f,0x01,0xee" : "=a"(rights), "=d"(edx) : "c"(0));
    return rights;
}
void write_rights(unsigned rights) { asm volatile(".byte 0x0f,0x01,0xef" : : "a"(rights), "c"(0), "d"(0)); }

std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void make_arena() {
    if (g_arena != nullptr) return;
    void* place = mmap(nullptr, kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) fail("no address space for the device's memory");
    g_arena = static_cast<std::uint8_t*>(place);
    g_key = pkey_alloc(0, 0);
    if (g_key < 0)
        std::fputs("[ptx] no protection keys here: that the host touches the device's memory goes unseen\n", stderr);
}

BlockOfMemory* find(std::uintptr_t at) {
    if (g_last != nullptr && at >= g_last_at && at < g_last_at + g_last->bytes) return g_last;
    auto after = g_blocks.upper_bound(at);
    if (after == g_blocks.begin()) return nullptr;
    --after;
    if (at >= after->first + std::max<std::size_t>(after->second.bytes, 1)) return nullptr;
    g_last = &after->second;
    g_last_at = after->first;
    return g_last;
}
std::map<std::uintptr_t, BlockOfMemory>::iterator nearest(std::uintptr_t at) {
    auto after = g_blocks.upper_bound(at);
    return after == g_blocks.begin() ? g_blocks.end() : std::prev(after);
}

bool canary_whole(std::uintptr_t at, const BlockOfMemory& block) {
    const auto* end = block.pages + block.page_bytes;
    for (const auto* p = reinterpret_cast<const std::uint8_t*>(at) + block.bytes; p < end; ++p)
        if (*p != kCanary) return false;
    for (const auto* p = block.pages; p < reinterpret_cast<const std::uint8_t*>(at); ++p)
        if (*p != kCanary) return false;
    return true;
}

std::uint32_t who(const Thread& t) {
    const std::uint32_t block = (t.ctaid[2] * t.nctaid[1] + t.ctaid[1]) * t.nctaid[0] + t.ctaid[0];
    return block * (t.ntid[0] * t.ntid[1] * t.ntid[2]) + t.linear + 1;
}

std::uint32_t clock_of(const Thread& t) { return t.clocks == nullptr ? 0 : t.clocks[t.team_rank]; }

bool ordered(const Thread& t, std::uint32_t other, std::uint32_t stage, std::uint32_t clock, bool shared) {
    if (t.acquired) return true;
    const std::uint32_t size = t.ntid[0] * t.ntid[1] * t.ntid[2];
    const std::uint32_t block = (other - 1) / size;
    const std::uint32_t mine = (who(t) - 1) / size;
    if (block != mine) {
        if (t.clocks == nullptr || block / t.team_size != mine / t.team_size) return false;
        return t.clocks[block % t.team_size] >= clock;
    }
    if (stage < t.stage) return true;
    return shared && ((other - 1) % size) / 32 == t.warp;  // a warp's own order is the warp operations' affair
}

const char* race(Thread& t, Touch& touch, bool write, bool strong, bool shared) {
    const std::uint32_t me = who(t);
    const char* found = nullptr;
    if (touch.launch != g_launch) touch = Touch{.launch = g_launch};
    if (touch.writer != 0 && touch.writer != me && !(strong && touch.writer_strong) &&
        !ordered(t, touch.writer, touch.writer_stage, touch.writer_clock, shared))
        found = write ? "race: another thread of this launch wrote it, too"
                      : "race: another thread of this launch wrote it";
    if (write && touch.reader != 0 && touch.reader != me && !(strong && touch.reader_strong) &&
        !ordered(t, touch.reader, touch.reader_stage, touch.reader_clock, shared))
        found = "race: another thread of this launch read it";
    if (write) {
        touch.writer = me;
        touch.writer_stage = t.stage;
        touch.writer_clock = clock_of(t);
        touch.writer_strong = strong;
    } else if (touch.reader == 0 || touch.reader_strong || touch.reader == me || !strong) {
        touch.reader = me;
        touch.reader_stage = t.stage;
        touch.reader_clock = clock_of(t);
        touch.reader_strong = strong;
    }
    return found;
}

const char* check(Thread& t, std::uintptr_t at, unsigned bytes, bool strong, bool write) {
    const auto arena = reinterpret_cast<std::uintptr_t>(g_arena);
    if (at >= arena && at < arena + kArena) {
        BlockOfMemory* block = find(at);
        if (block == nullptr) return "out of bounds";
        if (block->freed) return "freed memory";
        const std::size_t offset = at - g_last_at;
        if (offset + bytes > block->bytes) return "out of bounds";
        const char* found = nullptr;
        for (unsigned i = 0; i < bytes; ++i) {
            if (write)
                block->written[offset + i] = 1;
            else if (block->written[offset + i] == 0)
                found = "what nobody wrote";
            const char* also = race(t, block->touched[offset + i], write, strong, false);
            if (also != nullptr) found = also;
        }
        return found;
    }
    const auto shared = reinterpret_cast<std::uintptr_t>(g_running.team_shared);
    // Shared memory, of any block that runs at this time, has nothing of the program's own beside it.
    if (at + 256 >= shared && at < shared + g_running.team_size * g_running.shared_apart) {
        const std::size_t rank = at < shared ? 0 : (at - shared) / g_running.shared_apart;
        const std::size_t offset = at - shared - rank * g_running.shared_apart;
        if (at < shared || offset + bytes > g_running.shared_bytes) return "out of bounds of shared memory";
        SharedChecks& memory = g_shared[rank];
        const char* found = nullptr;
        for (unsigned i = 0; i < bytes; ++i) {
            if (write)
                memory.written[offset + i] = 1;
            else if (memory.written[offset + i] == 0)
                found = "shared memory that nobody wrote";
            const char* also = race(t, memory.touched[offset + i], write, strong, true);
            if (also != nullptr) found = also;
        }
        return found;
    }
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (at + (1U << 20) > here && at < here + (1U << 20)) return nullptr;  // local
    const auto params = reinterpret_cast<std::uintptr_t>(g_running.params);
    if (at >= params && at + bytes <= params + static_cast<std::size_t>(g_running.kernel->param_bytes))
        return write ? "a parameter" : nullptr;
    for (const auto& [begin, size] : g_known)
        if (at >= begin && at + bytes <= begin + size) return nullptr;
    if (is_pinned(reinterpret_cast<const void*>(at))) return nullptr;
    return "memory of the host";
}

void on_fault(int, siginfo_t* info, void*) {
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    std::string text;
    if (g_running.kernel != nullptr && g_as_device > 0) {
        const Thread& t = *g_running.thread;
        char line[200];
        std::snprintf(line, sizeof line, "block (%u,%u,%u), thread (%u,%u,%u) of ", t.ctaid[0], t.ctaid[1], t.ctaid[2],
                      t.tid[0], t.tid[1], t.tid[2]);
        text = line + short_name(g_running.kernel->name) + " touches " + describe(at);
    } else {
        text = "the host touches " + describe(at);
    }
    fail(text);
}

}  // namespace

void* allocate_device_memory(std::size_t bytes) {
    const std::lock_guard lock(g_memory_lock);
    make_arena();
    if (g_in_use + bytes > settings().memory) return nullptr;
    const std::size_t pages = rounded(std::max<std::size_t>(bytes, 1));
    if (g_arena_used + pages + 2 * kPage > kArena) fail("the device's address space is used up");
    std::uint8_t* const begin = g_arena + g_arena_used + kPage;
    g_arena_used += pages + kPage;
    const int rights = PROT_READ | PROT_WRITE;
    if (g_key >= 0 ? pkey_mprotect(begin, pages, rights, g_key) != 0 : mprotect(begin, pages, rights) != 0)
        fail("no memory for the device");
    AsDevice device;
    const std::size_t align = settings().tight ? 16 : 256;
    std::uint8_t* const place = begin + (pages - std::max<std::size_t>(bytes, 1)) / align * align;
    std::memset(begin, kCanary, pages);
    std::memset(place, settings().poison, bytes);
    BlockOfMemory block;
    block.bytes = bytes;
    block.number = ++g_count;
    block.pages = begin;
    block.page_bytes = pages;
    if (settings().check) {
        block.written.assign(bytes, 0);
        block.touched.assign(bytes, Touch{});
    }
    g_blocks[reinterpret_cast<std::uintptr_t>(place)] = std::move(block);
    g_last = nullptr;
    g_in_use += bytes;
    ++g_live_blocks;
    g_most = std::max(g_most, g_in_use);
    return place;
}

bool free_device_memory(void* place) {
    const std::lock_guard lock(g_memory_lock);
    const auto found = g_blocks.find(reinterpret_cast<std::uintptr_t>(place));
    if (found == g_blocks.end() || found->second.freed) return false;
    {
        AsDevice device;
        if (!canary_whole(found->first, found->second))
            fail("somebody wrote beside device block " + std::to_string(found->second.number));
    }
    // Never given out again, so that a late use is a fault.
    mprotect(found->second.pages, found->second.page_bytes, PROT_NONE);
    madvise(found->second.pages, found->second.page_bytes, MADV_DONTNEED);
    found->second.freed = true;
    found->second.written = {};
    found->second.touched = {};
    g_in_use -= found->second.bytes;
    --g_live_blocks;
    return true;
}

std::size_t device_bytes_in_use() { return g_in_use; }
std::size_t device_blocks_in_use() { return g_live_blocks; }
std::size_t most_device_bytes() { return g_most; }
std::size_t pinned_blocks_in_use() { return g_pinned.size(); }
bool device_memory_holds(std::uint64_t address) {
    const auto arena = reinterpret_cast<std::uint64_t>(g_arena);
    return g_arena != nullptr && address >= arena && address < arena + kArena;
}

const char* device_range_error(const void* at, std::size_t bytes) {
    const std::lock_guard lock(g_memory_lock);
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (!device_memory_holds(address)) return "not the device's memory";
    BlockOfMemory* block = find(address);
    if (block == nullptr) return "out of bounds";
    if (block->freed) return "freed memory";
    return address - g_last_at + bytes > block->bytes ? "out of bounds" : nullptr;
}

void mark_device_written(const void* at, std::size_t bytes) {
    if (!settings().check) return;
    const std::lock_guard lock(g_memory_lock);
    BlockOfMemory* block = find(reinterpret_cast<std::uintptr_t>(at));
    if (block == nullptr || block->freed) return;
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - g_last_at;
    std::fill_n(block->written.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::uint8_t{1});
}
std::size_t device_bytes_unwritten(const void* at, std::size_t bytes) {
    if (!settings().check) return 0;
    const std::lock_guard lock(g_memory_lock);
    BlockOfMemory* block = find(reinterpret_cast<std::uintptr_t>(at));
    if (block == nullptr || block->freed) return 0;
    const auto begin =
        block->written.begin() + static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(at) - g_last_at);
    return static_cast<std::size_t>(std::count(begin, begin + static_cast<std::ptrdiff_t>(bytes), std::uint8_t{0}));
}

AsDevice::AsDevice() : before_(0) {
    ++g_as_device;
    if (g_key < 0) return;
    before_ = read_rights();
    write_rights(before_ & ~(3U << (2 * g_key)));
}
AsDevice::~AsDevice() {
    --g_as_device;
    if (g_key < 0) return;
    // Outside of all of these the host has no rights, whatever this thread began with.
    write_rights(g_as_device > 0 ? before_ : (before_ | 3U << (2 * g_key)));
}

void* allocate_pinned_memory(std::size_t bytes) {
    const std::lock_guard lock(g_memory_lock);
    if (g_pinned.size() >= settings().pinned_blocks) return nullptr;
    const std::size_t pages = rounded(std::max<std::size_t>(bytes, 1));
    void* whole = mmap(nullptr, pages + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) return nullptr;
    std::uint8_t* const begin = static_cast<std::uint8_t*>(whole) + kPage;
    mprotect(begin, pages, PROT_READ | PROT_WRITE);
    std::uint8_t* const place = begin + (pages - std::max<std::size_t>(bytes, 1)) / 64 * 64;
    std::memset(begin, settings().poison, pages);
    g_pinned[reinterpret_cast<std::uintptr_t>(place)] =
        Pinned{.bytes = bytes, .pages = begin, .page_bytes = pages, .number = ++g_pinned_count};
    return place;
}

namespace {
std::map<std::uintptr_t, Pinned>::iterator find_pinned(const void* at) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    auto after = g_pinned.upper_bound(address);
    if (after == g_pinned.begin()) return g_pinned.end();
    --after;
    return address < after->first + std::max<std::size_t>(after->second.bytes, 1) ? after : g_pinned.end();
}
void protect(const Pinned& pinned) {
    const int rights = pinned.to_be_written > 0 ? PROT_NONE
                       : pinned.to_be_read > 0  ? PROT_READ
                                                : PROT_READ | PROT_WRITE;
    mprotect(pinned.pages, pinned.page_bytes, rights);
}
}  // namespace

bool free_pinned_memory(void* place) {
    const std::lock_guard lock(g_memory_lock);
    const auto found = g_pinned.find(reinterpret_cast<std::uintptr_t>(place));
    if (found == g_pinned.end()) return false;
    if (found->second.to_be_written > 0 || found->second.to_be_read > 0)
        fail("pinned memory freed while a copy with it is under way");
    mprotect(found->second.pages, found->second.page_bytes, PROT_NONE);
    madvise(found->second.pages, found->second.page_bytes, MADV_DONTNEED);
    g_pinned.erase(found);
    return true;
}
bool is_pinned(const void* at) {
    const std::lock_guard lock(g_memory_lock);
    return find_pinned(at) != g_pinned.end();
}
void pin_pending(const void* at, bool written) {
    const std::lock_guard lock(g_memory_lock);
    const auto found = find_pinned(at);
    if (found == g_pinned.end()) return;
    ++(written ? found->second.to_be_written : found->second.to_be_read);
    protect(found->second);
}
void pin_done(const void* at, bool written) {
    const std::lock_guard lock(g_memory_lock);
    const auto found = find_pinned(at);
    if (found == g_pinned.end()) return;
    --(written ? found->second.to_be_written : found->second.to_be_read);
    protect(found->second);
}
void pin_open(const void* at) {
    const std::lock_guard lock(g_memory_lock);
    const auto found = find_pinned(at);
    if (found != g_pinned.end()) mprotect(found->second.pages, found->second.page_bytes, PROT_READ | PROT_WRITE);
}
void begin_launch(const Kernel&) { ++g_launch; }
void begin_block(std::uint32_t rank, std::uint32_t shared_bytes) {
    if (!settings().check) return;
    if (g_shared.size() <= rank) g_shared.resize(rank + 1);
    g_shared[rank].written.assign(shared_bytes, 0);
    g_shared[rank].touched.assign(shared_bytes, Touch{});
}
const char* check_device_read(Thread& t, std::uintptr_t at, unsigned bytes, bool strong) {
    return check(t, at, bytes, strong, false);
}
const char* check_device_write(Thread& t, std::uintptr_t at, unsigned bytes, bool strong) {
    return check(t, at, bytes, strong, true);
}
void add_known_memory(const void* at, std::size_t bytes) {
    g_known.emplace_back(reinterpret_cast<std::uintptr_t>(at), bytes);
}

std::string describe(std::uintptr_t at) {
    char text[200];
    if (device_memory_holds(at)) {
        const auto block = nearest(at);
        if (block == g_blocks.end()) {
            std::snprintf(text, sizeof text, "device memory before the first block");
        } else {
            std::snprintf(text, sizeof text, "device block %zu of %zu bytes%s at byte %zu", block->second.number,
                          block->second.bytes, block->second.freed ? ", freed," : "",
                          static_cast<std::size_t>(at - block->first));
        }
        return text;
    }
    for (const auto& [begin, pinned] : g_pinned) {
        const auto pages = reinterpret_cast<std::uintptr_t>(pinned.pages);
        if (at + kPage < pages || at >= pages + pinned.page_bytes + kPage) continue;
        std::snprintf(text, sizeof text, "pinned block %zu of %zu bytes at byte %td%s", pinned.number, pinned.bytes,
                      static_cast<std::ptrdiff_t>(at - begin),
                      pinned.to_be_written > 0 ? ", which a copy under way will write"
                      : pinned.to_be_read > 0  ? ", which a copy under way will read"
                                               : "");
        return text;
    }
    const auto shared = reinterpret_cast<std::uintptr_t>(g_running.shared);
    if (g_running.shared != nullptr && at >= shared && at < shared + g_running.shared_bytes + 1024)
        std::snprintf(text, sizeof text, "shared memory of %u bytes at byte %zu", g_running.shared_bytes,
                      static_cast<std::size_t>(at - shared));
    else
        std::snprintf(text, sizeof text, "address %#zx", static_cast<std::size_t>(at));
    return text;
}

void catch_faults() {
    static std::uint8_t stack[64 * 1024];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

void check_blocks_at_end() {
    const std::lock_guard lock(g_memory_lock);
    AsDevice device;
    for (const auto& [at, block] : g_blocks)
        if (!block.freed && !canary_whole(at, block))
            remark("somebody wrote beside device block " + std::to_string(block.number));
}

}  // namespace ptx
