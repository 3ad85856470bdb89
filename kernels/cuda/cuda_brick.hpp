#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cuda/brick_bodies.hpp"
#include "kernels/cuda/cuda_engine_impl.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/brick_parts.hpp"

namespace carom::CAROM_PROCESSOR {

/// A rank's share of the engine of the GPU: see BrickEngine. Its own balls come first, as in a run of one process, and
/// behind them copies, in the order of the window's cells. The step's kernels are the same: balls that can reach no
/// copy are stepped while messages are under way, the others when they have come. The host waits for each step, since
/// messages follow it, whose bytes were packed behind it already.
template <class Real, int Dim>
class CudaBrick final : public BrickEngine, private CudaEngine<Real, Dim> {
public:
    /// Together. \param setup, balls  rank 0 has them, for all
    CudaBrick(Transport& transport, const SpringSetup* setup, const RawBalls* balls, std::uint64_t step,
              const std::array<int, 3>& layers);

    std::uint64_t step() const override { return Base::step(); }
    const Cut& cut() const override { return cut_; }
    std::uint64_t balls() const override { return this->seen().active; }
    std::uint64_t work() const override;
    std::vector<std::uint64_t> work_along(int axis) const override {
        return work_along_[static_cast<std::size_t>(axis)];
    }
    void deal(const Cut& cut) override {
        this->half_done_.change([&] { deal_out(cut); });
    }
    double motion() const override { return heard_motion_; }
    double pending_motion() const override { return moved_; }
    double most_motion() const override { return 0.5 * this->params_.margin; }
    double last_motion() const override { return this->seen().last_motion; }
    Trial try_step(bool held_up) override;
    void commit() override;
    void reject() override;
    void keep() override;
    void go_back() override;
    void go_on_with(const SpringSetup* setup, const VelocityChange& velocities) override;
    SpringSums sums() override {
        update_copies_to_look();
        return this->sum_all();
    }
    void frame(bool raw, std::vector<FrameBall>& balls) override;
    BrickCounts counts() const override;
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
    using Base = CudaEngine<Real, Dim>;
    using Stored = typename Base::Stored;
    using Control = typename Base::Record;
    using Ball = BrickRecord<Real, Dim>;

    struct Neighbour {
        int rank = 0;
        std::uint32_t first_cell = 0;  // of the border cells; those of the next follow
        std::uint32_t first_sent = 0, sent = 0;
        std::uint32_t first_received = 0, received = 0;
    };
    struct What {
        bool places;
        bool velocities;
        friend bool operator==(const What&, const What&) = default;
    };
    /// Messages to or from all neighbours, on the device and, unless they go from there, on the host.
    struct Mail {
        DeviceArray<Passenger> balls;
        std::uint32_t count = 0;
        DeviceArray<std::byte> bytes;
        PinnedArray<std::byte> here;
    };

    static CudaRun<Real, Dim> agree(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                    std::uint64_t step);
    /// With room to spare, since balls come and go at each dealing; what was there is lost.
    template <class Values>
    static void make_room_for(Values& values, std::size_t size) {
        if (values.size() >= size) return;
        values = Values(0);
        values = Values(size + size / 16);
    }
    [[nodiscard]] Images<Dim> image_view(int labels) const {
        Images<Dim> view;
        for (int axis = 0; axis < Dim; ++axis) view[axis] = images_[labels][axis].data();
        return view;
    }
    [[nodiscard]] OrderedView<Real, Dim> now_view() const { return this->ordered_view(this->motion_, this->labels_); }

    void make_room(std::size_t slots, std::uint32_t kept);
    void bound_by(const Cut& cut);
    void find_borders();
    void upload_records(const std::vector<Ball>& records);
    [[nodiscard]] std::vector<Ball> download_records(std::size_t count);
    void join(const std::vector<Ball>& records, std::uint32_t first);
    void deal_out(const Cut& cut);
    void order_by_window(std::uint32_t slots);
    void copy_borders();
    std::uint32_t collect_borders();
    void place_copies(const std::vector<Ball>& records);
    void build_lists() override;
    void measure_work();
    void make_room_in(Mail& mail);

