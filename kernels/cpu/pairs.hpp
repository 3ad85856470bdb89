#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/hardware.hpp"
#include "kernels/spring_contact.hpp"
#include "kernels/spring_params.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// Eight distances at a time, in SIMD lanes: which pairs of balls are near enough to be looked at. The filter only
// rejects. What it lets through is decided by the scalar functions that every processor shares, so its own rounding is
// free as long as it errs on the side of letting through: distances are in single precision, from the upper 32 bits of
// the phases.

namespace carom {

constexpr std::uint32_t kLanes = 8;

/// The arrays of balls are this much longer than there are balls, since eight are loaded from wherever one begins.
constexpr std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes + kLanes; }

/// Eight pairs: the first of each is one of eight consecutive balls, the second any ball.
struct PairRow {
    const std::uint32_t* other;  ///< slots
    const std::uint8_t* own;     ///< counted from the first of the eight consecutive balls

    [[nodiscard]] PairRow next() const { return {other + kLanes, own + kLanes}; }
};

namespace near_filter {

constexpr float kSlack = 1.0F + 1e-5F;  // for the roundings of single precision

inline std::int32_t upper_bits(std::uint32_t phase) { return static_cast<std::int32_t>(phase); }
inline std::int32_t upper_bits(std::uint64_t phase) { return static_cast<std::int32_t>(phase >> 32); }

#if defined(__AVX2__)

inline __m256i upper_from(const std::uint32_t* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
inline __m256i upper_from(const std::uint64_t* x) {
    const __m256 low = _mm256_loadu_ps(reinterpret_cast<const float*>(x));
    const __m256 high = _mm256_loadu_ps(reinterpret_cast<const float*>(x + 4));
    const __m256 mixed = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), _MM_SHUFFLE(3, 1, 2, 0));
}
inline __m256i upper_at(const std::uint32_t* x, __m256i slots) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x), slots, 4);
}
inline __m256i upper_at(const std::uint64_t* x, __m256i slots) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x) + 1, slots, 8);
}
inline __m256 radii_from(const float* radius) { return _mm256_loadu_ps(radius); }
inline __m256 radii_from(const double* radius) {
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(radius + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(radius)));
}
inline __m256 radii_at(const float* radius, __m256i slots) { return _mm256_i32gather_ps(radius, slots, 4); }
inline __m256 radii_at(const double* radius, __m256i slots) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_castsi256_si128(slots), 8));
    const __m128 high = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_extracti128_si256(slots, 1), 8));
    return _mm256_set_m128(high, low);
}

#endif

/// For each mask of eight lanes, where the lanes that are set come from when they are moved to the front.
constexpr std::array<std::array<std::uint8_t, kLanes>, 256> kToFront = [] {
    std::array<std::array<std::uint8_t, kLanes>, 256> table{};
    for (unsigned mask = 0; mask < table.size(); ++mask) {
        std::size_t kept = 0;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if ((mask >> lane & 1U) != 0) table[mask][kept++] = static_cast<std::uint8_t>(lane);
        }
    }
    return table;
}();

}  // namespace near_filter

#if defined(__AVX2__)

inline __m256i eight_bytes(const std::uint8_t* bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}
inline __m256i eight_slots(const std::uint32_t* slots) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots));
}
inline void store_slots(std::uint32_t* to, __m256i slots) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), slots);
}

#endif

/// Writes the slots of those pairs of a row whose bits are set, and returns how many. Eight are written in any case,
/// without a branch.
/// \param first  slot of the first of the eight consecutive balls
inline std::uint32_t keep_pairs(const PairRow& row, unsigned kept, std::uint32_t first, std::uint32_t* one,
                                std::uint32_t* other) {
#if defined(__AVX2__)
    const __m256i order = eight_bytes(near_filter::kToFront[kept].data());
    const __m256i own = _mm256_add_epi32(eight_bytes(row.own), _mm256_set1_epi32(static_cast<int>(first)));
    store_slots(other, _mm256_permutevar8x32_epi32(eight_slots(row.other), order));
    store_slots(one, _mm256_permutevar8x32_epi32(own, order));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) {
        const std::uint8_t lane = near_filter::kToFront[kept][k];
        other[k] = row.other[lane];
        one[k] = first + row.own[lane];
    }
