#include "host/ranks/ranked_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <span>

#include "host/backends/spring_backends.hpp"
#include "host/ranks/held_balls.hpp"
#include "host/ranks/launched.hpp"
#include "host/ranks/rank_steps.hpp"
#include "kernels/spring_refresh.hpp"

namespace carom {

namespace {

enum class Order : std::uint8_t {
    kMake,
    kAdvance,
    kChange,
    kSums,
    kCounts,
    kHold,
    kPart,
    kLook,
    kFigures,
    kDrop,
    kWork,
    kEnd
};

struct Command {
    Order order = Order::kEnd;
    std::uint64_t number = 0;  ///< of steps, bytes that follow, a question; of a part, its first ball; to others: below
    std::uint64_t count = 0;   ///< of balls in a part
    std::uint64_t engine = 0;  ///< whose order this is, of those that live
};
constexpr std::uint64_t kOnCuda = 1;  // to kMake
constexpr std::uint64_t kRaw = 1;     // to kHold

/// What a rank tells of itself.
struct RankReport {
    std::uint64_t memory_bytes = 0;
    std::uint64_t balls = 0;
    std::uint64_t copies = 0;
    BrickTraffic traffic;
    RankFigures figures;
};

/// A rank's part of an engine. What both rank 0 and the others do at an order; the others' answers go to rank 0.
class Part {
public:
    Part(const BrickMaker& maker, const std::string& processor, Transport& transport, const SpringSetup* setup,
         const RawBalls* balls, std::uint64_t step, const std::array<int, 3>& layers)
        : transport_(transport),
          bricks_(maker(processor, transport, setup, balls, step, layers)),
          steps_(*bricks_, transport),
          held_(transport) {}

    [[nodiscard]] BrickEngine& bricks() { return *bricks_; }
    [[nodiscard]] const RankSteps& steps() const { return steps_; }
    AdvanceResult advance(std::uint64_t steps) { return steps_.advance(steps); }
    /// What rank 0 has is for all.
    void change(const SpringSetup* setup, bool same_setup, VelocityChange velocities) {
        transport_.broadcast_value(same_setup);
        transport_.broadcast_value(velocities);
        steps_.change(same_setup ? nullptr : setup, same_setup, velocities);
    }

    /// Calls f(bytes) on rank 0 with what each rank has to say to kSums, kCounts or kFigures.
    template <class F>
    void answer(Order order, F&& f) {
        std::vector<std::byte> mine;
        if (order == Order::kSums) append(mine, bricks_->sums());
        if (order == Order::kCounts) append(mine, bricks_->counts());
        if (order == Order::kFigures) append(mine, report());
        if (transport_.rank() != 0) {
            transport_.send_to(0, mine);
            return;
        }
        f(std::span<const std::byte>(mine));
        for (int peer = 1; peer < transport_.size(); ++peer) {
            const std::vector<std::byte> bytes = transport_.receive_from(peer);
            f(std::span<const std::byte>(bytes));
        }
    }

    /// Holds the balls as they are now, for held() to be asked of.
    void hold(bool raw) { held_.hold(*bricks_, raw); }
    [[nodiscard]] HeldBalls& held() { return held_; }

    [[nodiscard]] RankReport report() const {
        return {bricks_->memory_bytes(), bricks_->balls(), bricks_->copies(), bricks_->traffic(), steps_.figures()};
    }

private:
    Transport& transport_;
    std::unique_ptr<BrickEngine> bricks_;
    RankSteps steps_;
    HeldBalls held_;
};

class RankedEngine final : public SpringEngine, private BallSampler {
public:
    RankedEngine(const BrickMaker& maker, const std::string& processor, Transport& transport, HalfDone& orders,
                 const std::array<int, 3>& layers, const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                 const Tallies& tallies, std::uint64_t number)
        : transport_(transport),
          orders_(orders),
          number_(number),
          before_(tallies),
          count_(balls.count),
          dimension_(setup.dimension),
          part_((say(Order::kMake, processor == "cuda" ? kOnCuda : 0), maker), processor, transport, &setup, &balls,
                step, layers) {
        before_.wall_impulse.resize(WallNumber::count(setup.walls.size()));
        before_.wall_heat.resize(before_.wall_impulse.size());
    }
    ~RankedEngine() override {
        try {
            order(Order::kDrop, 0, [] {});
        } catch (const std::exception&) {  // the others are lost, and this one is on its way out
        }
    }

