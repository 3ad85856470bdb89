// What translated PTX (ptx2cpp.py) is compiled against: the thread it runs as, and what instructions mean.
// With PTX_CHECK=1 every access of memory is checked: bounds, bytes nobody wrote, races.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#ifndef PTX_CHECK
#define PTX_CHECK 0
#endif

using u128 = unsigned __int128;

namespace ptx {

struct Block;

/// One thread of a grid, as its code sees it.
struct Thread {
    std::uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
    std::uint8_t* shared;  // of its block
    std::uint32_t static_shared, dynamic_shared, total_shared;
    std::size_t shared_apart;  // bytes to the shared memory of the next block of the team
    std::uint32_t lane, warp;
    std::uint32_t linear;   // in its block
    std::uint32_t* counts;  // how often each Straight was executed, in modules that count
    Block* block;
    // Blocks that run at a time: a cluster, or the grid of a cooperative launch.
    std::uint32_t team_size = 1, team_rank = 0;
    std::uint32_t* clocks = nullptr;  // by rank: up to where its block has seen what that block did; null: it is alone
    std::uint32_t stage = 0;          // barriers of the block passed
    bool released = false;            // a fence since the last atomic
    bool acquired = false;            // an atomic between two fences: sees what others wrote
};

struct Param {
    std::uint32_t offset, size;
};

struct Kernel {
    const char* name;
    void (*run)(Thread&, const std::uint8_t*);
    const Param* params;
    int param_count, param_bytes, static_shared, max_threads;
    bool synchronizes;  // has barriers or warp operations: its threads need stacks of their own
    bool waits;         // has strong loads or atomics: other blocks may matter
};

struct Variable {
    const char* name;
    void* place;
    std::size_t bytes;
};

/// Instructions that are executed together, from a label or branch to the next: how many there are, how many of them
/// load, store, and change memory that threads share.
struct Straight {
    std::uint32_t instructions, loads, stores, atomics, bytes_loaded, bytes_stored;
};

struct Module {
    const char* tag;
    int target;
    const Kernel* kernels;
    const Variable* variables;
    const Straight* straights;
    int straight_count;  // 0 where they are not counted
};

enum class Space { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };
enum class Shuffle { kUp, kDown, kBfly, kIdx };
enum class Vote { kAll, kAny, kUni, kBallot };
enum class Reduce { kAdd, kMin, kMax, kAnd, kOr, kXor, kPopc };

// In the runtime (device.cpp).
void barrier(Thread&, std::uint32_t which, std::uint32_t count, int line);
std::uint32_t barrier_reduce(Thread&, std::uint32_t which, bool value, Reduce, int line);
void warp_sync(Thread&, std::uint32_t mask, int line);
std::uint32_t shuffle(Thread&, Shuffle, std::uint32_t value, std::uint32_t b, std::uint32_t c, std::uint32_t mask,
                      bool& in, int line);
std::uint32_t vote(Thread&, Vote, bool value, std::uint32_t mask, int line);
std::uint32_t match_any(Thread&, std::uint64_t value, std::uint32_t mask, int line);
std::uint32_t reduce_warp(Thread&, Reduce, bool is_signed, std::uint32_t value, std::uint32_t mask, int line);
std::uint32_t active_mask(Thread&, int line);
void yield(Thread&);
void cluster_barrier(Thread&, int line);
std::uint64_t in_block(Thread&, std::uint64_t at, std::uint32_t rank, int line);
void release(Thread&, std::uintptr_t at, bool replaces);
void acquire(Thread&, std::uintptr_t at);
[[noreturn]] void trap(Thread&, int line);
[[noreturn]] void misaligned(Thread&, std::uintptr_t at, int bytes, int line);
[[noreturn]] void division_by_zero(Thread&, int line);
[[noreturn]] void call_assertfail(Thread&, std::uint8_t* text, std::uint8_t* file, std::uint8_t* line,
                                  std::uint8_t* function, std::uint8_t* size);
void call_vprintf(Thread&, std::uint8_t* result, std::uint8_t* format, std::uint8_t* arguments);
void call_malloc(Thread&, std::uint8_t* result, std::uint8_t* bytes);
void call_free(Thread&, std::uint8_t* place);
bool is_space(Thread&, Space, std::uint64_t address);
double approximate(Thread&, int line, double value);
void check_read(Thread&, std::uintptr_t at, unsigned bytes, bool strong, int line);
void check_write(Thread&, std::uintptr_t at, unsigned bytes, bool strong, int line);
void fence(Thread&);
void count_atomic(Thread&);

}  // namespace ptx

