#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/core/hardware.hpp"

// Times of events: the clock that keeps them fine however long a run is, and the calendar in which events wait.

namespace carom {

/// The start of the present epoch, as an exact sum of two doubles. Times inside an epoch are counted from there, so
/// they keep their resolution however long the run is.
class Clock {
public:
    Clock() = default;
    Clock(double high, double low) : high_(high), low_(low) {}

    void add(double epoch) {
        const double sum = high_ + epoch;  // Knuth's exact sum
        const double part = sum - high_;
        low_ += (high_ - (sum - part)) + (epoch - part);
        high_ = sum;
    }
    [[nodiscard]] double since_start(double now) const { return high_ + (low_ + now); }
    /// A time since the start as a time since the start of the epoch.
    [[nodiscard]] double in_epoch(double since_start) const { return (since_start - high_) - low_; }
    [[nodiscard]] double high() const { return high_; }
    [[nodiscard]] double low() const { return low_; }

private:
    double high_ = 0.0;
    double low_ = 0.0;
};

/// The largest power of two that is not above x > 0.
inline double power_of_two_below(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0, exponent - 1);
}

/// An event that waits: when, and whose. It counts only while the owner's stamp is still this one.
struct CalendarEntry {
    double time;
    std::uint32_t slot;
    std::uint32_t stamp;
};

/// The event calendar: entries are only appended, never unlinked; one that has become stale is dropped when its bin is
/// opened. Amortised constant cost per event.
///
/// Time is cut into ticks of equal width, kFine ticks make a bucket. A bucket is a chain of chunks until time comes to
/// it; then it is distributed over its ticks, and the current tick is kept sorted. The tick of a time is
/// floor(time / width) computed in one way for all entries, so it is monotone in time, and the order of events does not
/// depend on the width.
///
/// Covers one epoch, or a part of it: entries at or after `end` are not kept (the owner remembers its next event, and
/// all are given again at the start of what follows).
class Calendar {
public:
    static constexpr std::uint32_t kFine = 256;

    /// Empties the calendar for times in [begin, end), with about one tick in `width`.
    void start(double begin, double end, double width) {
        constexpr double kMostBuckets = 1 << 20;
        width = std::max(width, (end - begin) / (kMostBuckets * kFine));
        ticks_per_time_ = 1.0 / width;
        ticks_before_ = begin * ticks_per_time_;
        end_ = end;
        const auto buckets = static_cast<std::size_t>((end - begin) * ticks_per_time_ / kFine) + 2;
        buckets_.assign(buckets, kNone);
        chunks_.clear();
        free_chunk_ = kNone;
        late_.assign(kFine, kNone);
        late_pool_ = std::vector<Late>();
        free_late_ = kNone;
        first_of_tick_.assign(kFine + 1, 0);
        // The buckets before, of another width, may have been larger.
        sorted_ = std::vector<CalendarEntry>();
        current_.clear();
        head_ = 0;
        bucket_ = 0;
        tick_ = 0;
    }

    [[nodiscard]] double end() const { return end_; }

    void push(const CalendarEntry& entry) {
        if (!(entry.time < end_)) return;
        const std::uint64_t tick = tick_from_start(entry.time);
        const std::uint64_t bucket = tick / kFine;
        if (bucket > bucket_) {
            append(bucket, entry);
        } else if (tick > bucket_ * kFine + tick_) {
            append_late(static_cast<std::uint32_t>(tick % kFine), entry);
        } else {
            insert_sorted(entry);
        }
    }

    /// The next entry before `limit`, or null. `valid(entry)` says whether an entry still counts, `before(a, b)` orders
    /// entries of equal time, `soon(level, slot)` hears of owners whose events come up (level 0: next; 1, 2: later).
    template <class Valid, class Before, class Soon>
    const CalendarEntry* next(double limit, Valid&& valid, Before&& before, Soon&& soon) {
        for (;;) {
            while (head_ < current_.size()) {
                // Entries of equal time may have been put in by insertion: the order among them is settled here.
                const CalendarEntry& entry = current_[head_];
                if (!valid(entry)) {
                    ++head_;
                    continue;
                }
                if (head_ + 1 < current_.size() && current_[head_ + 1].time == entry.time) settle_ties(valid, before);
                return current_[head_].time < limit ? &current_[head_] : nullptr;
            }
            if (static_cast<double>(bucket_ * kFine + tick_) > limit * ticks_per_time_ - ticks_before_) return nullptr;
            if (!advance(valid, soon)) return nullptr;
        }
    }