    AdvanceResult advance(std::uint64_t steps) override {
        AdvanceResult result;
        holds_raw_.reset();
        order(Order::kAdvance, steps, [&] { result = part_.advance(steps); });
        if (const int signal = part_.steps().signal(); signal != 0) tell_signal(signal);
        return result;
    }
    bool change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) override {
        before_ = tallies();  // in units of the old setup
        before_.sorts -= part_.steps().figures().dealings;
        holds_raw_.reset();
        order(Order::kChange, 0, [&] { part_.change(&setup, same_setup, velocities); });
        return true;
    }
    std::uint64_t step() const override { return part_.bricks().step(); }
    std::uint64_t steps_at_once() const override { return RankSteps::kLongestCoast; }

    Totals totals() override {
        SpringSums sums = SpringSums::zero();
        ask(Order::kSums, [&](auto bytes) { sums.merge(values_in<SpringSums>(bytes).at(0)); });
        return sums.totals(part_.bricks().observe_grids());
    }
    Tallies tallies() override {
        BrickCounts counts;
        ask(Order::kCounts, [&](auto bytes) { counts.merge(values_in<BrickCounts>(bytes).at(0)); });
        Tallies result = before_;
        add_counts(part_.bricks().count_units(), counts.impulse.data(), counts.heat.data(), result);
        result.max_overlap = larger(counts.max_overlap, result.max_overlap);
        result.balls_left += counts.balls_left;
        result.sorts += part_.steps().figures().dealings;
        return result;
    }

    /// Each rank looks at the balls that it has.
    BallSampler* sample_balls(const BallKinds& kinds) override {
        hold(false);
        if (!std::exchange(kinds_told_, true)) ask(Question::kKinds, [&] { held().learn_kinds(&kinds, count_); });
        return this;
    }
    void request_frame(const BallArrays& arrays) override { part(false, 0, count_, arrays); }
    void finish_frame() override {}
    void store(const BallArrays& arrays) override { part(true, 0, count_, arrays); }
    bool in_parts() const override { return true; }
    void part(bool raw, std::size_t first, std::size_t count, const BallArrays& arrays) override;

    std::string device() const override { return part_.bricks().device(); }
    int threads() const override { return part_.bricks().threads(); }
    std::uint64_t memory_bytes() const override {
        std::uint64_t bytes = 0;
        for (const RankReport& one : reports()) bytes += one.memory_bytes;
        return bytes;
    }
    double margin() const override { return part_.bricks().margin(); }
    double largest_quantum() const override { return part_.bricks().largest_quantum(); }
    EngineFigures figures() const override;

    bool pictures_on_host() const override { return true; }
    std::unique_ptr<SharedBuffer> share_buffer(unsigned) override { return nullptr; }
    void give_picture_values(std::span<const float>) override {}
    bool write_picture(const PictureOrder&, const PictureArrays&, std::span<float>) override { return false; }

private:
    void say(Order order, std::uint64_t number = 0, std::uint64_t count = 0) const {
        Command command{order, number, count, number_};
        transport_.broadcast_value(command);
    }
    /// Gives an order and does it. Where that fails half-way, the others wait for what does not come: then none
    /// follows.
    template <class Action>
    void order(Order order, std::uint64_t number, Action&& action, std::uint64_t count = 0) const {
        orders_.require_none("the other ranks' part");
        orders_.change([&] {
            say(order, number, count);
            action();
        });
    }
    template <class F>
    void ask(Order what, F&& f) const {
        order(what, 0, [&] { part_.answer(what, f); });
    }
    using Question = HeldBalls::Question;
    template <class Action>
    void ask(Question question, Action&& action) const {
        order(Order::kLook, static_cast<std::uint64_t>(question), action);
    }
    [[nodiscard]] HeldBalls& held() const { return part_.held(); }
    /// Has all hold the balls of now.
    void hold(bool raw) {
        if (holds_raw_ == raw) return;
        holds_raw_.reset();
        kinds_told_ = false;
        forget();
        order(Order::kHold, raw ? kRaw : 0, [&] { part_.hold(raw); });
        holds_raw_ = raw;
    }