namespace {

inline float as_f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double as_f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
inline std::uint32_t ptx_clock32() { return static_cast<std::uint32_t>(__builtin_ia32_rdtsc()); }
inline std::uint64_t ptx_clock64() { return __builtin_ia32_rdtsc(); }

/// A result of single precision that is not a number is one particular NaN on a GPU. (Of double precision it is as on
/// x86.)
inline float result(float value) { return value == value ? value : std::bit_cast<float>(0x7fffffffU); }
inline double result(double value) { return value; }

template <int bytes>
inline void aligned(ptx::Thread& t, std::uintptr_t at, int line) {
    if (__builtin_expect((at & (bytes - 1)) != 0, 0)) ptx::misaligned(t, at, bytes, line);
}

// -- memory
template <class T, bool strong>
inline T plain_load(std::uintptr_t at) {
    if constexpr (strong && sizeof(T) <= 8) {
        return *reinterpret_cast<const volatile T*>(at);
    } else {
        T value;
        std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
        return value;
    }
}
template <class T, bool strong>
inline void plain_store(std::uintptr_t at, T value) {
    if constexpr (strong && sizeof(T) <= 8) {
        *reinterpret_cast<volatile T*>(at) = value;
    } else {
        std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
    }
}
template <class T, bool strong>
inline T load_global(ptx::Thread& t, std::uintptr_t at, int line) {
    aligned<sizeof(T)>(t, at, line);
    if constexpr (PTX_CHECK) ptx::check_read(t, at, sizeof(T), strong, line);
    return plain_load<T, strong>(at);
}
template <class T, bool strong>
inline void store_global(ptx::Thread& t, std::uintptr_t at, T value, int line) {
    aligned<sizeof(T)>(t, at, line);
    if constexpr (PTX_CHECK) ptx::check_write(t, at, sizeof(T), strong, line);
    plain_store<T, strong>(at, value);
}
template <class T, bool strong>
inline T load_shared(ptx::Thread& t, std::uintptr_t at, int line) {
    aligned<sizeof(T)>(t, at, line);
    if constexpr (PTX_CHECK) ptx::check_read(t, at, sizeof(T), strong, line);
    return plain_load<T, true>(at);
}
template <class T, bool strong>
inline void store_shared(ptx::Thread& t, std::uintptr_t at, T value, int line) {
    aligned<sizeof(T)>(t, at, line);
    if constexpr (PTX_CHECK) ptx::check_write(t, at, sizeof(T), strong, line);
    plain_store<T, true>(at, value);
}
template <class T, bool strong>
inline T load_local(ptx::Thread& t, std::uintptr_t at, int line) {
    aligned<sizeof(T)>(t, at, line);
    return plain_load<T, false>(at);
}
template <class T, bool strong>
inline void store_local(ptx::Thread& t, std::uintptr_t at, T value, int line) {
    aligned<sizeof(T)>(t, at, line);
    plain_store<T, false>(at, value);
}
template <class T, bool strong>
inline T load_param(ptx::Thread& t, std::uintptr_t at, int line) {
    return load_local<T, false>(t, at, line);
}
template <class T, bool strong>
inline void store_param(ptx::Thread& t, std::uintptr_t at, T value, int line) {
    store_local<T, false>(t, at, value, line);
}

// One host thread plays the device, so atomics are plain; what they mean is kept.
template <class T, ptx::Space space, class F>
inline T atomic(ptx::Thread& t, std::uintptr_t at, int line, F&& next) {
    aligned<sizeof(T)>(t, at, line);
    if constexpr (PTX_CHECK) {
        ptx::check_read(t, at, sizeof(T), true, line);
        ptx::check_write(t, at, sizeof(T), true, line);
        ptx::count_atomic(t);
    }
    const T old = plain_load<T, true>(at);
    plain_store<T, true>(at, next(old));
    return old;
}
#define PTX_ATOMIC(name, expression)                                                      \
    template <class T, ptx::Space space>                                                  \
    inline T atomic_##name(ptx::Thread& t, std::uintptr_t at, int line, T value) {        \
        return atomic<T, space>(t, at, line, [value](T old) -> T { return expression; }); \
    }