#endif
    return static_cast<std::uint32_t>(std::popcount(kept));
}

/// Moves those of eight slots whose bits are set to the front of `to`, in the same manner.
inline void keep_slots(const std::uint32_t* slots, unsigned kept, std::uint32_t* to) {
#if defined(__AVX2__)
    const __m256i order = eight_bytes(near_filter::kToFront[kept].data());
    store_slots(to, _mm256_permutevar8x32_epi32(eight_slots(slots), order));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) to[k] = slots[near_filter::kToFront[kept][k]];
#endif
}

/// Writes those of the slots first, first + 1, ... whose bits are set, in the same manner.
inline std::uint32_t keep_slots(std::uint32_t first, unsigned kept, std::uint32_t* slots) {
#if defined(__AVX2__)
    const __m256i lanes = eight_bytes(near_filter::kToFront[kept].data());
    store_slots(slots, _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(first))));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) slots[k] = first + near_filter::kToFront[kept][k];
#endif
    return static_cast<std::uint32_t>(std::popcount(kept));
}

/// Which pairs of balls are nearer than the sum of their radii and a given `extra` [length].
template <class Real, int Dim>
class NearFilter {
public:
    /// Eight balls.
    struct Eight {
#if defined(__AVX2__)
        __m256i x[Dim];
        __m256 radius;
#else
        std::int32_t x[Dim][kLanes];
        float radius[kLanes];
#endif
    };

    NearFilter(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, double extra)
        : x_(balls.x), radius_(balls.radius), slack_(static_cast<float>(extra)) {
        constexpr double kPerUpperUnit = static_cast<double>(std::int64_t{1} << (Phase<Real>::kBits - 32));
        for (int axis = 0; axis < Dim; ++axis) {
            unit_[axis] = static_cast<float>(params.coordinates.quantum[axis] * kPerUpperUnit);
            slack_ += 2.0F * unit_[axis];  // for the bits that are left out
        }
        const float reach = static_cast<float>(2 * params.uniform_radius) + slack_;
        uniform_limit_ = reach * reach * near_filter::kSlack;
    }

    /// Eight consecutive balls.
    [[nodiscard]] Eight from(std::uint32_t first) const;
    /// The same ball eight times.
    [[nodiscard]] Eight same(std::uint32_t slot) const;
    /// The balls in any eight slots.
    [[nodiscard]] Eight at(const std::uint32_t* slots) const;

    /// Bit l is set where pair l of the row, whose first balls are of `eight`, may be near.
    [[nodiscard]] unsigned near(const Eight& eight, const PairRow& row) const;
    /// Bit l is set where ball l of one eight may be near ball l of the other.
    [[nodiscard]] unsigned near(const Eight& one, const Eight& other) const;

    /// Calls f(at, bits): bit l is set where the ball in slot at + l, of those in [first, last), may be near the ball
    /// that `own` holds eight times.
    template <class F>
    void for_each_eight(const Eight& own, std::uint32_t first, std::uint32_t last, F&& f) const {
        for (std::uint32_t at = first; at < last; at += kLanes) {
            unsigned bits = near(own, from(at));
            if (last - at < kLanes) bits &= (1U << (last - at)) - 1U;
            f(at, bits);
        }
    }

private:
    Vec<const typename Phase<Real>::Stored*, Dim> x_;
    const Real* radius_;  // null where uniform
    float unit_[Dim];
    float slack_;
    float uniform_limit_;
};