    double find_largest_energy(std::span<const std::uint8_t> chosen) override {
        double largest = 0.0;
        ask(Question::kEnergy, [&] { largest = held().largest_energy({chosen.begin(), chosen.end()}); });
        return largest;
    }
    double sums(const BallSums& what, std::span<const std::uint8_t> chosen, std::span<std::int64_t> sums) override {
        std::vector<std::int64_t> numbers;
        double largest = 0.0;
        ask(Question::kSums, [&] { largest = held().sums(what, {chosen.begin(), chosen.end()}, numbers); });
        std::ranges::copy(numbers, sums.begin());
        return largest;
    }
    PairSample pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                     std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) override {
        std::vector<std::int64_t> numbers;
        PairSample sample;
        ask(Question::kPairs, [&] {
            sample =
                held().pairs(order, {references.begin(), references.end()}, {others.begin(), others.end()}, numbers);
        });
        std::ranges::copy(numbers, pairs.begin());
        return sample;
    }
    void follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                std::span<double> values) override {
        std::vector<double> numbers;
        ask(Question::kFollow, [&] {
            held().follow({ids.begin(), ids.end()}, what, {size.begin(), size.end()}, numbers);
        });
        std::ranges::copy(numbers, values.begin());
    }

    /// Of a run that has failed, this rank's alone: the others are asked nothing any more.
    [[nodiscard]] std::vector<RankReport> reports() const {
        if (!orders_.none()) return {part_.report()};
        std::vector<RankReport> all;
        ask(Order::kFigures, [&](auto bytes) { all.push_back(values_in<RankReport>(bytes).at(0)); });
        return all;
    }
    Transport& transport_;
    HalfDone& orders_;
    std::uint64_t number_;  // among all engines of these ranks
    Tallies before_;
    std::size_t count_;
    int dimension_;
    mutable Part part_;
    std::optional<bool> holds_raw_;  // by all ranks of the present step: raw or not
    bool kinds_told_ = false;        // of what is held
};

void RankedEngine::part(bool raw, std::size_t first, std::size_t count, const BallArrays& arrays) {
    hold(raw);
    std::fill_n(arrays.gone, count, std::uint8_t{1});
    std::size_t in = 0;
    const auto put = [&](const FrameBall& ball) {
        const std::size_t at = ball.id - first;
        ++in;
        arrays.gone[at] = 0;
        for (int axis = 0; axis < dimension_; ++axis) {
            arrays.position[axis][at] = ball.position[axis];
            arrays.velocity[axis][at] = ball.velocity[axis];
            arrays.image[axis][at] = ball.image[axis];
        }
    };
    order(
        Order::kPart, first, [&] { held().gather(first, count, put); }, count);
    for (std::size_t at = 0; in < count && at < count; ++at) {  // those that no rank has
        if (arrays.gone[at] == 0) continue;
        for (int axis = 0; axis < dimension_; ++axis) {
            arrays.position[axis][at] = raw ? part_.bricks().box_min(axis) : std::nan("");
            arrays.velocity[axis][at] = raw ? 0.0 : std::nan("");
            arrays.image[axis][at] = 0;
        }
    }
}