    /// Takes the entry that next() gave.
    void pop() { ++head_; }

    [[nodiscard]] std::size_t memory_bytes() const {
        return buckets_.capacity() * sizeof(std::uint32_t) + chunks_.capacity() * sizeof(Chunk) +
               late_pool_.capacity() * sizeof(Late) +
               (sorted_.capacity() + current_.capacity()) * sizeof(CalendarEntry) +
               (first_of_tick_.capacity() + place_.capacity() + late_.capacity()) * sizeof(std::uint32_t);
    }

private:
    static constexpr std::uint32_t kNone = ~0U;
    static constexpr std::uint32_t kChunk = 11;  // three cache lines; larger ones stand half empty in small systems

    struct Chunk {
        CalendarEntry entries[kChunk];
        std::uint32_t next;
        std::uint32_t count;
    };
    struct Late {
        CalendarEntry entry;
        std::uint32_t next;
    };

    void append(std::uint64_t bucket, const CalendarEntry& entry) {
        std::uint32_t& chain = buckets_[bucket];
        if (chain == kNone || chunks_[chain].count == kChunk) {
            std::uint32_t fresh = free_chunk_;
            if (fresh != kNone) {
                free_chunk_ = chunks_[fresh].next;
            } else {
                fresh = static_cast<std::uint32_t>(chunks_.size());
                if (fresh == chunks_.capacity()) chunks_.reserve(fresh + fresh / 16 + 16);  // most of the memory
                chunks_.emplace_back();
            }
            chunks_[fresh].next = chain;
            chunks_[fresh].count = 0;
            chain = fresh;
        }
        Chunk& chunk = chunks_[chain];
        chunk.entries[chunk.count++] = entry;
    }

    void append_late(std::uint32_t tick, const CalendarEntry& entry) {
        std::uint32_t fresh = free_late_;
        if (fresh != kNone) {
            free_late_ = late_pool_[fresh].next;
        } else {
            fresh = static_cast<std::uint32_t>(late_pool_.size());
            if (fresh == late_pool_.capacity()) late_pool_.reserve(fresh + fresh / 8 + 64);
            late_pool_.emplace_back();
        }
        late_pool_[fresh] = {entry, late_[tick]};
        late_[tick] = fresh;
    }

    void insert_sorted(const CalendarEntry& entry) {
        std::size_t at = current_.size();
        current_.push_back(entry);
        for (; at > head_ && current_[at - 1].time > entry.time; --at) current_[at] = current_[at - 1];
        current_[at] = entry;
    }

    /// Brings the first of several valid entries of one time to the front.
    template <class Valid, class Before>
    void settle_ties(Valid&& valid, Before&& before) {
        std::size_t best = head_;
        for (std::size_t k = head_ + 1; k < current_.size() && current_[k].time == current_[head_].time; ++k) {
            if (valid(current_[k]) && before(current_[k], current_[best])) best = k;
        }
        std::swap(current_[head_], current_[best]);
    }

    template <class Valid, class Soon>
    bool advance(Valid&& valid, Soon&& soon) {
        if (tick_ + 1 < kFine) {
            ++tick_;
        } else {
            std::uint64_t bucket = bucket_ + 1;
            if (bucket >= buckets_.size()) return false;
            bucket_ = bucket;
            tick_ = 0;
            open_bucket(valid);
        }
        open_tick(valid, soon);
        return true;
    }