    [[nodiscard]] static std::uint32_t bytes_a_ball(What what) {
        return static_cast<std::uint32_t>((what.places ? Dim * sizeof(Stored) : 0) +
                                          (what.velocities ? Dim * sizeof(Real) : 0));
    }
    [[nodiscard]] MessageView message_view(const Mail& mail, What what) const {
        return {mail.balls.data(), mail.bytes.data(), bytes_a_ball(what), what.places, what.velocities};
    }
    /// Bytes of the first `neighbours` messages, with so many balls.
    [[nodiscard]] static std::size_t message_bytes(std::size_t neighbours, std::size_t balls, What what) {
        return neighbours * sizeof(BrickHeader) + balls * bytes_a_ball(what);
    }
    void pack(What what, int motion);
    BrickNews swap_through_host(What what, const BrickHeader& header, bool aside);
    BrickNews swap_on_devices(What what, const BrickHeader& header);
    bool update_copies(What what, bool held_up, bool aside = false);
    void update_copies_to_look();

    Transport& transport_;
    Cut cut_;
    BrickView<Dim> brick_{};
    std::vector<Neighbour> neighbours_;
    std::array<DeviceArray<std::int32_t>, Dim> images_[2];  // by slot, at the last sort; as label_sets_
    std::size_t slots_ = 0;                                 // that there is room for
    DeviceArray<std::uint32_t> copies_start_;
    DeviceArray<std::uint32_t> moving_, moving_count_;
    PinnedArray<std::uint32_t> number_here_;
    DeviceArray<BorderCell> border_cell_;
    DeviceArray<std::uint32_t> border_balls_;
    DeviceArray<Ball> records_;
    Mail out_, in_;
    DeviceArray<FrameBall> frame_balls_;
    DeviceArray<std::uint64_t> work_here_;
    std::array<std::vector<std::uint64_t>, Dim> work_along_;
    const bool on_devices_;  // messages go from device to device
    std::uint32_t copies_ = 0;
    bool fresh_ = false;          // copies are of the present step
    std::optional<What> packed_;  // what of the present step lies ready to be sent
    double heard_motion_ = 0.0;   // see motion()
    double moved_ = 0.0;          // in the last step, and not yet in heard_motion_ [length]
    BrickTraffic traffic_;

    bool tried_ = false;  // and to be committed or rejected
    Control before_trial_{};

    // What keep() remembers.
    typename Base::Motion kept_;
    DeviceArray<std::uint8_t> kept_gone_;  // by slot
    Control kept_control_{};
    double kept_heard_motion_ = 0.0;
    double kept_moved_ = 0.0;
};

template <class Real, int Dim>
CudaRun<Real, Dim> CudaBrick<Real, Dim>::agree(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                               std::uint64_t step) {
    CudaRun<Real, Dim> run{};
    if (transport.rank() == 0) run = Base::run_of(*setup, measure_sizes(*balls, Dim), step);
    transport.broadcast_value(run);
    return run;
}

template <class Real, int Dim>
CudaBrick<Real, Dim>::CudaBrick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                std::uint64_t step, const std::array<int, 3>& layers)
    : Base(agree(transport, setup, balls, step)), transport_(transport), on_devices_(transport.reaches_devices()) {
    this->shared_ = true;
    const Grid<Dim>& grid = this->params_.grid;
    cut_ = even_cut(grid, transport.size(), layers);
    this->gone_ = DeviceArray<std::uint8_t>(this->count_);
    this->queue_.launch(this->count_, FillBody<std::uint8_t>{this->gone_.data(), 0});
    moving_count_ = DeviceArray<std::uint32_t>(1);
    number_here_ = PinnedArray<std::uint32_t>(1);
    this->queue_.upload(this->seen_.data(), this->record_.data(), 1);
    bound_by(cut_);
    const std::vector<Ball> mine = deal_from_rank_0(transport_, this->params_, cut_, balls);
    make_room(mine.size(), 0);
    join(mine, 0);
    order_by_window(static_cast<std::uint32_t>(mine.size()));
    copy_borders();
    const Cut balanced = balanced_cut(transport, *this);
    if (!(balanced == cut_)) deal_out(balanced);
    this->sorts_ = 0;
}

