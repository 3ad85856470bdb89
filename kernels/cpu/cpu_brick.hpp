#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/core/team.hpp"
#include "kernels/cpu/cpu_engine_impl.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/brick_parts.hpp"
#include "kernels/ranks/transport.hpp"

namespace carom {

/// A rank's share of the engine of the CPU: see BrickEngine. Its own balls come first, as in a run of one process; in
/// the slots behind them, from a whole eight on, lie copies, in the order of the window's cells. No thread owns these,
/// so pairs with them are met from this side alone, as those of two threads are.
template <class Real, int Dim>
class CpuBrick final : public BrickEngine, private CpuEngine<Real, Dim> {
public:
    /// Together. \param setup, balls  rank 0 has them, for all
    CpuBrick(Transport& transport, const SpringSetup* setup, const RawBalls* balls, std::uint64_t step,
             const std::array<int, 3>& layers);

    std::uint64_t step() const override { return this->step_; }
    const Cut& cut() const override { return cut_; }
    std::uint64_t balls() const override { return this->active_; }
    std::uint64_t work() const override;
    std::vector<std::uint64_t> work_along(int axis) const override;
    void deal(const Cut& cut) override {
        this->half_done_.change([&] { deal_out(cut); });
    }
    double motion() const override { return this->motion_; }
    double pending_motion() const override { return moved_; }
    double most_motion() const override { return 0.5 * this->params_.margin; }
    double last_motion() const override { return this->last_motion_; }
    void keep_pace(double way) override { this->pace_ = way; }
    Trial try_step(bool held_up) override;
    void commit() override;
    void reject() override { this->settle(); }
    void keep() override;
    void go_back() override;
    void go_on_with(const SpringSetup* setup, const VelocityChange& velocities) override;
    SpringSums sums() override {
        update_copies_to_look();
        return this->sum_all();
    }
    void frame(bool raw, std::vector<FrameBall>& balls) override;
    BrickCounts counts() const override {
        return {this->impulse_, this->heat_, this->tallies_.max_overlap, this->tallies_.balls_left};
    }
    BrickTraffic traffic() const override { return traffic_; }
    std::uint64_t copies() const override { return copies_; }
    std::uint64_t memory_bytes() const override;
    const ObserveGrids& observe_grids() const override { return this->params_.observe; }
    CountUnits count_units() const override { return this->params_.count_units(); }
    double box_min(int axis) const override { return axis < Dim ? this->params_.box_min[axis] : 0.0; }
    std::string device() const override { return Base::device(); }
    int threads() const override { return Base::threads(); }
    double margin() const override { return Base::margin(); }
    double largest_quantum() const override { return Base::largest_quantum(); }

private:
    using Base = CpuEngine<Real, Dim>;
    using Stored = typename Base::Stored;

    using Record = BrickRecord<Real, Dim>;

    struct Neighbour {
        int rank = 0;
        std::vector<std::uint32_t> sent;      // slots of own balls that it has copies of
        std::vector<std::uint32_t> received;  // slots of copies, in the order that it sends
        std::vector<std::byte> out, in;
    };
    struct What {
        bool places;
        bool velocities;
    };

    static CpuRun<Real, Dim> agree(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                   std::uint64_t step);
    void receive_all(const RawBalls* balls);
    void take(const std::vector<Record>& records);
    [[nodiscard]] Record record_of(std::uint32_t slot) const;
    void put(std::uint32_t slot, const Record& record);
    void make_room(std::size_t slots);
    void deal_out(const Cut& cut);
    void look_through(const Cut& cut);
    [[nodiscard]] std::uint32_t key_of(const Vec<std::int32_t, Dim>& cell) const {
        bool mine = true;
        for (int axis = 0; axis < Dim; ++axis) mine = mine && cell[axis] >= first_[axis] && cell[axis] < end_[axis];
        return mine ? window_.number(cell + to_window_) : window_.count();
    }
    void order_by_window();
    void copy_borders();
    void begin_update(What what, bool held_up);
    bool end_update();
    bool update_copies(What what, bool held_up) {
        begin_update(what, held_up);
        return end_update();
    }
    void update_copies_to_look();
    [[nodiscard]] std::size_t bytes_a_ball(What what) const {
        return (what.places ? Dim * sizeof(Stored) : 0) + (what.velocities ? Dim * sizeof(Real) : 0);
    }
    [[nodiscard]] Vec<std::int32_t, Dim> cell_at(std::uint32_t number) const { return this->params_.grid.cell(number); }

