#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernels/ladder/ladder.hpp"

namespace carom {

/// 16 bytes, the widest load of a GPU's thread.
struct alignas(16) CopyWord {
    std::uint64_t half[2];
};

struct CopyBody {
    const CopyWord* from;
    CopyWord* to;

    CAROM_HD void operator()(std::uint64_t i) const { to[i] = from[i]; }
};

struct FillBody {
    CopyWord* to;

    CAROM_HD void operator()(std::uint64_t i) const { to[i] = {{i, ~i}}; }
};

/// Copies one array into another; both are far larger than any cache if the caller wants the memory's speed.
template <class Executor>
class CopyRung final : public LadderEngine {
public:
    CopyRung(Executor executor, std::size_t bytes)
        : executor_(std::move(executor)), from_(bytes / sizeof(CopyWord)), to_(bytes / sizeof(CopyWord)) {
        // So that every page is there, and not one page of zeros many times.
        executor_.launch(words(), FillBody{from_.data()});
        executor_.launch(words(), FillBody{to_.data()});
        executor_.wait();
    }

    void advance(std::uint64_t steps) override {
        for (std::uint64_t k = 0; k < steps; ++k) executor_.copy(from_.data(), to_.data(), words());
        executor_.wait();
    }
    double streamed_bytes() const override { return static_cast<double>(from_.bytes() + to_.bytes()); }
    std::uint64_t memory_bytes() const override { return from_.bytes() + to_.bytes(); }
    void store(const RawBalls&) override { throw std::logic_error("a copy has no balls"); }

private:
    [[nodiscard]] std::uint64_t words() const { return from_.bytes() / sizeof(CopyWord); }

    Executor executor_;
    typename Executor::template Array<CopyWord> from_, to_;
};

}  // namespace carom