/// For so many slots; the first ones keep what they hold.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::make_room(std::size_t slots, std::uint32_t kept) {
    if (slots <= slots_ && slots_ > 0) return;
    const typename Base::Motion motion = std::move(this->motions_[this->motion_]);
    const typename Base::Labels labels = std::move(this->label_sets_[this->labels_]);
    const std::array<DeviceArray<std::int32_t>, Dim> image = std::move(images_[this->labels_]);
    const DeviceArray<std::uint32_t> cell = std::move(this->order_cell_);
    slots_ = std::max<std::size_t>(slots_ == 0 ? slots : slots + slots / 16, kGroup);
    this->allocate_slots(slots_);
    for (auto& set : images_) {
        for (auto& one : set) one = DeviceArray<std::int32_t>(slots_);
    }
    moving_ = DeviceArray<std::uint32_t>(slots_);
    const auto take_over = [&](const auto& from, const auto& to) {
        if (kept > 0) this->queue_.duplicate(from.data(), to.data(), kept);
    };
    for (int axis = 0; axis < Dim; ++axis) {
        take_over(motion.x[axis], this->motions_[this->motion_].x[axis]);
        take_over(motion.v[axis], this->motions_[this->motion_].v[axis]);
        take_over(image[axis], images_[this->labels_][axis]);
    }
    const typename Base::Labels& to = this->label_sets_[this->labels_];
    if (!this->uniform_) {
        take_over(labels.radius, to.radius);
        take_over(labels.inverse_mass, to.inverse_mass);
    }
    take_over(labels.id, to.id);
    take_over(labels.cell, to.cell);
    take_over(cell, this->order_cell_);
    this->queue_.wait();  // before the old ones go
}

/// The cells that are this rank's by a cut.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::bound_by(const Cut& cut) {
    cut_ = cut;
    const Grid<Dim> window = window_of(cut, this->params_.grid, transport_.rank());
    const auto offset = window_offset(cut, transport_.rank());
    for (int axis = 0; axis < Dim; ++axis) {
        brick_.first[axis] = cut.first(transport_.rank(), axis);
        brick_.end[axis] = cut.end(transport_.rank(), axis);
        brick_.offset[axis] = offset[axis];
    }
    brick_.cells = window.cells;
    this->allocate_cells(window);
    this->search_.offset = brick_.offset;
    copies_start_ = DeviceArray<std::uint32_t>(static_cast<std::size_t>(window.count()) + 1);
    find_borders();
}

/// With whom it has borders, and which cells lie at these.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::find_borders() {
    const Grid<Dim>& grid = this->params_.grid;
    neighbours_.clear();
    std::vector<BorderCell> cells;
    for (const Border& border :
         borders_of(cut_, std::span(&grid.cells[0], Dim), std::span(&grid.periodic[0], Dim), transport_.rank())) {
        if (neighbours_.empty() || neighbours_.back().rank != border.peer) {
            neighbours_.push_back({.rank = border.peer, .first_cell = static_cast<std::uint32_t>(cells.size())});
        }
        const Grid<Dim> theirs = window_of(cut_, grid, border.peer);
        const auto neighbour = static_cast<std::uint32_t>(neighbours_.size() - 1);
        const auto add_row = [&](Vec<std::int32_t, Dim> cell) {
            for (cell[0] = border.first[0]; cell[0] < border.end[0]; ++cell[0]) {
                Vec<std::int32_t, Dim> there = cell;
                for (int axis = 0; axis < Dim; ++axis) there[axis] += border.offset[axis];
                cells.push_back({brick_.number(cell), theirs.number(there), neighbour});
            }
        };
        Vec<std::int32_t, Dim> cell = Vec<std::int32_t, Dim>::filled(0);
        for (cell[1] = border.first[1]; cell[1] < border.end[1]; ++cell[1]) {
            if constexpr (Dim == 2) {
                add_row(cell);
            } else {
                for (cell[2] = border.first[2]; cell[2] < border.end[2]; ++cell[2]) add_row(cell);
            }
        }
    }
    border_cell_ = DeviceArray<BorderCell>(cells.size());
    border_balls_ = DeviceArray<std::uint32_t>(cells.size() + 1);
    this->queue_.upload(cells.data(), border_cell_.data(), cells.size());
    this->queue_.wait();
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::upload_records(const std::vector<Ball>& records) {
    make_room_for(records_, records.size());
    this->queue_.upload(records.data(), records_.data(), records.size());
    this->queue_.wait();
}