    Transport& transport_;
    Cut cut_;
    Grid<Dim> window_;
    std::vector<Neighbour> neighbours_;
    std::vector<Transport::Parcel> out_, in_;
    What underway_{};                     // between begin_update() and end_update()
    Vec<std::int32_t, Dim> to_window_;    // what makes cells of the window of cells of the box
    Vec<std::int32_t, Dim> first_, end_;  // of the brick's cells
    std::vector<std::uint32_t> key_;      // cells of the window, by slot; their number: in none
    CellSort copy_sort_;
    std::uint32_t copies_ = 0;
    bool fresh_ = false;  // copies are of the present step
    double moved_ = 0.0;  // in the last step, and not yet in motion_ [length]
    BrickTraffic traffic_;

    // What keep() remembers. No step after it writes into the balls that it found, but into kept_, and then the two
    // change names.
    bool keeps_present_ = false;  // no step has been done since
    typename Base::Buffer kept_;
    std::array<PageVector<Real>, Dim> kept_v_;  // where velocities are drawn anew, in their place
    std::array<WideCount, kWallNumbers> kept_impulse_{};
    std::array<WideCount, kHeatSources> kept_heat_{};
    double kept_overlap_ = 0.0;
    std::uint64_t kept_left_ = 0;
    std::uint64_t kept_step_ = 0;
    double kept_motion_ = 0.0;
    double kept_moved_ = 0.0;
    double kept_last_motion_ = 0.0;
    std::vector<std::uint32_t> left_since_;  // ids
};

template <class Real, int Dim>
CpuRun<Real, Dim> CpuBrick<Real, Dim>::agree(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                             std::uint64_t step) {
    CpuRun<Real, Dim> run{};
    if (transport.rank() == 0) run = Base::run_of(*setup, measure_sizes(*balls, Dim), step);
    transport.broadcast_value(run);
    return run;
}

template <class Real, int Dim>
CpuBrick<Real, Dim>::CpuBrick(Transport& transport, const SpringSetup* setup, const RawBalls* balls, std::uint64_t step,
                              const std::array<int, 3>& layers)
    : Base(agree(transport, setup, balls, step)), transport_(transport) {
    look_through(even_cut(this->params_.grid, transport.size(), layers));
    receive_all(balls);
    require_team(std::clamp(static_cast<int>(this->active_ / kBallsPerThread) + 1, 1, this->threads_));
    order_by_window();
    copy_borders();
    const Cut balanced = balanced_cut(transport, *this);
    if (!(balanced == cut_)) deal_out(balanced);
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::receive_all(const RawBalls* balls) {
    std::uint64_t count = balls != nullptr ? balls->count : 0;
    transport_.broadcast_value(count);
    this->gone_.resize(count);  // no ball is, and that takes no memory
    take(deal_from_rank_0(transport_, this->params_, cut_, balls));
}

/// Adds balls behind those that are there; copies are lost.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::take(const std::vector<Record>& records) {
    const std::uint32_t first = this->active_;
    make_room(first + records.size());
    key_.resize(first + records.size());
    for (std::size_t k = 0; k < records.size(); ++k) {
        put(static_cast<std::uint32_t>(first + k), records[k]);
        key_[first + k] = key_of(cell_at(records[k].cell));
    }
    this->active_ = static_cast<std::uint32_t>(first + records.size());
}

template <class Real, int Dim>
typename CpuBrick<Real, Dim>::Record CpuBrick<Real, Dim>::record_of(std::uint32_t slot) const {
    Record record{};
    const auto& buffer = this->buffers_[this->current_];
    record.id = this->id_[slot];
    record.cell = this->cell_[slot];
    for (int axis = 0; axis < Dim; ++axis) {
        record.x[axis] = buffer.x[axis][slot];
        record.v[axis] = buffer.v[axis][slot];
        record.image[axis] = this->image_[axis][slot];
    }
    if (!this->uniform_) {
        record.radius = this->radius_[slot];
        record.inverse_mass = this->inverse_mass_[slot];
    }
    return record;
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::put(std::uint32_t slot, const Record& record) {
    auto& buffer = this->buffers_[this->current_];
    for (int axis = 0; axis < Dim; ++axis) {
        buffer.x[axis][slot] = record.x[axis];
        buffer.v[axis][slot] = record.v[axis];
        this->image_[axis][slot] = record.image[axis];
    }
    if (!this->uniform_) {
        this->radius_[slot] = record.radius;
        this->inverse_mass_[slot] = record.inverse_mass;
    }
    this->id_[slot] = record.id;
    this->cell_[slot] = record.cell;
}

/// For so many slots; those that are there keep what they hold.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::make_room(std::size_t slots) {
    const std::size_t had = this->buffers_[0].x[0].size();
    if (padded(slots) > had) {
        const std::size_t size = padded(had == 0 ? slots : slots + slots / 16);  // some come and go at each dealing
        for (auto* buffer : {&this->buffers_[0], &this->buffers_[1], &kept_}) {
            for (int axis = 0; axis < Dim; ++axis) {
                buffer->x[axis].resize(size);
                buffer->v[axis].resize(size);
            }
        }
        if (!this->uniform_) {
            this->radius_.resize(size);
            this->inverse_mass_.resize(size);
        }
    }
    for (auto& values : this->image_) values.resize(slots);
    this->id_.resize(slots);
    this->cell_.resize(slots);
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::deal_out(const Cut& cut) {
    std::vector<int> ranks;
    for (const Neighbour& neighbour : neighbours_) ranks.push_back(neighbour.rank);
    BallsOnTheMove<Real, Dim> moving(transport_, ranks, !(cut == cut_));
    look_through(cut);
    const std::uint32_t had = this->active_;
    key_.resize(had);
    this->find_cells([&](std::uint32_t slot, const Vec<std::int32_t, Dim>& cell) { key_[slot] = key_of(cell); });
    const std::uint32_t nowhere = this->params_.grid.count();
    for (std::uint32_t slot = 0; slot < had; ++slot) {
        if (this->cell_[slot] == nowhere) key_[slot] = window_.count();
        if (key_[slot] != window_.count() || this->cell_[slot] == nowhere) continue;
        const auto cell = cell_at(this->cell_[slot]);
        moving.add(cut.owner(std::span(&cell[0], Dim)), record_of(slot));
    }
    take(moving.exchange());
    order_by_window();
    copy_borders();
    ++this->tallies_.sorts;
}

/// The window of a cut, and what is in it.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::look_through(const Cut& cut) {
    cut_ = cut;
    window_ = window_of(cut, this->params_.grid, transport_.rank());
    const auto offset = window_offset(cut, transport_.rank());
    for (int axis = 0; axis < Dim; ++axis) {
        to_window_[axis] = offset[axis];
        first_[axis] = cut.first(transport_.rank(), axis);
        end_[axis] = cut.end(transport_.rank(), axis);
    }
}

/// Sorts own balls into the cells of the window; drops those that are no longer here.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::order_by_window() {
    make_room(this->active_);  // copies are gone
    this->reorder(key_, window_.count());
    this->search_ = {window_, to_window_, this->cell_sort_.start().data()};
}