#if defined(__AVX2__)

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::from(std::uint32_t first) const {
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) eight.x[axis] = near_filter::upper_from(x_[axis] + first);
    eight.radius = radius_ != nullptr ? near_filter::radii_from(radius_ + first) : _mm256_setzero_ps();
    return eight;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::same(std::uint32_t slot) const {
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) {
        eight.x[axis] = _mm256_set1_epi32(near_filter::upper_bits(x_[axis][slot]));
    }
    eight.radius = _mm256_set1_ps(radius_ != nullptr ? static_cast<float>(radius_[slot]) : 0.0F);
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& one, const Eight& other) const {
    __m256 squared = _mm256_setzero_ps();
    for (int axis = 0; axis < Dim; ++axis) {
        const __m256i apart = _mm256_sub_epi32(other.x[axis], one.x[axis]);
        const __m256 along = _mm256_mul_ps(_mm256_cvtepi32_ps(apart), _mm256_set1_ps(unit_[axis]));
        squared = _mm256_fmadd_ps(along, along, squared);
    }
    __m256 limit = _mm256_set1_ps(uniform_limit_);
    if (radius_ != nullptr) {
        const __m256 reach = _mm256_add_ps(_mm256_add_ps(one.radius, other.radius), _mm256_set1_ps(slack_));
        limit = _mm256_mul_ps(_mm256_mul_ps(reach, reach), _mm256_set1_ps(near_filter::kSlack));
    }
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(squared, limit, _CMP_LT_OQ)));
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::at(const std::uint32_t* slots) const {
    const __m256i eight_of = eight_slots(slots);
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) eight.x[axis] = near_filter::upper_at(x_[axis], eight_of);
    eight.radius = radius_ != nullptr ? near_filter::radii_at(radius_, eight_of) : _mm256_setzero_ps();
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& eight, const PairRow& row) const {
    const __m256i own = eight_bytes(row.own);
    Eight one;
    for (int axis = 0; axis < Dim; ++axis) one.x[axis] = _mm256_permutevar8x32_epi32(eight.x[axis], own);
    one.radius = _mm256_permutevar8x32_ps(eight.radius, own);
    return near(one, at(row.other));
}

#else

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::from(std::uint32_t first) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) {
            eight.x[axis][lane] = near_filter::upper_bits(x_[axis][first + lane]);
        }
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[first + lane]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::same(std::uint32_t slot) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) eight.x[axis][lane] = near_filter::upper_bits(x_[axis][slot]);
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[slot]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& one, const Eight& other) const {
    unsigned mask = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        float squared = 0.0F;
        for (int axis = 0; axis < Dim; ++axis) {
            const auto apart = static_cast<std::int32_t>(static_cast<std::uint32_t>(other.x[axis][lane]) -
                                                         static_cast<std::uint32_t>(one.x[axis][lane]));
            const float along = static_cast<float>(apart) * unit_[axis];
            squared += along * along;
        }
        const float reach = one.radius[lane] + other.radius[lane] + slack_;
        const float limit = radius_ != nullptr ? reach * reach * near_filter::kSlack : uniform_limit_;
        mask |= squared < limit ? 1U << lane : 0U;
    }
    return mask;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::at(const std::uint32_t* slots) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) eight.x[axis][lane] = near_filter::upper_bits(x_[axis][slots[lane]]);
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[slots[lane]]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& eight, const PairRow& row) const {
    Eight one;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) one.x[axis][lane] = eight.x[axis][row.own[lane]];
        one.radius[lane] = eight.radius[row.own[lane]];
    }
    return near(one, at(row.other));
}

#endif

/// Slots [begin, end), the share of one thread.
struct SlotRange {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] bool has(std::uint32_t slot) const { return slot - begin < end - begin; }
};

/// Where the balls are that one in a cell may touch. Beside balls of its own a rank of many has copies of its
/// neighbours', in slots behind, and counts the cells of both from the corner of a window of its own.
template <int Dim>
struct SearchCells {
    Grid<Dim> window;
    Vec<std::int32_t, Dim> offset;         ///< what makes cells of the window of cells of the box
    const std::uint32_t* start = nullptr;  ///< first slot of each cell, one more at the end
    const std::uint32_t* copies_start =
        nullptr;  ///< the same for copies, counted from first_copy; null: there are none
    std::uint32_t first_copy = 0;

    /// Calls f(from, to) for ranges of slots, of own balls. \param cell  of the box
    template <class F>
    void for_each_range(const Vec<std::int32_t, Dim>& cell, F&& f) const {
        window.for_each_range(cell + offset,
                              [&](std::uint32_t first, std::uint32_t last) { f(start[first], start[last]); });
    }
    /// The same of copies.
    template <class F>
    void for_each_copy_range(const Vec<std::int32_t, Dim>& cell, F&& f) const {
        const Vec<std::int32_t, Dim> here = cell + offset;
        if (copies_start == nullptr || !at_border(here)) return;
        window.for_each_range(here, [&](std::uint32_t first, std::uint32_t last) {
            f(first_copy + copies_start[first], first_copy + copies_start[last]);
        });
    }

private:
    /// Whether copies may lie around: they are in the outermost cells of the axes that are cut, none of which is
    /// periodic.
    [[nodiscard]] bool at_border(const Vec<std::int32_t, Dim>& here) const {
        bool border = false;
        for (int axis = 0; axis < Dim; ++axis) {
            border = border || (!window.periodic[axis] && (here[axis] <= 1 || here[axis] >= window.cells[axis] - 2));
        }
        return border;
    }
};

