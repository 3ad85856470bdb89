#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "host/events/calendar.hpp"
#include "host/events/cells.hpp"
#include "host/events/clock.hpp"
#include "host/events/events_engine.hpp"
#include "host/events/flow.hpp"
#include "host/events/records.hpp"
#include "kernels/core/lanes.hpp"
#include "kernels/core/pages.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"
#include "kernels/physics/path_length.hpp"
#include "kernels/physics/thermal_wall.hpp"

namespace carom {

/// Two surfaces closer than this fraction of the sum of the radii touch: a gap that no rounding of the lengths in a
/// scene exceeds, and that two balls cross in no time that matters.
constexpr double kTouching = 1.0e-9;

/// A pair closes only if d . dv is below minus this fraction of diameter times typical speed: a few ulp, so that balls
/// that touch and move together do not collide for ever by rounding alone.
constexpr double kClosingRounding = 1.0e-15;

/// The event-driven engine.
///
/// Each ball has one event in the calendar: the earliest of its next contact and of its leaving its cell. A ball's
/// position stands at its own last event and moves only when one of its own comes. A contact is known to the ball that
/// predicted it last; when the partner's path has changed meanwhile (its `hits` tells), the event is stale, and the
/// ball predicts anew. That is enough: a partner whose path changed predicted against this ball itself.
///
/// Slots are the order in memory, sorted by place now and then; ids are the user's. Nothing that reaches a ball's bits
/// depends on slots, nor on the calendar's layout.
///
/// Lists: contacts are looked for in neighbour lists instead of cells, and leaving a bubble takes the place of leaving
/// a cell (engine_lists.hpp); for dense systems.
///
/// Gravity as a template parameter leaves the plain case without its terms; what is rarer (bodies of infinite mass,
/// extra walls, dissipation) is decided once per event, outside the loop over partners.
template <int Dim, bool Gravity, bool Lists>
class Engine final : public EventsEngine {
public:
    Engine(const EventsSetup& setup, const SolverState& state);

    double time() const override { return time_; }
    std::uint64_t events() const override { return events_; }
    bool advance(double time, std::uint64_t most_events) override;
    void frame(Frame& frame) const override;
    Totals totals() const override;
    Tallies tallies() const override;
    EventsStatistics statistics() const override;
    const EventsStatistics& counted() const override { return counted_; }
    double path_so_far() const override { return counted_.path_length + paths_up_to(now_); }
    void save(SolverState& state) const override;
    void draw_anew(double temperature, double probability, std::uint64_t number) override;
    void scale_velocities(double factor) override;
    void add_work(double work) override { tallies_.work += work; }
    using EventsEngine::set_log;
    void set_log(std::function<void(const LoggedImpact&)> log, std::vector<std::uint8_t> of) override {
        log_ = std::move(log);
        heard_of_ = std::move(of);
    }
    std::size_t memory_bytes() const override;
    std::vector<std::pair<std::string, double>> parameters() const override;

private:
    using Slot = std::uint32_t;
    using Vector = Vec<double, Dim>;
    static constexpr std::uint32_t kNoContact = ~0U;  // as Forecast::partner
    static constexpr std::uint32_t kStale = ~0U;      // as hits of a partner whose path has changed
    static constexpr std::uint32_t kFaces = 6;
    static constexpr Slot kFewBalls = 6000;     // they lie in the cache in any order
    static constexpr Slot kShortTicks = 50000;  // the calendar's present is a part of the memory that counts
    static constexpr int kNoShift = 13;         // the middle of 27 periodic shifts

    // engine_setup.hpp: making, and what happens at the start of an epoch
    void read_setup();
    void read_species(const Balls& balls);
    void start(const SolverState& state);
    void take_over(const SolverState& state);
    void load_counts(const std::vector<double>& saved);
    void resume(const SolverState& state);
    [[nodiscard]] double least_edge() const;
    void find_cells();
    bool refine_cells();
    void put_into_cells();
    void check_overlaps();
    void begin_epoch();
    void start_calendar(double end);
    void sort_slots();
    [[nodiscard]] double epoch_length() const;
    [[nodiscard]] double fastest_speed() const;
    [[nodiscard]] double paths_up_to(double time) const;