template <class Real, int Dim>
std::vector<BrickRecord<Real, Dim>> CudaBrick<Real, Dim>::download_records(std::size_t count) {
    std::vector<Ball> records(count);
    this->queue_.download(records_.data(), records.data(), count);
    this->queue_.wait();
    return records;
}

/// Balls that are this rank's from now on, into the slots from `first` on.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::join(const std::vector<Ball>& records, std::uint32_t first) {
    upload_records(records);
    this->queue_.launch(records.size(),
                        JoinBrickBody<Real, Dim>{this->params_.grid, brick_, records_.data(), first, now_view(),
                                                 image_view(this->labels_), this->cell_order()});
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::deal_out(const Cut& cut) {
    std::vector<int> ranks;
    for (const Neighbour& neighbour : neighbours_) ranks.push_back(neighbour.rank);
    BallsOnTheMove<Real, Dim> moving(transport_, ranks, !(cut == cut_));
    if (!(cut == cut_)) bound_by(cut);

    const std::uint32_t had = this->seen().active;
    const Images<Dim> image = image_view(this->labels_);
    this->queue_.launch(1, FillBody<std::uint32_t>{moving_count_.data(), 0});
    this->queue_.launch(had, DealBody<Real, Dim>{this->params_, this->state_view(this->motion_), image,
                                                 this->label_sets_[this->labels_].cell.data(), brick_,
                                                 this->cell_order(), moving_.data(), moving_count_.data()});
    this->queue_.download(moving_count_.data(), number_here_.data(), 1);
    this->queue_.wait();
    const std::uint32_t leaving = *number_here_.data();
    make_room_for(records_, leaving);
    this->queue_.launch(
        leaving, LeaveBrickBody<Real, Dim>{this->balls_view(this->motion_), image, moving_.data(), records_.data()});
    for (const Ball& record : download_records(leaving)) {
        const auto cell = this->params_.grid.cell(record.cell);
        moving.add(cut.owner(std::span(&cell[0], Dim)), record);
    }
    const std::vector<Ball> coming = moving.exchange();
    const auto slots = static_cast<std::uint32_t>(had + coming.size());
    make_room(slots, had);
    join(coming, had);
    order_by_window(slots);
    copy_borders();
    ++this->sorts_;
}

/// Sorts balls into the cells of the window; those that are no longer here are dropped.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::order_by_window(std::uint32_t slots) {
    const int from = this->motion_;
    const int labels = this->labels_;
    order_by_cell(this->queue_, this->scratch_, this->cell_order(), slots, this->cells());
    this->queue_.launch(slots, ReorderBrickBody<Real, Dim>{{this->cell_order(), this->balls_view(from),
                                                            this->ordered_view(1 - from, 1 - labels)},
                                                           image_view(labels),
                                                           image_view(1 - labels)});
    this->motion_ = 1 - from;
    this->labels_ = 1 - labels;
    this->queue_.launch(1, SortedBody<Real, Dim>{this->record_.data(), this->cell_start_.data() + this->cells()});
    this->look();
}

/// Sends copies of the balls at borders, takes those of others, and builds the lists.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::copy_borders() {
    const std::vector<Ball> sent = download_records(collect_borders());
    std::vector<int> ranks;
    std::vector<std::vector<std::byte>> out;
    for (const Neighbour& neighbour : neighbours_) {
        const auto bytes = std::as_bytes(std::span(sent).subspan(neighbour.first_sent, neighbour.sent));
        ranks.push_back(neighbour.rank);
        out.emplace_back(bytes.begin(), bytes.end());
    }
    const auto in = transport_.exchange(ranks, out);
    std::vector<Ball> received;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const auto some = values_in<Ball>(in[k]);
        neighbours_[k].first_received = static_cast<std::uint32_t>(received.size());
        neighbours_[k].received = static_cast<std::uint32_t>(some.size());
        received.insert(received.end(), some.begin(), some.end());
    }
    place_copies(received);
    make_room_in(out_);
    make_room_in(in_);

    if (this->listed_) {
        build_lists();
        this->look();
        if (this->fit_lists()) this->look();
    }
    measure_work();
    fresh_ = true;
    packed_.reset();
    heard_motion_ = 0.0;
    moved_ = 0.0;
}