/// Which pairs may touch until the next sort. Balls in cell order are taken in blocks of eight, and threads own ranges
/// of blocks. A pair within one thread's range stands once, in the block of its lower slot; a pair of two threads'
/// balls stands twice, once with each, so that no thread writes what is another's. Pairs with copies are a list of
/// their own: they are few, and met when the copies have come, which may be after all others have been.
class PairLists {
public:
    struct CopyPair {
        std::uint32_t own;  // slots
        std::uint32_t copy;
    };
    struct Block {
        std::uint32_t first_row;  // in its thread's rows
        std::uint32_t pairs : 24;
        std::uint32_t near_faces : 8;  // bit l: ball l can reach a face or wall before the next sort
    };

    void resize(std::uint32_t active, int threads) {
        active_ = active;
        blocks_.resize((active + kLanes - 1) / kLanes);
        rows_.resize(static_cast<std::size_t>(threads));
    }
    [[nodiscard]] int threads() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] SlotRange range(int thread) const { return {begin(thread), begin(thread + 1)}; }

    /// Builds the lists of this thread's blocks.
    template <class Real, int Dim>
    void build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, const SearchCells<Dim>& cells,
               int thread);

    [[nodiscard]] const Block& block(std::uint32_t b) const { return blocks_[b]; }
    [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
    /// The rows of a thread, of which a block has pairs / 8, rounded up, from first_row on.
    [[nodiscard]] PairRow row(int thread, std::uint32_t row) const {
        const Rows& rows = rows_[static_cast<std::size_t>(thread)];
        return {rows.other.data() + std::size_t{row} * kLanes, rows.own.data() + std::size_t{row} * kLanes};
    }
    /// A thread's pairs with copies, by the slots of its own balls.
    [[nodiscard]] std::span<const CopyPair> with_copies(int thread) const {
        return rows_[static_cast<std::size_t>(thread)].with_copies;
    }
    [[nodiscard]] std::uint64_t memory_bytes() const {
        std::uint64_t bytes = blocks_.capacity() * sizeof(Block);
        for (const Rows& rows : rows_) {
            bytes += rows.other.capacity() * sizeof(std::uint32_t) + rows.own.capacity() +
                     rows.with_copies.capacity() * sizeof(CopyPair);
        }
        return bytes;
    }

private:
    /// Pairs, in rows of eight.
    struct Rows {
        PageVector<std::uint32_t> other;
        PageVector<std::uint8_t> own;
        std::vector<CopyPair> with_copies;

        void grow_to(std::size_t pairs) {
            if (pairs <= other.size()) return;
            const std::size_t size = pairs * 9 / 8 + 64 * kLanes;  // doubling would waste
            other.resize(size);
            own.resize(size);
        }
    };

    [[nodiscard]] std::uint32_t begin(int thread) const {
        const auto block = static_cast<std::uint32_t>(blocks_.size() * static_cast<std::size_t>(thread) / rows_.size());
        return std::min(block * kLanes, active_);
    }

    std::uint32_t active_ = 0;
    PageVector<Block> blocks_;
    std::vector<Rows> rows_;  // one per thread
};

/// Some of SpringParams::boundaries.
struct WallRange {
    int first = 0;
    int end = 0;
};
template <class Real, int Dim>
WallRange reflecting_walls(const SpringParams<Real, Dim>& params) {
    return {0, params.boundary_count};
}
template <class Real, int Dim>
WallRange thermal_walls(const SpringParams<Real, Dim>& params) {
    return {params.boundary_count, params.boundary_count + params.thermal_count};
}

/// The largest speed of a wall along its normal [velocity].
template <class Real, int Dim>
double fastest_wall(const SpringParams<Real, Dim>& params, WallRange walls) {
    double fastest = 0.0;
    for (int index = walls.first; index < walls.end; ++index) {
        fastest = std::max(fastest, std::abs(params.boundaries[index].speed));
    }
    return fastest;
}

