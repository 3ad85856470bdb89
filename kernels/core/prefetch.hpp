#pragma once

namespace carom {

/// Asks for the cache line at `address`, to be there when it is needed; any address does no harm.
[[gnu::always_inline]] inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    // g++ takes a function that does nothing but this for one without effect, and drops the calls of it.
    asm volatile("");
}

}  // namespace carom