/// Lists the balls at borders, and makes records of them. \returns  how many there are
template <class Real, int Dim>
std::uint32_t CudaBrick<Real, Dim>::collect_borders() {
    const auto cells = static_cast<std::uint32_t>(border_cell_.size());
    const std::uint32_t* const start = this->cell_start_.data();
    this->queue_.launch(cells + 1, CountBorderBody{border_cell_.data(), cells, start, border_balls_.data()});
    sum_before(this->queue_, this->scratch_, border_balls_.data(), cells + 1);
    const PinnedArray<std::uint32_t> first(neighbours_.size() + 1);  // balls of those before
    for (std::size_t k = 0; k <= neighbours_.size(); ++k) {
        const std::uint32_t cell = k < neighbours_.size() ? neighbours_[k].first_cell : cells;
        this->queue_.download(border_balls_.data() + cell, first.data() + k, 1);
    }
    this->queue_.wait();
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
        neighbours_[k].first_sent = first.data()[k];
        neighbours_[k].sent = first.data()[k + 1] - first.data()[k];
    }
    out_.count = first.data()[neighbours_.size()];
    make_room_for(out_.balls, out_.count);
    make_room_for(records_, out_.count);
    this->queue_.launch(cells, CopyBorderBody<Real, Dim>{border_cell_.data(), start, border_balls_.data(),
                                                         this->balls_view(this->motion_), image_view(this->labels_),
                                                         out_.balls.data(), records_.data()});
    return out_.count;
}

/// Copies, as they have come, into the slots behind the balls.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::place_copies(const std::vector<Ball>& records) {
    copies_ = static_cast<std::uint32_t>(records.size());
    in_.count = copies_;
    make_room_for(in_.balls, copies_);
    std::vector<Passenger> received;
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
        received.resize(received.size() + neighbours_[k].received, {0, static_cast<std::uint32_t>(k)});
    }
    this->queue_.upload(received.data(), in_.balls.data(), received.size());
    const std::uint32_t first = this->seen().active;
    make_room(std::size_t{first} + copies_, first);
    upload_records(records);
    CellOrder order = this->cell_order();
    order.start = copies_start_.data();
    this->queue_.launch(copies_, CellOfCopyBody<Real, Dim>{records_.data(), order});
    order_by_cell(this->queue_, this->scratch_, order, copies_, this->cells());
    this->queue_.launch(copies_, PlaceCopyBody<Real, Dim>{order, records_.data(), first, now_view(),
                                                          image_view(this->labels_), in_.balls.data()});
    this->search_.first_copy = first;
    this->search_.copies_start = copies_ > 0 ? copies_start_.data() : nullptr;
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::make_room_in(Mail& mail) {
    const std::size_t most = message_bytes(neighbours_.size(), mail.count, {true, true});
    if (mail.bytes.size() < most) {
        make_room_for(mail.bytes, most);
        // Headers are written on the host alone, and copied with the rest.
        this->queue_.launch(mail.bytes.size(), FillBody<std::byte>{mail.bytes.data(), std::byte{0}});
    }
    if (!on_devices_) make_room_for(mail.here, most);
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::measure_work() {
    std::size_t cells = 0;
    for (int axis = 0; axis < Dim; ++axis) cells += static_cast<std::size_t>(this->params_.grid.cells[axis]);
    make_room_for(work_here_, cells);
    this->queue_.launch(cells, FillBody<std::uint64_t>{work_here_.data(), 0});
    this->with_near_kind([&](auto kind) {
        this->queue_.launch(
            this->seen().active,
            WorkBody<decltype(kind)>{this->params_, this->state_view(this->motion_), work_here_.data()});
    });
    const std::uint64_t* from = work_here_.data();
    for (int axis = 0; axis < Dim; ++axis) {
        std::vector<std::uint64_t>& along = work_along_[static_cast<std::size_t>(axis)];
        along.resize(static_cast<std::size_t>(this->params_.grid.cells[axis]));
        this->queue_.download(from, along.data(), along.size());
        from += along.size();
    }
    this->queue_.wait();
}

/// Balls that may reach a copy are stepped apart, as those at faces.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::build_lists() {
    Base::build_lists();
    this->queue_.launch(this->groups(), BorderGroupBody<Real, Dim>{this->params_.grid, brick_,
                                                                   this->label_sets_[this->labels_].cell.data(),
                                                                   this->record_.data(), this->lists_view()});
}