/// Whether a ball that moves by less than half of `margin` can reach one of these walls, if that is a [[wall]] and
/// moves by no more than that either. \param walls_time  SpringParams::walls_time
template <class Real, int Dim>
bool near_wall(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t slot,
               double margin, WallRange walls, double walls_time) {
    if (!params.has_shapes) return false;
    const Vec<double, Dim> position = position_of(params, balls, slot);
    const Real radius = balls.radius != nullptr ? balls.radius[slot] : params.uniform_radius;
    for (int index = walls.first; index < walls.end; ++index) {
        const Boundary<Dim>& wall = params.boundaries[index];
        if (WallNumber(wall.number).is_face()) continue;  // near_face
        for (int axis = 0; axis < Dim; ++axis) {
            // Where it goes on across a seam, its nearest image changes with a jump.
            if (params.grid.periodic[axis] &&
                wall.shape.visit([axis](const auto& kind) { return kind.along(axis).jumps(); }))
                return true;
        }
        const double way = 0.5 * margin * (wall.speed != 0.0 ? 2.0 : 1.0);
        const double reach = (static_cast<double>(radius) + way) * (1.0 + 1e-6);
        if (!(wall_gap(params, wall, position, walls_time).distance >= reach)) return true;
    }
    return false;
}

template <class Real, int Dim>
void PairLists::build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                      const SearchCells<Dim>& cells, int thread) {
    Rows& rows = rows_[static_cast<std::size_t>(thread)];
    const SlotRange mine = range(thread);
    const NearFilter<Real, Dim> filter(params, balls, params.margin);
    const WallRange walls = reflecting_walls(params);
    const bool walls_move = fastest_wall(params, walls) > 0.0;  // for how long the lists last is not known
    rows.with_copies.clear();
    std::size_t count = 0;  // of pairs so far, each block's rounded up to whole rows
    for (std::uint32_t first = mine.begin; first < mine.end; first += kLanes) {
        const std::size_t begin = count;
        unsigned near_faces = 0;
        for (std::uint32_t i = first; i < std::min(first + kLanes, mine.end); ++i) {
            const auto cell = params.grid.cell(balls.cell[i]);
            if (walls_move || (!params.grid.interior(cell) && near_face(params, balls, i, params.margin)) ||
                near_wall(params, balls, i, params.margin, walls, 0.0)) {
                near_faces |= 1U << (i - first);
            }
            const auto own = filter.same(i);
            const std::size_t begin_of_ball = count;
            const auto look = [&](std::uint32_t from, std::uint32_t to) {
                filter.for_each_eight(own, from, to, [&](std::uint32_t at, unsigned near) {
                    rows.grow_to(count + 2 * kLanes);
                    count += keep_slots(at, near, rows.other.data() + count);
                });
            };
            cells.for_each_range(cell, [&](std::uint32_t from, std::uint32_t to) {
                look(from, std::min(to, mine.begin));
                look(std::max(from, i + 1), std::min(to, mine.end));
                look(std::max(from, mine.end), to);
            });
            cells.for_each_copy_range(cell, [&](std::uint32_t from, std::uint32_t to) {
                filter.for_each_eight(own, from, to, [&](std::uint32_t at, unsigned near) {
                    for (; near != 0; near &= near - 1) {
                        rows.with_copies.push_back({i, at + static_cast<std::uint32_t>(std::countr_zero(near))});
                    }
                });
            });
            std::fill(rows.own.begin() + static_cast<std::ptrdiff_t>(begin_of_ball),
                      rows.own.begin() + static_cast<std::ptrdiff_t>(count), static_cast<std::uint8_t>(i - first));
        }
        const auto pairs = static_cast<std::uint32_t>(count - begin);
        const auto first_row = static_cast<std::uint32_t>(begin / kLanes);
        // What a row holds behind the last pair is read, if not used: it must be slots and lanes.
        for (; count % kLanes != 0; ++count) {
            rows.other[count] = first;
            rows.own[count] = 0;
        }
        blocks_[first / kLanes] = {first_row, pairs & 0xffffffU, near_faces & 0xffU};
    }
}

