#include "host/ranks/held_balls.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace carom {

namespace {

/// Balls that follow each other and are of one species.
struct Stretch {
    std::uint32_t species;
    std::uint32_t count;
};

struct CellCount {
    std::uint32_t cell;
    std::uint32_t count;
};

struct Located {
    std::uint32_t cell;  // of PairCells
    std::uint32_t id;
    double at[3];
};

/// What SortedPlaces is, of the balls of one rank, which are in few of all cells: it has room for these alone.
class PlacesByCell {
public:
    explicit PlacesByCell(std::vector<Located> places) : places_(std::move(places)) {
        std::ranges::sort(places_, {}, &Located::cell);
        for (std::uint32_t slot = 0; slot < places_.size(); ++slot) {
            if (slot > 0 && places_[slot].cell == cells_.back()) continue;
            cells_.push_back(places_[slot].cell);
            starts_.push_back(slot);
        }
        starts_.push_back(static_cast<std::uint32_t>(places_.size()));
    }

    [[nodiscard]] SortedPlaces::Slots in(std::uint32_t cell) const {
        const auto found = std::ranges::lower_bound(cells_, cell);
        if (found == cells_.end() || *found != cell) return {0, 0};
        const auto k = static_cast<std::size_t>(found - cells_.begin());
        return {starts_[k], starts_[k + 1]};
    }
    [[nodiscard]] double at(std::uint32_t slot, int axis) const { return places_[slot].at[axis]; }
    [[nodiscard]] std::uint32_t id_of(std::uint32_t slot) const { return places_[slot].id; }

    [[nodiscard]] const std::vector<Located>& places() const { return places_; }
    /// Calls f(cell, balls) for those that have some.
    template <class F>
    void for_each_cell(F&& f) const {
        for (std::size_t k = 0; k < cells_.size(); ++k) f(cells_[k], starts_[k + 1] - starts_[k]);
    }

private:
    std::vector<Located> places_;
    std::vector<std::uint32_t> cells_;   // that have balls
    std::vector<std::uint32_t> starts_;  // first slot of each, and one more
};

/// By axis, which cells lie around some: others need not be looked at.
class Around {
public:
    Around(const PairCells& cells, const std::vector<Located>& some) : cells_(cells) {
        for (int axis = 0; axis < cells.dimension; ++axis) {
            std::vector<std::uint8_t> has(cells.cells[axis]);
            for (const Located& one : some) has[cells.along(axis, one.at[axis])] = 1;
            const std::size_t first = near_.size();
            near_.resize(first + has.size());
            for (std::uint32_t cell = 0; cell < has.size(); ++cell) {
                if (has[cell] == 0) continue;
                std::uint32_t found[3] = {};
                const int count = cells.around(axis, cell, found);
                for (int k = 0; k < count; ++k) near_[first + found[k]] = std::byte{1};
            }
        }
        if (some.empty()) near_.clear();
    }
    /// As bytes() of another rank gave it.
    Around(const PairCells& cells, std::vector<std::byte> bytes) : cells_(cells), near_(std::move(bytes)) {}

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return near_; }
    [[nodiscard]] bool has(const Located& one) const {
        std::size_t first = 0;
        for (int axis = 0; axis < cells_.dimension; ++axis) {
            if (near_.empty() || near_[first + cells_.along(axis, one.at[axis])] == std::byte{0}) return false;
            first += cells_.cells[axis];
        }
        return true;
    }

private:
    const PairCells& cells_;
    std::vector<std::byte> near_;  // axis after axis; empty: none
};

/// Sum over all cells of the square of how many balls all ranks have in: each rank adds up some of the cells.
std::uint64_t sum_of_squares(Transport& transport, const PlacesByCell& places, std::uint64_t cells) {
    const auto ranks = static_cast<std::uint64_t>(transport.size());
    std::vector<std::vector<std::byte>> out(ranks);
    places.for_each_cell([&](std::uint32_t cell, std::uint32_t count) {
        append(out[cell * ranks / cells], CellCount{cell, count});
    });
    const auto me = static_cast<std::size_t>(transport.rank());
    auto counts = values_in<CellCount>(out[me]);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(me));
    std::vector<int> others;
    for (int rank = 0; rank < transport.size(); ++rank) {
        if (rank != transport.rank()) others.push_back(rank);
    }
    for (const auto& bytes : transport.exchange(others, out)) {
        const auto some = values_in<CellCount>(bytes);
        counts.insert(counts.end(), some.begin(), some.end());
    }
    std::ranges::sort(counts, {}, &CellCount::cell);
    std::uint64_t squares = 0;
    for (std::size_t k = 0; k < counts.size();) {
        std::uint64_t in_cell = 0;
        const std::uint32_t cell = counts[k].cell;
        for (; k < counts.size() && counts[k].cell == cell; ++k) in_cell += counts[k].count;
        squares += in_cell * in_cell;
    }
    return squares;
}

}  // namespace