PTX_ATOMIC(add, static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(value)))
PTX_ATOMIC(min, value < old ? value : old)
PTX_ATOMIC(max, value > old ? value : old)
PTX_ATOMIC(inc, old >= value ? 0 : old + 1)
PTX_ATOMIC(dec, old == 0 || old > value ? value : old - 1)
PTX_ATOMIC(and, old& value)
PTX_ATOMIC(or, old | value)
PTX_ATOMIC(xor, old ^ value)
PTX_ATOMIC(exch, ((void)old, value))
#undef PTX_ATOMIC
template <class T, ptx::Space space>
inline T atomic_cas(ptx::Thread& t, std::uintptr_t at, int line, T compare, T value) {
    return atomic<T, space>(t, at, line, [compare, value](T old) -> T { return old == compare ? value : old; });
}

// -- arithmetic
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float root(float a) { return __builtin_sqrtf(a); }
inline double root(double a) { return __builtin_sqrt(a); }
inline std::uint16_t mul_hi(std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>((std::uint32_t{a} * b) >> 16);
}
inline std::int16_t mul_hi(std::int16_t a, std::int16_t b) {
    return static_cast<std::int16_t>((std::int32_t{a} * b) >> 16);
}
inline std::uint32_t mul_hi(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}
inline std::int32_t mul_hi(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((std::int64_t{a} * b) >> 32);
}
inline std::uint64_t mul_hi(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((u128{a} * b) >> 64);
}
inline std::int64_t mul_hi(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>((static_cast<__int128>(a) * b) >> 64);
}
inline std::int32_t saturated(std::int64_t a) {
    return static_cast<std::int32_t>(a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : a);
}
template <class T>
inline T divide(ptx::Thread& t, T a, T b, int line) {
    if (b == 0) ptx::division_by_zero(t, line);
    if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    }
    return static_cast<T>(a / b);
}
template <class T>
inline T remainder(ptx::Thread& t, T a, T b, int line) {
    if (b == 0) ptx::division_by_zero(t, line);
    if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return 0;
    }
    return static_cast<T>(a % b);
}
template <class T>
inline T absolute(T a) {
    return a < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)) : a;
}
template <class T>
inline T min_of(T a, T b) {
    if (a != a && b != b) return sizeof(T) == 4 ? static_cast<T>(std::bit_cast<float>(0x7fffffffU)) : a;
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
}
template <class T>
inline T max_of(T a, T b) {
    if (a != a && b != b) return sizeof(T) == 4 ? static_cast<T>(std::bit_cast<float>(0x7fffffffU)) : a;
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
}
template <class T>
inline T min_nan_of(T a, T b) {
    return a != a ? result(a) : b != b ? result(b) : min_of(a, b);
}
template <class T>
inline T max_nan_of(T a, T b) {
    return a != a ? result(a) : b != b ? result(b) : max_of(a, b);
}
template <class T>
inline T min_int(T a, T b) {
    return a < b ? a : b;
}
template <class T>
inline T max_int(T a, T b) {
    return a > b ? a : b;
}
/// Float to integer as a GPU does it: out of range gives the nearest integer there is.
template <class I, class F>
inline I to_int(F value) {
    constexpr bool wide = sizeof(I) == 8 || sizeof(F) == 8;
    using U = std::make_unsigned_t<I>;
    if (value != value) return wide ? static_cast<I>(U{1} << (8 * sizeof(I) - 1)) : I{0};
    const F lowest = static_cast<F>(std::numeric_limits<I>::min());
    // The first value beyond the largest: a power of two, so exact.
    const F beyond = std::ldexp(F(1), std::numeric_limits<I>::digits);
    if (value >= beyond) return std::numeric_limits<I>::max();
    if (value < lowest) return std::numeric_limits<I>::min();
    return static_cast<I>(value);
}
template <class To, class From>
inline To clamp_int(From value) {
    const auto wide = static_cast<__int128>(value);
    const auto low = static_cast<__int128>(std::numeric_limits<To>::min());
    const auto high = static_cast<__int128>(std::numeric_limits<To>::max());
    return static_cast<To>(wide < low ? low : wide > high ? high : wide);
}
inline float narrow_rz(double a) {
    float f = static_cast<float>(a);
    if (std::isinf(f) && !std::isinf(a)) return std::copysign(std::numeric_limits<float>::max(), f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(a)) f = std::nextafter(f, 0.0F);
    return f;
}
inline float narrow_rm(double a) {
    const float f = static_cast<float>(a);
    return static_cast<double>(f) > a ? std::nextafter(f, -std::numeric_limits<float>::infinity()) : f;
}
inline float narrow_rp(double a) {
    const float f = static_cast<float>(a);
    return static_cast<double>(f) < a ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}