    // engine_predict.hpp: what comes next for a ball
    template <bool CountTouching>
    int predict(Slot i);
    void forecast_walls(Slot i);
    void schedule(Slot i);
    template <int A, int B>
    [[nodiscard]] std::uint32_t gather_inside(std::uint32_t first, std::uint32_t stride_a, std::uint32_t stride_b,
                                              std::uint32_t end);
    struct CellsAlong {
        std::uint64_t offset[3];
        int code[3];
    };
    [[nodiscard]] CellsAlong cells_along(int axis, std::uint32_t cell) const;
    template <int A, int B>
    [[nodiscard]] std::uint32_t gather_at_edge(std::uint64_t offset, int code, const CellsAlong& along_a,
                                               const CellsAlong& along_b, std::uint32_t end);
    [[nodiscard]] std::uint32_t gather_all(Slot i, bool& at_edge);
    [[nodiscard]] std::uint32_t gather_ahead(Slot i, int axis, bool up);
    template <bool CountTouching>
    int scan(Slot i, std::uint32_t count, bool at_edge, double before);
    template <bool Shifted, bool CountTouching>
    int scan_lanes(Slot i, const Slot* list, std::uint32_t count, double before);
    template <bool CountTouching>
    int scan_singly(Slot i, std::uint32_t count, bool at_edge, double before);
    [[nodiscard]] double leaving_time(Slot i, std::uint32_t& side) const;
    [[nodiscard]] double wall_time(Slot i, std::size_t wall) const;
    void note_edge(Forecast& forecast) const;

    // engine_lists.hpp: neighbour lists and their bubbles
    [[nodiscard]] std::uint32_t keep_listed(Slot i, std::uint32_t count, bool at_edge);
    [[nodiscard]] std::uint32_t gather_listed(Slot i);
    void store_list(Slot i, std::uint32_t count);
    void make_all_lists();
    void leave_bubble(Slot i);
    [[nodiscard]] double bubble_time(Slot i, std::uint32_t& number) const;
    /// Of the event that a ball leaves its bubble: behind the faces and walls.
    [[nodiscard]] std::uint32_t bubble_number() const { return kFaces + static_cast<std::uint32_t>(walls_.size()); }

    // engine_events.hpp: what happens
    bool run_before(double limit, std::uint64_t& most_events);
    void handle(const CalendarEntry& entry);
    void advance_ball(Slot i, double time);
    void move_ball(Slot i, double time);
    void leave_cell(Slot i, std::uint32_t side);
    void collide(Slot i, Slot j);
    void collide_with_losses(Slot i, Slot j, const Vector& d, double d2, double b);
    void collide_face(Slot i, std::uint32_t face);
    void collide_wall(Slot i, std::size_t wall);
    void hit_wall(Slot i, std::uint32_t number, const Vector& into_box);
    void hit_thermal_wall(Slot i, std::uint32_t number, const Vector& into_box);
    void remove(Slot i);
    bool tie_before(const CalendarEntry& a, const CalendarEntry& b) const;
    [[noreturn]] void throw_collapse(Slot i) const;
    [[noreturn]] void throw_heavy_at_wall(Slot i, std::uint32_t face) const;
    void watch_progress(Slot i);

    // engine_contacts.hpp: contacts, one or several
    [[nodiscard]] double restitution(Slot i, Slot j, double vn);
    [[nodiscard]] double wall_restitution(Slot i, double vn);
    [[nodiscard]] Vector least_hop(Slot i, const Vector& velocity, const Vector& into_box) const;
    [[nodiscard]] bool collided_within_tc(Slot i) const;
    [[nodiscard]] int touching_walls(Slot i) const;
    void resolve_touching(Slot i, std::uint32_t partner);
    void account_change(Slot i, const Vector& velocity_before);
    void add_stress(const Vector& d, const Vector& impulse_on_j);
    [[nodiscard]] const std::vector<Slot>& slots() const;
    void change_velocity(Slot i, const Vector& velocity);
    void account_pair(Slot i, Slot j, const Vector& impulse_on_j, const Vector& d);
    void account_wall(Slot i, std::uint32_t number, const Vector& impulse_on_i);
    [[nodiscard]] double energy(const ImpactBody<Dim>& body) const;
    bool logged(Slot i) const;
    void log_pair(Slot i, Slot j) const;
    void log_wall(Slot i, std::uint32_t number) const;
    [[nodiscard]] ImpactBody<Dim> body(Slot i) const;
    void set_body(Slot i, const ImpactBody<Dim>& body);