void HeldBalls::hold(BrickEngine& bricks, bool raw) {
    bricks.frame(raw, frame_);
    by_id_.resize(frame_.size());
    for (std::size_t k = 0; k < frame_.size(); ++k) by_id_[k] = std::uint64_t{frame_[k].id} << 32 | k;
    std::sort(by_id_.begin(), by_id_.end());
}

/// As one that is in, alone.
SampledBalls<double> HeldBalls::as_sampled(std::size_t place) const {
    static constexpr std::uint8_t kIn = 0;
    const FrameBall& one = ball(place);
    SampledBalls<double> balls{};
    for (int axis = 0; axis < 3; ++axis) {
        balls.position[axis] = &one.position[axis];
        balls.velocity[axis] = &one.velocity[axis];
        balls.image[axis] = &one.image[axis];
    }
    balls.gone = &kIn;
    balls.species = &species_[place];
    balls.mass = mass_.data();
    balls.count = 1;
    return balls;
}

void HeldBalls::answer(Question question) {
    std::vector<std::int64_t> numbers;
    std::vector<double> values;
    switch (question) {
        case Question::kKinds:
            learn_kinds(nullptr, 0);
            break;
        case Question::kEnergy:
            static_cast<void>(largest_energy({}));
            break;
        case Question::kSums:
            sums({}, {}, numbers);
            break;
        case Question::kPairs:
            pairs({}, {}, {}, numbers);
            break;
        case Question::kFollow:
            follow({}, {}, {}, values);
            break;
    }
}

void HeldBalls::learn_kinds(const BallKinds* kinds, std::uint64_t all) {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    all_ = all;
    transport_.broadcast_value(all_);
    if (kinds != nullptr) mass_.assign(kinds->mass.begin(), kinds->mass.end());
    tell(mass_);
    species_.resize(by_id_.size());
    std::size_t place = 0;
    std::uint64_t end = 0;
    std::vector<Stretch> some;
    const auto go_on = [&] {
        tell(some);
        for (const Stretch& stretch : some) {
            end += stretch.count;
            for (; place < by_id_.size() && id_of(place) < end; ++place) species_[place] = stretch.species;
        }
        return !std::exchange(some, {}).empty();
    };
    if (kinds == nullptr) {
        while (go_on()) continue;
        return;
    }
    kinds->stretches([&](std::uint32_t species, std::uint64_t count) {
        if (!some.empty() && some.back().species == species) {
            some.back().count += static_cast<std::uint32_t>(count);
            return;
        }
        if (some.size() == kMost) go_on();
        some.push_back({species, static_cast<std::uint32_t>(count)});
    });
    while (go_on()) continue;
}

double HeldBalls::largest_energy(std::vector<std::uint8_t> chosen) {
    tell(chosen);
    double largest = 0.0;
    for (std::size_t place = 0; place < by_id_.size(); ++place) {
        largest = larger(carom::largest_energy(as_sampled(place), chosen.data(), 3), largest);
    }
    return max_of(largest);
}

/// Of numbers that are not negative.
double HeldBalls::max_of(double mine) {
    auto bits = std::bit_cast<std::uint64_t>(mine);
    transport_.max_all({&bits, 1});
    return std::bit_cast<double>(bits);
}

double HeldBalls::sums(BallSums what, std::vector<std::uint8_t> chosen, std::vector<std::int64_t>& sums) {
    transport_.broadcast_value(what);
    tell(chosen);
    std::vector<std::uint64_t> all(what.width());
    sums.assign(all.size(), 0);
    double largest = 0.0;
    for (std::size_t place = 0; place < by_id_.size(); ++place) {
        largest = larger(add_balls(what, as_sampled(place), chosen.data(), sums.data()), largest);
    }
    std::ranges::copy(sums, all.begin());
    transport_.sum_all(all);
    std::ranges::copy(all, sums.begin());
    return max_of(largest);
}