EngineFigures RankedEngine::figures() const {
    const std::vector<RankReport> all = reports();
    const Cut& cut = part_.bricks().cut();
    std::string layers;
    for (int axis = 0; axis < cut.dimension; ++axis) {
        layers += (axis == 0 ? "" : " x ") + std::to_string(cut.along(axis));
    }
    double waiting = 0.0;
    double seconds = 0.0;
    double busiest = 0.0;
    BrickTraffic sent;
    std::uint64_t copies = 0;
    for (const RankReport& one : all) {
        const double waited = one.traffic.seconds + one.figures.agreeing;
        waiting += waited;
        seconds += one.figures.seconds;
        busiest = std::max(busiest, one.figures.seconds - waited);
        sent.bytes += one.traffic.bytes;
        sent.messages += one.traffic.messages;
        copies += one.copies;
    }
    const double share = seconds > 0.0 ? waiting / seconds : 0.0;
    const double busy = (seconds - waiting) / static_cast<double>(all.size());
    const RankFigures& mine = all.front().figures;
    const double steps = std::max(1.0, static_cast<double>(mine.steps));
    EngineFigures figures;
    figures.numbers = {{"ranks", static_cast<double>(all.size())},
                       {"rank_imbalance", mine.mean_imbalance},
                       {"rank_time_imbalance", busy > 0.0 ? busiest / busy - 1.0 : 0.0},
                       {"rank_seconds", seconds / static_cast<double>(all.size())},
                       {"rank_waiting_share", share},
                       {"rank_bytes_per_step", static_cast<double>(sent.bytes) / steps},
                       {"rank_messages_per_step", static_cast<double>(sent.messages) / steps},
                       {"rank_copies", static_cast<double>(copies)},
                       {"rank_coasts", static_cast<double>(mine.coasts)},
                       {"rank_retreats", static_cast<double>(mine.retreats)}};
    figures.lines.push_back(
        fmt::format("{} ranks, {} bricks: {:.1f} % more work for the busiest than in the mean; {:.0f} % of the time in "
                    "messages, {:.3g} kB a step",
                    all.size(), layers, 100.0 * mine.mean_imbalance, 100.0 * share,
                    1e-3 * static_cast<double>(sent.bytes) / steps));
    return figures;
}

}  // namespace

Ranks::Ranks(std::shared_ptr<Transport> transport, BrickMaker maker)
    : transport_(std::move(transport)), maker_(std::move(maker)) {}

Ranks::~Ranks() {
    constexpr int kSystemFailure = 4;
    try {
        orders_.require_none("");
    } catch (const std::exception&) {
        transport_->abort(kSystemFailure);
        return;
    }
    try {
        Command command{Order::kEnd};
        transport_->broadcast_value(command);
    } catch (const std::exception&) {  // there is nobody to be let go
    }
}

int Ranks::count() const { return transport_->size(); }

std::unique_ptr<SpringEngine> Ranks::make_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                 const Tallies& tallies) {
    orders_.require_none("the other ranks' part");
    std::unique_ptr<SpringEngine> engine;
    std::exception_ptr cannot;
    orders_.change([&] {
        try {
            engine = std::make_unique<RankedEngine>(maker_, processor_, *transport_, orders_, layers_, setup, balls,
                                                    step, tallies, engines_++);
        } catch (const CannotShare&) {  // all of them have found it
            cannot = std::current_exception();
        }
    });
    if (cannot) std::rethrow_exception(cannot);
    return engine;
}

void Ranks::work(std::span<const std::byte> order, const std::function<void(Transport&)>& mine) {
    orders_.require_none("the other ranks' part");
    orders_.change([&] {
        Command command{Order::kWork, order.size()};
        transport_->broadcast_value(command);
        std::vector<std::byte> bytes(order.begin(), order.end());
        transport_->broadcast(bytes);
        mine(*transport_);
    });
}

void serve_rank(Transport& transport, const RankWork& work, const BrickMaker& maker) {
    std::map<std::uint64_t, std::unique_ptr<Part>> parts;  // of engines that live
    for (;;) {
        Command command;
        transport.broadcast_value(command);
        const auto part = [&] { return parts.at(command.engine).get(); };
        switch (command.order) {
            case Order::kMake:
                try {
                    parts[command.engine] =
                        std::make_unique<Part>(maker, command.number == kOnCuda ? "cuda" : "cpu", transport, nullptr,
                                               nullptr, 0, std::array<int, 3>{});
                } catch (const CannotShare&) {  // rank 0 says so
                }
                break;
            case Order::kAdvance:
                part()->advance(command.number);
                break;
            case Order::kChange:
                part()->change(nullptr, false, {});
                break;
            case Order::kDrop:
                parts.erase(command.engine);
                break;
            case Order::kWork: {
                std::vector<std::byte> bytes(command.number);
                transport.broadcast(bytes);
                work(transport, bytes);
                break;
            }
            case Order::kEnd:
                return;
            case Order::kHold:
                part()->hold(command.number == kRaw);
                break;
            case Order::kPart:
                part()->held().gather(command.number, command.count, [](const FrameBall&) {});
                break;
            case Order::kLook:
                part()->held().answer(static_cast<HeldBalls::Question>(command.number));
                break;
            default:
                part()->answer(command.order, [](auto) {});
        }
    }
}

}  // namespace carom