    // Small things used all over
    struct Flight {
        Vector position, velocity;
    };
    [[nodiscard]] double since_start() const { return clock_.since_start(now_); }
    [[nodiscard]] Flight at(Slot i, double time) const;
    [[nodiscard]] Vector nearest(Vector d) const;
    [[nodiscard]] Lanes nearest_lanes(const Lanes& d) const;
    [[nodiscard]] Vector from_to(Slot i, Slot j, double time) const;
    [[nodiscard]] WallGap<Dim> gap_to(std::uint32_t number, const Vector& position) const;
    /// Of a face or [[wall]]: 0 where it reflects.
    [[nodiscard]] double wall_temperature(std::uint32_t number) const {
        return number < kFaces ? setup_.box.temperature[number / 2][number % 2] : walls_[number - kFaces].temperature;
    }
    /// Along the normal.
    [[nodiscard]] double wall_speed(std::uint32_t number) const {
        return number < kFaces ? 0.0 : walls_[number - kFaces].speed;
    }
    /// Thermal and moving walls meet one ball at a time: they take no part in clusters of contacts.
    [[nodiscard]] bool acts_alone(std::uint32_t number) const {
        return wall_temperature(number) > 0.0 || wall_speed(number) != 0.0;
    }
    [[nodiscard]] bool is_wall(int axis, int end) const { return setup_.box.faces[axis][end] == Face::kWall; }
    [[nodiscard]] double inverse_mass(Slot i) const {
        return same_inverse_mass_ != 0.0 ? same_inverse_mass_ : inverse_mass_[i];
    }
    [[nodiscard]] bool heavy(Slot i) const { return any_heavy_ && inverse_mass(i) == 0.0; }
    [[nodiscard]] Vector gravity_of(Slot i) const;
    [[nodiscard]] std::uint32_t cell_number(const std::uint16_t* cell) const;
    void note_overlap(double overlap, double smaller_radius);

    EventsSetup setup_;
    std::vector<Species> species_table_;
    std::vector<std::uint32_t> species_;  // by id
    Slot count_ = 0;
    Vector size_{};  // of the box
    Vector gravity_{};
    bool all_periodic_ = true;
    bool any_wall_ = false;
    double same_inverse_mass_ = 0.0;  // of all balls, where they have one; else 0
    bool any_heavy_ = false;          // bodies of infinite mass
    bool elastic_ = true;  // impacts between balls keep their energy and momentum: e = 1, no friction, none heavy
    bool elastic_walls_ = true;
    std::vector<Boundary<Dim>> walls_;  // where moving ones stand at setup_.walls_time
    std::uint64_t draws_ = 0;           // of velocities by thermal walls, so far

    CellGrid grid_;
    alignas(32) std::array<double, 4> cell_edge_{};  // of the grid; 1 behind it
    CellLists cells_;
    PageVector<HotBall> hot_;  // by slot; one more, all NaN, that nothing ever meets
    PageVector<NextEvent> next_;
    PageVector<Forecast> forecast_;
    PageVector<NeighbourList> lists_;  // by slot, with lists only; one more, all NaN
    std::vector<Slot> long_list_;
    std::vector<std::uint8_t> listed_;                  // by slot: 0 between events
    std::vector<double> inverse_mass_;                  // by slot; empty where all are the same
    std::vector<double> inverse_kr2_;                   // by slot; empty without friction
    std::vector<Spin<Dim>> spin_;                       // by slot; empty where all are zero
    std::vector<std::array<std::int32_t, Dim>> image_;  // by slot
    std::vector<double> last_hit_;                      // by slot; empty without tc
    std::vector<std::uint32_t> id_of_;                  // by slot
    mutable std::vector<Slot> slot_of_;                 // by id; empty where not needed since the last sort
    std::vector<std::uint8_t> gone_;                    // by slot
    std::vector<std::uint32_t> candidates_;             // slots gathered
    std::vector<std::uint8_t> shift_code_;              // of each, where the cell is at the edge
    alignas(32) std::array<double, 4> shift_[27];       // periodic shift by code
    alignas(32) std::array<double, 4> period_{};        // of the box; 0 where there is none
    alignas(32) std::array<double, 4> half_period_{};   // larger than any distance where there is none
    double least_radius_ = 0.0;
    double largest_radius_ = 0.0;

    Calendar calendar_;
    Clock clock_;
    double now_ = 0.0;          // since the start of the epoch
    double time_ = 0.0;         // what the caller asked for last, to the bit, or the time of the last event
    double speed_scale_ = 0.0;  // the fastest ball's speed at the start of the epoch
    double event_rate_ = 0.0;   // per time, of the epoch before
    std::uint64_t epoch_events_ = 0;
    std::uint64_t epochs_since_sort_ = 0;

    std::uint64_t events_ = 0;
    EventsStatistics counted_;
    Tallies tallies_;
    Flow<Dim> flow_;
    std::uint64_t watch_events_ = 0;
    double watch_time_ = 0.0;

    Cluster<Dim> cluster_;
    std::vector<Slot> members_;  // of the cluster
    std::function<void(const LoggedImpact&)> log_;
    std::vector<std::uint8_t> heard_of_;  // by id: the log hears of this ball; empty: of all
};

}  // namespace carom