// -- bits
template <class T>
inline T shift_left(T a, std::uint32_t by) {
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by);
}
template <class T>
inline T shift_right(T a, std::uint32_t by) {
    if (by >= 8 * sizeof(T)) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
}
template <bool wrap>
inline std::uint32_t funnel_left(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
    by = wrap ? by & 31 : (by > 32 ? 32 : by);
    const std::uint64_t whole = std::uint64_t{high} << 32 | low;
    return static_cast<std::uint32_t>((whole << by) >> 32);
}
template <bool wrap>
inline std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
    by = wrap ? by & 31 : (by > 32 ? 32 : by);
    const std::uint64_t whole = std::uint64_t{high} << 32 | low;
    return static_cast<std::uint32_t>(whole >> by);
}
template <int table>
inline std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t d = 0;
    if constexpr ((table & 0x01) != 0) d |= ~a & ~b & ~c;
    if constexpr ((table & 0x02) != 0) d |= ~a & ~b & c;
    if constexpr ((table & 0x04) != 0) d |= ~a & b & ~c;
    if constexpr ((table & 0x08) != 0) d |= ~a & b & c;
    if constexpr ((table & 0x10) != 0) d |= a & ~b & ~c;
    if constexpr ((table & 0x20) != 0) d |= a & ~b & c;
    if constexpr ((table & 0x40) != 0) d |= a & b & ~c;
    if constexpr ((table & 0x80) != 0) d |= a & b & c;
    return d;
}
inline std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t how) {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    std::uint32_t d = 0;
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t pick = how >> (4 * i) & 15;
        std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (pick & 7))) & 255;
        if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
        d |= byte << (8 * i);
    }
    return d;
}
template <class T>
inline T extract(T a, std::uint32_t at, std::uint32_t length) {
    at &= 255;
    length &= 255;
    constexpr std::uint32_t top = 8 * sizeof(T) - 1;
    using U = std::make_unsigned_t<T>;
    bool sign = false;
    if (std::is_signed_v<T> && length != 0) {
        const std::uint32_t high = at + length - 1 < top ? at + length - 1 : top;
        sign = (static_cast<U>(a) >> high & 1) != 0;
    }
    U d = 0;
    for (std::uint32_t i = 0; i <= top; ++i) {
        const bool bit = i < length && at + i <= top ? (static_cast<U>(a) >> (at + i) & 1) != 0 : sign;
        d |= static_cast<U>(bit) << i;
    }
    return static_cast<T>(d);
}
template <class T>
inline T insert(T field, T into, std::uint32_t at, std::uint32_t length) {
    at &= 255;
    length &= 255;
    for (std::uint32_t i = 0; i < length && at + i < 8 * sizeof(T); ++i) {
        const T bit = T{1} << (at + i);
        into = (field >> i & 1) != 0 ? (into | bit) : (into & ~bit);
    }
    return into;
}
/// Bits [at, at + width).
template <bool wrap>
inline std::uint32_t bit_mask(std::uint32_t at, std::uint32_t width) {
    at = wrap ? at & 31 : (at > 32 ? 32 : at);
    width = wrap ? width & 31 : (width > 32 ? 32 : width);
    const std::uint64_t ones = (std::uint64_t{1} << width) - 1;
    return static_cast<std::uint32_t>(ones << at);
}
template <bool amount, class T>
inline std::uint32_t find_high(T a) {
    using U = std::make_unsigned_t<T>;
    U u = static_cast<U>(a);
    if (std::is_signed_v<T> && a < 0) u = ~u;
    if (u == 0) return 0xffffffffU;
    const std::uint32_t place = 63U - static_cast<std::uint32_t>(__builtin_clzll(u));
    return amount ? 8 * sizeof(T) - 1 - place : place;
}
template <class T>
inline T reverse(T a) {
    T d = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) d |= static_cast<T>((a >> i & 1) << (8 * sizeof(T) - 1 - i));
    return d;
}
inline std::uint32_t leading_zeros(std::uint32_t a) {
    return a == 0 ? 32 : static_cast<std::uint32_t>(__builtin_clz(a));
}
inline std::uint32_t leading_zeros(std::uint64_t a) {
    return a == 0 ? 64 : static_cast<std::uint32_t>(__builtin_clzll(a));
}

}  // namespace