template <class Real, int Dim>
std::uint64_t CudaBrick<Real, Dim>::work() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : work_along_[0]) sum += one;
    return sum;
}

/// Puts what neighbours have copies of, as it is in a buffer, where it is sent from.
template <class Real, int Dim>
void CudaBrick<Real, Dim>::pack(What what, int motion) {
    this->queue_.launch(out_.count, PackBody<Real, Dim>{message_view(out_, what), this->balls_view(motion)});
    if (!on_devices_) {
        this->queue_.download(out_.bytes.data(), out_.here.data(), message_bytes(neighbours_.size(), out_.count, what));
    }
    packed_ = what;
}

template <class Real, int Dim>
BrickNews CudaBrick<Real, Dim>::swap_through_host(What what, const BrickHeader& header, bool aside) {
    std::vector<Transport::Parcel> out;
    std::vector<Transport::Parcel> in;
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
        const Neighbour& neighbour = neighbours_[k];
        std::byte* const to = out_.here.data() + message_bytes(k, neighbour.first_sent, what);
        std::byte* const from = in_.here.data() + message_bytes(k, neighbour.first_received, what);
        std::memcpy(to, &header, sizeof header);
        out.push_back({neighbour.rank, to, message_bytes(1, header.held_up != 0 ? 0 : neighbour.sent, what)});
        in.push_back({neighbour.rank, from, message_bytes(1, neighbour.received, what)});
        ++traffic_.messages;
        traffic_.bytes += out.back().bytes;
    }
    transport_.swap(out, in);
    BrickNews news{header.held_up == 0, header.moved};
    for (const Transport::Parcel& parcel : in) news.hear(parcel.data);
    if (news.all) {
        const std::size_t bytes = message_bytes(neighbours_.size(), in_.count, what);
        if (aside) {
            this->queue_.upload_aside(in_.here.data(), in_.bytes.data(), bytes);
        } else {
            this->queue_.upload(in_.here.data(), in_.bytes.data(), bytes);
        }
    }
    return news;
}

/// The host reads no device's memory, so what it must know goes before, by itself.
template <class Real, int Dim>
BrickNews CudaBrick<Real, Dim>::swap_on_devices(What what, const BrickHeader& header) {
    std::vector<BrickHeader> told(neighbours_.size());
    BrickHeader tells = header;
    const auto bytes_of = [](BrickHeader& one) { return std::as_writable_bytes(std::span(&one, 1)); };
    std::vector<Transport::Parcel> out;
    std::vector<Transport::Parcel> in;
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
        out.push_back({neighbours_[k].rank, bytes_of(tells).data(), sizeof tells});
        in.push_back({neighbours_[k].rank, bytes_of(told[k]).data(), sizeof tells});
    }
    transport_.swap(out, in);
    BrickNews news{header.held_up == 0, header.moved};
    traffic_.messages += neighbours_.size();
    traffic_.bytes += neighbours_.size() * sizeof header;
    out.clear();
    in.clear();
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
        news.hear(bytes_of(told[k]).data());
        if (header.held_up != 0 || told[k].held_up != 0) continue;
        const Neighbour& neighbour = neighbours_[k];
        out.push_back({neighbour.rank, out_.bytes.data() + message_bytes(k + 1, neighbour.first_sent, what),
                       message_bytes(0, neighbour.sent, what)});
        in.push_back({neighbour.rank, in_.bytes.data() + message_bytes(k + 1, neighbour.first_received, what),
                      message_bytes(0, neighbour.received, what)});
        ++traffic_.messages;
        traffic_.bytes += out.back().bytes;
    }
    transport_.swap(out, in);
    return news;
}