/// A ball's pairs are counted by the rank that has it. Others come by from all ranks, one after the other, as far as
/// they may be within reach: so nobody has more of them at a time than one rank has.
PairSample HeldBalls::pairs(PairOrder order, std::vector<std::uint8_t> references, std::vector<std::uint8_t> others,
                            std::vector<std::int64_t>& pairs) {
    transport_.broadcast_value(order);
    tell(references);
    tell(others);
    const PairCells cells(order, all_);
    std::vector<Located> first;
    std::vector<Located> second;
    std::uint64_t others_inside = 0;
    for (std::size_t k = 0; k < by_id_.size(); ++k) {
        const SampledBalls<double> balls = as_sampled(k);
        Located place{cells.cell_of(balls, 0), id_of(k), {}};
        std::copy_n(ball(k).position, 3, place.at);
        const bool inside = order.inside(balls, 0);
        if (inside && balls.has(0, references.data())) first.push_back(place);
        if (!balls.has(0, others.data())) continue;
        others_inside += inside ? 1 : 0;
        second.push_back(place);
    }
    const PlacesByCell mine(std::move(second));
    std::uint64_t counts[] = {mine.places().size(), others_inside, first.size(),
                              sum_of_squares(transport_, mine, cells.count())};
    transport_.sum_all(counts);
    const std::uint64_t stride = cells.stride(order, static_cast<double>(counts[3]), static_cast<double>(counts[0]),
                                              static_cast<double>(counts[2]), static_cast<double>(all_));
    std::erase_if(first, [&](const Located& one) { return !order.has_turn(one.id, stride); });

    std::vector<std::uint64_t> words(order.bins + 1);
    words.back() = first.size();
    const auto look_at = [&](const PlacesByCell& places) {
        for (const Located& one : first) {
            look_around(order, cells, places, Vec<double, 3>{one.at[0], one.at[1], one.at[2]}, one.id,
                        [&words](std::uint32_t bin) { ++words[bin]; });
        }
    };
    look_at(mine);
    const Around near(cells, first);
    const int ranks = transport_.size();
    for (int away = 1; away < ranks; ++away) {
        const int to = (transport_.rank() + away) % ranks;
        const int from = (transport_.rank() + ranks - away) % ranks;
        const Around near_them(cells, transport_.pass(from, near.bytes(), to));
        std::vector<std::byte> passed;
        for (const Located& one : mine.places()) {
            if (near_them.has(one)) append(passed, one);
        }
        look_at(PlacesByCell(values_in<Located>(transport_.pass(to, passed, from))));
    }
    transport_.sum_all(words);
    pairs.assign(words.begin(), words.end() - 1);
    return {.references = words.back(), .stride = stride, .others_inside = counts[1]};
}

void HeldBalls::follow(std::vector<std::uint32_t> ids, Followed what, std::vector<double> size,
                       std::vector<double>& values) {
    tell(ids);
    tell(size);
    transport_.broadcast_value(what);
    // Of each value the bits, of the one rank that has the ball; behind them how many have it.
    std::vector<std::uint64_t> words((size.size() + 1) * ids.size());
    for (std::size_t k = 0; k < ids.size(); ++k) {
        const auto found = std::ranges::lower_bound(by_id_, std::uint64_t{ids[k]} << 32);
        const auto place = static_cast<std::size_t>(found - by_id_.begin());
        if (found == by_id_.end() || id_of(place) != ids[k]) continue;
        words[size.size() * ids.size() + k] = 1;
        for (std::size_t axis = 0; axis < size.size(); ++axis) {
            words[axis * ids.size() + k] =
                std::bit_cast<std::uint64_t>(as_sampled(place).followed(0, static_cast<int>(axis), what, size[axis]));
        }
    }
    transport_.sum_all(words);
    values.resize(size.size() * ids.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const bool in = words[size.size() * ids.size() + k % ids.size()] != 0;
        values[k] = in ? std::bit_cast<double>(words[k]) : std::numeric_limits<double>::quiet_NaN();
    }
}

}  // namespace carom