/// Sends copies of the balls at borders, takes those of others, and builds the lists.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::copy_borders() {
    const Grid<Dim>& grid = this->params_.grid;
    const std::vector<Border> borders =
        borders_of(cut_, std::span(&grid.cells[0], Dim), std::span(&grid.periodic[0], Dim), transport_.rank());
    neighbours_.clear();
    std::vector<int> ranks;
    std::vector<std::vector<std::byte>> out;
    for (const Border& border : borders) {
        if (neighbours_.empty() || neighbours_.back().rank != border.peer) {
            neighbours_.push_back({.rank = border.peer, .sent = {}, .received = {}, .out = {}, .in = {}});
            ranks.push_back(border.peer);
            out.emplace_back();
        }
        Neighbour& neighbour = neighbours_.back();
        const Grid<Dim> theirs = window_of(cut_, grid, border.peer);
        const std::uint32_t* start = this->search_.start;
        const auto row_of = [&](Vec<std::int32_t, Dim> cell) {
            for (cell[0] = border.first[0]; cell[0] < border.end[0]; ++cell[0]) {
                Vec<std::int32_t, Dim> there = cell;
                for (int axis = 0; axis < Dim; ++axis) there[axis] += border.offset[axis];
                const std::uint32_t here = window_.number(cell + this->search_.offset);
                for (std::uint32_t slot = start[here]; slot < start[here + 1]; ++slot) {
                    Record record = record_of(slot);
                    record.cell = theirs.number(there);
                    neighbour.sent.push_back(slot);
                    append(out.back(), record);
                }
            }
        };
        Vec<std::int32_t, Dim> cell = Vec<std::int32_t, Dim>::filled(0);
        for (cell[1] = border.first[1]; cell[1] < border.end[1]; ++cell[1]) {
            if constexpr (Dim == 2) {
                row_of(cell);
            } else {
                for (cell[2] = border.first[2]; cell[2] < border.end[2]; ++cell[2]) row_of(cell);
            }
        }
    }
    const auto in = transport_.exchange(ranks, out);
    std::vector<Record> records;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const auto some = values_in<Record>(in[k]);
        neighbours_[k].received.resize(some.size());
        records.insert(records.end(), some.begin(), some.end());
    }
    copies_ = static_cast<std::uint32_t>(records.size());
    std::vector<std::uint32_t> key(records.size());
    for (std::size_t k = 0; k < records.size(); ++k) key[k] = records[k].cell;
    std::vector<std::uint32_t> order;
    copy_sort_.sort(key, window_.count(), 1, order);
    const std::uint32_t first = (this->active_ + kLanes - 1) / kLanes * kLanes;
    make_room(first + records.size());
    for (std::uint32_t slot = this->active_; slot < first; ++slot) put(slot, Record{});
    std::vector<std::uint32_t> slot_of(records.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        slot_of[order[k]] = static_cast<std::uint32_t>(first + k);
        put(static_cast<std::uint32_t>(first + k), records[order[k]]);
    }
    std::size_t k = 0;
    for (Neighbour& neighbour : neighbours_) {
        for (std::uint32_t& slot : neighbour.received) slot = slot_of[k++];
        const std::size_t most = bytes_a_ball({true, true});
        neighbour.out.resize(sizeof(BrickHeader) + neighbour.sent.size() * most);
        neighbour.in.resize(sizeof(BrickHeader) + neighbour.received.size() * most);
    }
    this->search_.copies_start = copies_ > 0 ? copy_sort_.start().data() : nullptr;
    this->search_.first_copy = first;
    this->build_lists();
    fresh_ = true;
    moved_ = 0.0;
}