/// Brings copies to the present step, unless some neighbour cannot go on. \returns  all can
/// \param aside  what is queued does not touch copies, and all that did has been waited for
template <class Real, int Dim>
bool CudaBrick<Real, Dim>::update_copies(What what, bool held_up, bool aside) {
    const auto began = std::chrono::steady_clock::now();
    if (!held_up && packed_ != what) {
        pack(what, this->motion_);
        this->queue_.wait();
    }
    packed_.reset();
    const BrickHeader header{moved_, held_up ? 1U : 0U};
    const BrickNews news = on_devices_ ? swap_on_devices(what, header) : swap_through_host(what, header, aside);
    if (news.all) {
        this->queue_.launch(in_.count, UnpackBody<Real, Dim>{message_view(in_, what), now_view()});
        heard_motion_ += news.moved;
        moved_ = 0.0;
    }
    traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return news.all;
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::update_copies_to_look() {
    const double in_steps = traffic_.seconds;
    if (!fresh_) update_copies({true, this->damped_}, false);
    traffic_.seconds = in_steps;
    fresh_ = true;
}

template <class Real, int Dim>
BrickEngine::Trial CudaBrick<Real, Dim>::try_step(bool held_up) {
    // Where velocities are drawn anew a dashpot sees them as they are then, which takes a second message.
    const bool drawn = this->damped_ && this->params_.refreshes();
    const What first{true, this->damped_ && !drawn};
    tried_ = false;
    Trial trial;
    this->half_done_.change([&] {
        const std::uint32_t active = this->seen().active;
        // Who draws velocities looks at copies. If some rank cannot go on, all come back to where they were.
        const bool in_parts = !fresh_ && !held_up && this->faces_apart() && !this->params_.refreshes();
        if (in_parts) this->queue_step(this->motion_, active, Base::StepPart::kInner);
        if (!fresh_ && !update_copies(first, held_up, in_parts)) held_up = true;
        fresh_ = false;
        if (sort_due(this->params_, heard_motion_)) held_up = true;
        if (!held_up) this->queue_refresh(this->motion_, active);
        if (drawn && !update_copies({false, true}, held_up)) held_up = true;
        if (held_up) return;
        before_trial_ = this->seen();
        this->queue_step(this->motion_, active, in_parts ? Base::StepPart::kOuter : Base::StepPart::kAll);
        pack(first, 1 - this->motion_);
        this->look();
        tried_ = true;
        trial.fault_key = this->seen().fault_key;
    });
    trial.held_up = held_up;
    return trial;
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::commit() {
    this->motion_ = 1 - this->motion_;
    moved_ = this->seen().last_motion;
    tried_ = false;
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::reject() {
    packed_.reset();
    if (!std::exchange(tried_, false)) return;
    Control& control = *this->seen_.data();
    const auto overlap = control.max_overlap;
    const std::uint64_t left = control.balls_left;
    control = before_trial_;
    control.max_overlap = overlap;
    control.balls_left = left;
    this->queue_.upload(this->seen_.data(), this->record_.data(), 1);
    this->queue_.wait();
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::keep() {
    const bool some_may_go = this->params_.open != 0;
    for (int axis = 0; axis < Dim; ++axis) {
        make_room_for(kept_.x[axis], slots_);
        make_room_for(kept_.v[axis], slots_);
    }
    if (some_may_go) make_room_for(kept_gone_, slots_);
    MovedView<Real, Dim> to;
    to.gone = this->gone_.data();
    for (int axis = 0; axis < Dim; ++axis) {
        to.x[axis] = kept_.x[axis].data();
        to.v[axis] = kept_.v[axis].data();
    }
    this->queue_.launch(this->seen().active, KeepBody<Real, Dim>{this->balls_view(this->motion_), to,
                                                                 some_may_go ? kept_gone_.data() : nullptr, false});
    kept_control_ = this->seen();
    kept_heard_motion_ = heard_motion_;
    kept_moved_ = moved_;
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::go_back() {
    BallsView<Real, Dim> from = this->balls_view(this->motion_);
    for (int axis = 0; axis < Dim; ++axis) {
        from.x[axis] = kept_.x[axis].data();
        from.v[axis] = kept_.v[axis].data();
    }
    const OrderedView<Real, Dim> now = now_view();
    this->queue_.launch(
        kept_control_.active,
        KeepBody<Real, Dim>{
            from, {now.x, now.v, this->gone_.data()}, this->params_.open != 0 ? kept_gone_.data() : nullptr, true});
    *this->seen_.data() = kept_control_;
    this->queue_.upload(this->seen_.data(), this->record_.data(), 1);
    this->queue_.wait();
    heard_motion_ = kept_heard_motion_;
    moved_ = kept_moved_;
    fresh_ = false;
    tried_ = false;
    packed_.reset();
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::go_on_with(const SpringSetup* setup, const VelocityChange& velocities) {
    this->half_done_.change([&] {
        const double fastest = velocities.bound(this->seen().last_motion / this->params_.dt);
        this->change_velocities(velocities);
        CudaRun<Real, Dim> run{.params = this->params_,
                               .sizes = this->sizes_,
                               .damped = this->damped_,
                               .listed = this->listed_,
                               .faces_apart = this->faces_apart_,
                               .step = step(),
                               .walls = 0};
        if (setup != nullptr) run = this->run_under(*setup);
        transport_.broadcast_value(run);
        this->begin_anew(&run, fastest);
        packed_.reset();
        fresh_ = false;
    });
}

template <class Real, int Dim>
void CudaBrick<Real, Dim>::frame(bool raw, std::vector<FrameBall>& balls) {
    this->half_done_.require_none("what " + device() + " holds");
    if (!raw) update_copies_to_look();
    const std::uint32_t active = this->seen().active;
    make_room_for(frame_balls_, active);
    this->with_kind([&](auto kind) {
        this->queue_.launch(
            active, BrickFrameBody<decltype(kind)>{this->params_, this->state_view(this->motion_), this->record_.data(),
                                                   image_view(this->labels_), frame_balls_.data(), raw});
    });
    balls.resize(active);
    this->queue_.download(frame_balls_.data(), balls.data(), active);
    this->queue_.wait();
    std::erase_if(balls, [](const FrameBall& ball) { return ball.id == ~std::uint32_t{0}; });
}

template <class Real, int Dim>
BrickCounts CudaBrick<Real, Dim>::counts() const {
    const Control& control = this->seen();
    BrickCounts counts;
    std::copy_n(control.impulse, counts.impulse.size(), counts.impulse.begin());
    std::copy_n(control.heat, counts.heat.size(), counts.heat.begin());
    counts.max_overlap = static_cast<double>(from_bits(control.max_overlap));
    counts.balls_left = control.balls_left;
    return counts;
}

template <class Real, int Dim>
std::uint64_t CudaBrick<Real, Dim>::memory_bytes() const {
    std::uint64_t total = Base::memory_bytes() + copies_start_.bytes() + moving_.bytes() + border_cell_.bytes() +
                          border_balls_.bytes() + records_.bytes() + frame_balls_.bytes() + work_here_.bytes() +
                          kept_gone_.bytes() + out_.balls.bytes() + out_.bytes.bytes() + in_.balls.bytes() +
                          in_.bytes.bytes();
    for (int axis = 0; axis < Dim; ++axis) {
        total += kept_.x[axis].bytes() + kept_.v[axis].bytes();
        for (const auto& set : images_) total += set[axis].bytes();
    }
    return total;
}

template <class Real, int Dim>
std::unique_ptr<BrickEngine> make_brick_of(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                           std::uint64_t step, const std::array<int, 3>& layers) {
    return std::make_unique<CudaBrick<Real, Dim>>(transport, setup, balls, step, layers);
}

}  // namespace carom::CAROM_PROCESSOR