    /// Distributes the entries of the current bucket over its ticks: counts them, then puts them in place. (Measured: a
    /// copy of the valid ones between the two passes is no faster and takes memory; sorting in place is slower.)
    template <class Valid>
    void open_bucket(Valid&& valid) {
        std::fill(first_of_tick_.begin(), first_of_tick_.end(), 0);
        const auto for_each = [&](auto&& act) {
            for (std::uint32_t chain = buckets_[bucket_]; chain != kNone; chain = chunks_[chain].next) {
                const Chunk& chunk = chunks_[chain];
                for (std::uint32_t k = 0; k < chunk.count; ++k) {
                    if (valid(chunk.entries[k])) act(chunk.entries[k]);
                }
            }
        };
        for_each([this](const CalendarEntry& entry) { ++first_of_tick_[tick_of(entry) + 1]; });
        for (std::uint32_t k = 0; k < kFine; ++k) first_of_tick_[k + 1] += first_of_tick_[k];
        place_.assign(first_of_tick_.begin(), first_of_tick_.end() - 1);
        const std::size_t entries = first_of_tick_[kFine];
        if (entries > sorted_.capacity()) sorted_.reserve(entries + entries / 8);
        sorted_.resize(entries);
        for_each([this](const CalendarEntry& entry) { sorted_[place_[tick_of(entry)]++] = entry; });
        for (std::uint32_t chain = buckets_[bucket_]; chain != kNone;) {
            const std::uint32_t next = chunks_[chain].next;
            chunks_[chain].next = free_chunk_;
            free_chunk_ = chain;
            chain = next;
        }
        buckets_[bucket_] = kNone;
    }

    template <class Valid, class Soon>
    void open_tick(Valid&& valid, Soon&& soon) {
        current_.clear();
        head_ = 0;
        for (std::uint32_t k = first_of_tick_[tick_]; k < first_of_tick_[tick_ + 1]; ++k) {
            if (valid(sorted_[k])) current_.push_back(sorted_[k]);
        }
        for (std::uint32_t late = late_[tick_]; late != kNone;) {
            Late& item = late_pool_[late];
            if (valid(item.entry)) current_.push_back(item.entry);
            const std::uint32_t next = item.next;
            item.next = free_late_;
            free_late_ = late;
            late = next;
        }
        late_[tick_] = kNone;
        const auto earlier = [](const CalendarEntry& a, const CalendarEntry& b) { return a.time < b.time; };
        if (current_.size() > 24) {
            std::sort(current_.begin(), current_.end(), earlier);
        } else {
            for (std::size_t k = 1; k < current_.size(); ++k) {
                const CalendarEntry entry = current_[k];
                std::size_t at = k;
                for (; at > 0 && current_[at - 1].time > entry.time; --at) current_[at] = current_[at - 1];
                current_[at] = entry;
            }
        }
        for (const CalendarEntry& entry : current_) soon(0, entry.slot);
        announce(tick_ + 1, 1, soon);
        announce(tick_ + 2, 2, soon);
    }

    template <class Soon>
    void announce(std::uint32_t tick, int level, Soon&& soon) {
        if (tick >= kFine) return;
        for (std::uint32_t k = first_of_tick_[tick]; k < first_of_tick_[tick + 1]; ++k) soon(level, sorted_[k].slot);
        for (std::uint32_t late = late_[tick]; late != kNone; late = late_pool_[late].next) {
            soon(level, late_pool_[late].entry.slot);
        }
    }

    /// By way of a signed number, which processors have an instruction for. What is late by a rounding is due at once.
    [[nodiscard]] std::uint64_t tick_from_start(double time) const {
        const double ticks = std::max(0.0, time * ticks_per_time_ - ticks_before_);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(ticks));
    }
    [[nodiscard]] std::uint32_t tick_of(const CalendarEntry& entry) const {
        return static_cast<std::uint32_t>(tick_from_start(entry.time) % kFine);
    }

    double ticks_per_time_ = 1.0;
    double ticks_before_ = 0.0;  // up to the beginning
    double end_ = 0.0;
    std::uint64_t bucket_ = 0;            // the current one
    std::uint32_t tick_ = 0;              // the current one, within its bucket
    std::vector<std::uint32_t> buckets_;  // first chunk of each
    PageVector<Chunk> chunks_;
    std::uint32_t free_chunk_ = kNone;
    std::vector<CalendarEntry> sorted_;  // the current bucket, by tick
    std::vector<std::uint32_t> first_of_tick_, place_;
    std::vector<std::uint32_t> late_;  // by tick: entries that came after their bucket was opened
    std::vector<Late> late_pool_;
    std::uint32_t free_late_ = kNone;
    std::vector<CalendarEntry> current_;  // the current tick, by time, from head_ on
    std::size_t head_ = 0;
};

}  // namespace carom