/// Sends neighbours what brings their copies to the present step, unless this rank cannot go on.
template <class Real, int Dim>
void CpuBrick<Real, Dim>::begin_update(What what, bool held_up) {
    const auto began = std::chrono::steady_clock::now();
    const auto& buffer = this->buffers_[this->current_];
    out_.clear();
    in_.clear();
    underway_ = what;
    const BrickHeader header{moved_, held_up ? 1U : 0U};
    for (Neighbour& neighbour : neighbours_) {
        std::byte* to = neighbour.out.data();
        std::memcpy(to, &header, sizeof header);
        to += sizeof header;
        const auto pack = [&](const auto* values) {
            using Value = std::remove_cvref_t<decltype(*values)>;
            auto* const packed = reinterpret_cast<Value*>(to);
            for (std::size_t k = 0; k < neighbour.sent.size(); ++k) packed[k] = values[neighbour.sent[k]];
            to += neighbour.sent.size() * sizeof(Value);
        };
        for (int axis = 0; !held_up && axis < Dim; ++axis) {
            if (what.places) pack(buffer.x[axis].data());
            if (what.velocities) pack(buffer.v[axis].data());
        }
        const auto bytes = static_cast<std::size_t>(to - neighbour.out.data());
        out_.push_back({neighbour.rank, neighbour.out.data(), bytes});
        in_.push_back({neighbour.rank, neighbour.in.data(), neighbour.in.size()});
        ++traffic_.messages;
        traffic_.bytes += bytes;
    }
    transport_.begin_swap(out_, in_);
    this->motion_ += moved_;
    traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Takes what neighbours have sent. \returns  all can go on
template <class Real, int Dim>
bool CpuBrick<Real, Dim>::end_update() {
    const auto began = std::chrono::steady_clock::now();
    auto& buffer = this->buffers_[this->current_];
    transport_.end_swap();
    BrickNews news{true, moved_};
    for (const Neighbour& neighbour : neighbours_) news.hear(neighbour.in.data());
    for (Neighbour& neighbour : neighbours_) {
        if (!news.all) break;
        const std::byte* from = neighbour.in.data() + sizeof(BrickHeader);
        const auto unpack = [&](auto* values) {
            using Value = std::remove_cvref_t<decltype(*values)>;
            const auto* const packed = reinterpret_cast<const Value*>(from);
            for (std::size_t k = 0; k < neighbour.received.size(); ++k) values[neighbour.received[k]] = packed[k];
            from += neighbour.received.size() * sizeof(Value);
        };
        for (int axis = 0; axis < Dim; ++axis) {
            if (underway_.places) unpack(buffer.x[axis].data());
            if (underway_.velocities) unpack(buffer.v[axis].data());
        }
    }
    this->motion_ += news.moved - moved_;
    moved_ = 0.0;
    traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return news.all;
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::update_copies_to_look() {
    const double in_steps = traffic_.seconds;
    if (!fresh_) update_copies({true, this->damped_}, false);
    traffic_.seconds = in_steps;
    fresh_ = true;
}

/// While messages are under way, balls are stepped that are not near copies. Where velocities are drawn anew that must
/// wait, since who draws looks at copies; and a dashpot sees the velocities that were drawn, which takes a second
/// message.
template <class Real, int Dim>
BrickEngine::Trial CpuBrick<Real, Dim>::try_step(bool held_up) {
    const bool draws = this->params_.refreshes();
    const bool drawn = this->damped_ && draws;
    bool under_way = !fresh_;
    if (under_way) begin_update({true, this->damped_ && !drawn}, held_up);
    const auto arrive = [&] {
        if (std::exchange(under_way, false) && !end_update()) held_up = true;
        if (sort_due(this->params_, this->motion_)) held_up = true;
    };
    if (draws || held_up) arrive();
    fresh_ = false;
    Trial trial;
    this->half_done_.change([&] {
        if (!held_up) this->refresh_now();
        if (drawn && !update_copies({false, true}, held_up)) held_up = true;
        if (!held_up) this->try_move();
        arrive();
        if (!held_up) this->step_threads([](auto& step, int) { step.meet_copies(); });
    });
    trial.held_up = held_up;
    if (!held_up) trial.fault_key = this->trial_.fault_key;
    return trial;
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::commit() {
    Base::commit();
    left_since_.insert(left_since_.end(), this->trial_.left_by_id.begin(), this->trial_.left_by_id.end());
    moved_ = this->last_motion_;
    if (std::exchange(keeps_present_, false)) std::swap(kept_, this->buffers_[1 - this->current_]);
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::keep() {
    keeps_present_ = true;
    for (int axis = 0; this->params_.refreshes() && axis < Dim; ++axis) {
        const auto& v = this->buffers_[this->current_].v[axis];
        kept_v_[axis].assign(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(this->active_));
    }
    kept_impulse_ = this->impulse_;
    kept_heat_ = this->heat_;
    kept_overlap_ = this->tallies_.max_overlap;
    kept_left_ = this->tallies_.balls_left;
    kept_step_ = this->step_;
    kept_motion_ = this->motion_;
    kept_moved_ = moved_;
    kept_last_motion_ = this->last_motion_;
    left_since_.clear();
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::go_back() {
    auto& buffer = this->buffers_[this->current_];
    if (!std::exchange(keeps_present_, false)) std::swap(kept_, buffer);
    for (int axis = 0; this->params_.refreshes() && axis < Dim; ++axis) {
        std::copy(kept_v_[axis].begin(), kept_v_[axis].end(), buffer.v[axis].begin());
    }
    this->impulse_ = kept_impulse_;
    this->heat_ = kept_heat_;
    this->tallies_.max_overlap = kept_overlap_;
    this->tallies_.balls_left = kept_left_;
    this->step_ = kept_step_;
    this->motion_ = kept_motion_;
    moved_ = kept_moved_;
    this->last_motion_ = kept_last_motion_;
    for (const std::uint32_t id : left_since_) this->gone_[id] = 0;
    left_since_.clear();
    this->near_margin_ = 0.0;
    fresh_ = false;
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::go_on_with(const SpringSetup* setup, const VelocityChange& velocities) {
    this->half_done_.change([&] {
        this->change_velocities(velocities);
        this->last_motion_ = velocities.bound(this->last_motion_ / this->params_.dt) * this->params_.dt;
        this->impulse_ = {};
        this->heat_ = {};
        this->tallies_.max_overlap = 0.0;
        this->tallies_.balls_left = 0;
        fresh_ = false;
        CpuRun<Real, Dim> run{this->params_, this->sizes_, this->damped_, this->threads_, this->step_, 0};
        if (setup != nullptr) run = this->run_under(*setup);
        transport_.broadcast_value(run);
        this->params_ = run.params;
        this->damped_ = run.damped;
    });
}

template <class Real, int Dim>
std::uint64_t CpuBrick<Real, Dim>::work() const {
    std::uint64_t sum = kWorkOfBall * this->active_;
    for (const PairLists::Block& block : this->lists_.blocks()) sum += block.pairs;
    for (int thread = 0; thread < this->lists_.threads(); ++thread) sum += this->lists_.with_copies(thread).size();
    return sum;
}

/// In eighths, since a block does not say of which of its eight balls its pairs are.
template <class Real, int Dim>
std::vector<std::uint64_t> CpuBrick<Real, Dim>::work_along(int axis) const {
    std::vector<std::uint64_t> along(static_cast<std::size_t>(this->params_.grid.cells[axis]));
    const std::span<const PairLists::Block> blocks = this->lists_.blocks();
    const std::uint32_t* slot = this->search_.start;  // of the window's cells, one after the other
    Vec<std::int32_t, Dim> cell = Vec<std::int32_t, Dim>::filled(0);
    for (std::uint32_t number = 0; number < window_.count(); ++number) {
        for (std::uint32_t at = slot[number]; at < slot[number + 1]; ++at) {
            along[static_cast<std::size_t>(cell[axis] - to_window_[axis])] +=
                kWorkOfBall * kLanes + blocks[at / kLanes].pairs;
        }
        for (int fastest = 0; fastest < Dim && ++cell[fastest] == window_.cells[fastest]; ++fastest) cell[fastest] = 0;
    }
    for (int thread = 0; thread < this->lists_.threads(); ++thread) {
        for (const PairLists::CopyPair& pair : this->lists_.with_copies(thread)) {
            along[static_cast<std::size_t>(cell_at(this->cell_[pair.own])[axis])] += kLanes;
        }
    }
    return along;
}

template <class Real, int Dim>
void CpuBrick<Real, Dim>::frame(bool raw, std::vector<FrameBall>& balls) {
    this->half_done_.require_none("what the processor holds");
    if (!raw) update_copies_to_look();
    balls.assign(this->active_, FrameBall{.position = {}, .velocity = {}, .image = {}, .id = ~std::uint32_t{0}});
    this->for_each_place(raw, [&](std::uint32_t slot, const Place<Real, Dim>& place, const Vec<Real, Dim>& v) {
        FrameBall& ball = balls[slot];
        ball.id = this->id_[slot];
        for (int axis = 0; axis < Dim; ++axis) {
            ball.position[axis] = place.position[axis];
            ball.velocity[axis] = static_cast<double>(v[axis]);
            ball.image[axis] = this->image_[axis][slot] + place.crossings[axis];
        }
    });
    std::erase_if(balls, [](const FrameBall& ball) { return ball.id == ~std::uint32_t{0}; });
}

template <class Real, int Dim>
std::uint64_t CpuBrick<Real, Dim>::memory_bytes() const {
    std::uint64_t bytes = Base::memory_bytes() - this->gone_.capacity() + copy_sort_.memory_bytes();
    for (int axis = 0; axis < Dim; ++axis) {
        bytes += kept_.x[axis].capacity() * sizeof(Stored);
        bytes += (kept_.v[axis].capacity() + kept_v_[axis].capacity()) * sizeof(Real);
    }
    bytes += key_.capacity() * sizeof(std::uint32_t);
    for (const Neighbour& neighbour : neighbours_) {
        bytes += neighbour.out.capacity() + neighbour.in.capacity() +
                 (neighbour.sent.capacity() + neighbour.received.capacity()) * sizeof(std::uint32_t);
    }
    return bytes;
}

template <class Real, int Dim>
std::unique_ptr<BrickEngine> make_cpu_brick_of(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                               std::uint64_t step, const std::array<int, 3>& layers) {
    return std::make_unique<CpuBrick<Real, Dim>>(transport, setup, balls, step, layers);
}

}  // namespace carom