// Of the pairs that may touch until the next sort, those that may touch within the next few steps. Looking through the
// former at every step would be most of the work of a step; their margin is wide, so that sorts are rare, and most of
// them are far apart at any one time. So they are looked through every few steps only, with a small margin, and a step
// looks at what that has left.

constexpr std::uint32_t kTile = 64;  // balls that a thread takes at a time: some ten contacts in a dense gas

/// One thread's near pairs, tile by tile.
class alignas(kThreadsApart) NearPairs {
public:
    struct Tile {
        std::uint32_t begin = 0;  // of its pairs: a multiple of eight
        std::uint32_t pairs = 0;
        std::uint32_t farthest = 0;    // the largest slot in a pair
        std::uint64_t near_faces = 0;  // bit l: ball l can reach a face or wall
    };

    /// Forgets all tiles; then they are found one after the other, in order.
    void restart(std::uint32_t tiles) {
        tiles_.clear();
        tiles_.reserve(tiles);
        end_ = 0;
    }

    /// Finds the near pairs of the next tile, of the balls in slots [first, end).
    /// \param filter  lets through what is nearer than `margin`
    /// \param margin      twice the distance that a ball, or a wall, may move until the next restart [length]
    /// \param walls_time  SpringParams::walls_time
    template <class Real, int Dim>
    void find(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, const PairLists& lists,
              int thread, const NearFilter<Real, Dim>& filter, double margin, double walls_time, std::uint32_t first,
              std::uint32_t end);

    /// Whether this tile's pairs have been found.
    [[nodiscard]] bool has(std::uint32_t t) const { return t < tiles_.size(); }
    [[nodiscard]] const Tile& tile(std::uint32_t t) const { return tiles_[t]; }
    [[nodiscard]] const std::uint32_t* one() const { return one_.data(); }      // slots
    [[nodiscard]] const std::uint32_t* other() const { return other_.data(); }  // slots
    [[nodiscard]] std::uint64_t memory_bytes() const {
        return tiles_.capacity() * sizeof(Tile) + (one_.capacity() + other_.capacity()) * sizeof(std::uint32_t);
    }

private:
    std::vector<Tile> tiles_;
    PageVector<std::uint32_t> one_;
    PageVector<std::uint32_t> other_;
    std::size_t end_ = 0;
};

template <class Real, int Dim>
void NearPairs::find(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, const PairLists& lists,
                     int thread, const NearFilter<Real, Dim>& filter, double margin, double walls_time,
                     std::uint32_t first, std::uint32_t end) {
    Tile tile;
    const std::size_t begin = end_;
    for (std::uint32_t at = first; at < end; at += kLanes) {
        const PairLists::Block block = lists.block(at / kLanes);
        for (unsigned lanes = block.near_faces; lanes != 0; lanes &= lanes - 1) {
            const std::uint32_t slot = at + static_cast<std::uint32_t>(std::countr_zero(lanes));
            const bool near = near_face(params, balls, slot, margin) ||
                              near_wall(params, balls, slot, margin, reflecting_walls(params), walls_time);
            tile.near_faces |= std::uint64_t{near} << (slot - first);
        }
        if (block.pairs == 0) continue;
        const std::size_t most = end_ + block.pairs + 2 * kLanes;
        if (most > one_.size()) {
            one_.resize(most * 9 / 8 + 64 * kLanes);  // doubling would waste
            other_.resize(one_.size());
        }
        const auto eight = filter.from(at);
        PairRow row = lists.row(thread, block.first_row);
        for (std::uint32_t pairs = block.pairs;; row = row.next(), pairs -= kLanes) {
            unsigned near = filter.near(eight, row);
            if (pairs < kLanes) near &= (1U << pairs) - 1U;
            end_ += keep_pairs(row, near, at, one_.data() + end_, other_.data() + end_);
            if (pairs <= kLanes) break;
        }
    }
    tile.begin = static_cast<std::uint32_t>(begin);
    tile.pairs = static_cast<std::uint32_t>(end_ - begin);
    for (std::size_t k = begin; k < end_; ++k) tile.farthest = std::max(tile.farthest, other_[k]);
    // What the last eight hold behind the last pair is read, if not used: it must be slots.
    for (; end_ % kLanes != 0; ++end_) one_[end_] = other_[end_] = first;
    tiles_.push_back(tile);
}

}  // namespace carom
