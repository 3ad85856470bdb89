// What comes next for a ball, against all pairs and all walls one by one; and contacts at one instant. Without an
// engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "host/events/clusters.hpp"
#include "host/events/predictor.hpp"
#include "host/state/solver_records.hpp"
#include "kernels/core/random.hpp"

namespace carom::events_predictor_test {

/// In (0, 1).
double uniform(std::uint64_t k, int number) {
    return random_words(9, k, RandomPurpose::kShake, static_cast<std::uint64_t>(number)).uniform(0);
}

constexpr double kSpeed = 2.0;  // above all speeds here

/// Balls in a box, in cells; the box's last axis has walls, the others are periodic.
template <int Dim, bool Gravity>
class Gas {
public:
    Gas(std::size_t count, bool with_heavy) {
        box_.dimension = Dim;
        for (int axis = 0; axis < Dim; ++axis) {
            box_.size[axis] = 9.0 + axis;
            const Face face = axis == Dim - 1 ? Face::kWall : Face::kPeriodic;
            box_.faces[axis] = {face, face};
        }
        Balls kinds;
        kinds.dimension = Dim;
        kinds.species_table = {{"a", 0.3, 1.0, 0.2, ""}, {"b", 0.1, 2.0, 0.1, ""}, {"c", 0.2, INFINITY, 0.1, ""}};
        kinds.resize(count);
        for (std::size_t id = 0; id < count; ++id) kinds.species[id] = with_heavy && id % 4 == 3 ? 2 : id % 2;
        Vec<double, Dim> gravity = Vec<double, Dim>::filled(0.0);
        if (Gravity) gravity[Dim - 1] = -0.4;
        balls_.emplace(kinds, gravity, false);
        cells_.emplace(box_);
        cells_->cut(CellGrid::design(box_, 0.61, 1.0e9), static_cast<std::uint32_t>(count));
        for (Slot i = 0; i < count; ++i) {
            HotBall& ball = balls_->hot(i);
            for (int axis = 0; axis < Dim; ++axis) {
                ball.position[axis] = box_.size[axis] * uniform(i, axis);
                ball.velocity[axis] = 2.0 * uniform(i, 3 + axis) - 1.0;
            }
            places_.push_back(cells_->place_of(ball.position));
            cells_->add(places_[i], i);
            ball.time = -1.0e-3 * uniform(i, 6);  // the event was a moment ago
        }
    }

    /// The earliest contact of ball i, as the predictor has it.
    Meeting predicted(Slot i) {
        balls_->move(i, 0.0);
        const std::uint32_t count = cells_->gather_around(places_[i]);
        const bool edge = places_[i].at_edge != 0;
        const Slot* const list = cells_->candidates();
        const ImageByCell<Dim> image{*cells_};
        if (balls_->any_heavy()) {
            return edge ? meet_singly(*balls_, i, list, count, kNeverTouch, kSpeed, kNoContact, image)
                        : meet_singly(*balls_, i, list, count, kNeverTouch, kSpeed, kNoContact, SameImage{});
        }
        cells_->fill_up(count, edge);
        const Meeting found = edge ? meet<true>(*balls_, i, list, count, kNeverTouch, kSpeed, image)
                                   : meet<true>(*balls_, i, list, count, kNeverTouch, kSpeed, SameImage{});
        const Meeting singly = edge
                                   ? meet_singly(*balls_, i, list, count, kNeverTouch, kSpeed, kNoContact, image)
                                   : meet_singly(*balls_, i, list, count, kNeverTouch, kSpeed, kNoContact, SameImage{});
        EXPECT_EQ(found.touches, singly.touches);
        EXPECT_NEAR(found.time, singly.time, 1e-9 * (1.0 + found.time));
        return found;
    }

    /// The earliest of all pairs in all images by steps in time; kNoContact where there is none in the time given.
    std::pair<double, Slot> stepped(Slot i, double until) const {
        constexpr int kSteps = 400;
        std::pair<double, Slot> first{until, kNoContact};
        for (Slot j = 0; j < balls_->count(); ++j) {
            if (j == i || (balls_->heavy(i) && balls_->heavy(j))) continue;
            double before = gap(i, j, 0.0);
            for (int step = 1; step <= kSteps; ++step) {
                const double time = until * step / kSteps;
                const double now = gap(i, j, time);
                if (before > 0.0 && now <= 0.0 && time < first.first) first = {time, j};
                before = now;
            }
        }
        return first;
    }

    [[nodiscard]] double gap(Slot i, Slot j, double time) const {
        auto d = balls_->at(j, time).position - balls_->at(i, time).position;
        double square = 0.0;
        for (int axis = 0; axis < Dim; ++axis) {
            double along = std::abs(d[axis]);
            if (box_.periodic(axis)) along = std::min(along, box_.size[axis] - along);
            square += along * along;
        }
        return std::sqrt(square) - balls_->hot(i).radius - balls_->hot(j).radius;
    }

    [[nodiscard]] Leaving leaving(Slot i) const {
        return leaving_cell(*balls_, i, places_[i], *cells_, Enclosure<Dim>(box_, {}, 0.0));
    }
    [[nodiscard]] const Box& box() const { return box_; }
    [[nodiscard]] const CellPlace& place(Slot i) const { return places_[i]; }
    [[nodiscard]] const CellGrid& grid() const { return cells_->grid(); }
    [[nodiscard]] const FlyingBalls<Dim, Gravity>& balls() const { return *balls_; }

private:
    Box box_;
    std::optional<FlyingBalls<Dim, Gravity>> balls_;
    std::optional<NeighbourCells<Dim>> cells_;
    std::vector<CellPlace> places_;
};

/// Contacts before a ball or its partner can leave the cells that are looked at: those must be found, and at their
/// time.
template <int Dim, bool Gravity>
void find_first_contacts(bool with_heavy) {
    constexpr double kSoon = 0.15;  // a ball crosses half a cell
    Gas<Dim, Gravity> gas(Dim == 2 ? 180 : 900, with_heavy);
    int met = 0;
    for (Slot i = 0; i < 100; ++i) {
        const Meeting found = gas.predicted(i);
        const auto [time, partner] = gas.stepped(i, kSoon);
        if (found.partner != kNoContact && found.time < kSoon) {
            // Balls put at random overlap; two that do and close meet now.
            if (found.time > 0.0) {
                EXPECT_NEAR(gas.gap(i, found.partner, found.time), 0.0, 1e-12) << i;
            }
            EXPECT_LE(found.time, time) << i;
        }
        if (partner == kNoContact) continue;
        ++met;
        EXPECT_LE(found.time, time) << i << " meets " << partner;
    }
    EXPECT_GT(met, 5);
}

TEST(Predictor, FindsTheFirstContactInAllImages) {
    find_first_contacts<2, false>(false);
    find_first_contacts<2, true>(false);
    find_first_contacts<3, false>(false);
    find_first_contacts<3, true>(false);
}

TEST(Predictor, FindsContactsWithWhatGravityDoesNotMove) {
    find_first_contacts<2, false>(true);
    find_first_contacts<2, true>(true);
    find_first_contacts<3, true>(true);
}

/// At the time told the centre is on the side told, or the ball touches the wall there.
template <int Dim, bool Gravity>
void leave_cells() {
    Gas<Dim, Gravity> gas(60, false);
    for (Slot i = 0; i < 60; ++i) {
        const HotBall& ball = gas.balls().hot(i);
        const Leaving leaving = gas.leaving(i);
        ASSERT_LT(leaving.side, 2U * Dim);
        const int axis = static_cast<int>(leaving.side / 2);
        const bool up = leaving.side % 2 == 1;
        const std::uint32_t cell = gas.place(i).cell[axis];
        double border = (cell + (up ? 1 : 0)) * gas.grid().edge[axis];
        if (axis == Dim - 1 && cell == 0 && !up) border = ball.radius;
        if (axis == Dim - 1 && cell + 1 == gas.grid().cells[axis] && up) border = gas.box().size[axis] - ball.radius;
        const double x = gas.balls().at(i, ball.time + leaving.time).position[axis];
        if (leaving.time > 0.0) {
            EXPECT_NEAR(x, border, 1e-12) << i;
        } else {  // put into the wall
            EXPECT_TRUE(up ? x >= border : x <= border) << i;
        }
    }
}

TEST(Predictor, TellsWhereABallLeavesItsCell) {
    leave_cells<2, false>();
    leave_cells<2, true>();
    leave_cells<3, false>();
    leave_cells<3, true>();
}

// Bodies 0 ... 9; who touches whom is given as a graph, walls among it.
TEST(Touches, ReachAllThatTouchDirectlyOrThroughOthers) {
    constexpr std::uint32_t kCount = 10;
    const auto id_of = [](std::uint32_t slot) { return (slot * 7) % kCount; };
    for (std::uint64_t draw = 0; draw < 200; ++draw) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> edges;  // slots, or kCount + wall
        for (std::uint32_t one = 0; one < kCount; ++one) {
            for (std::uint32_t two = one + 1; two < kCount + 3; ++two) {
                if (uniform(1000 * draw + 20 * one + two, 0) < 0.12) edges.insert({one, two});
            }
        }
        if (edges.empty()) continue;
        const auto [first, partner] = *edges.begin();
        // All that is reached, by going over the graph until nothing is added.
        std::set<std::uint32_t> reached{first};
        if (partner < kCount) reached.insert(partner);
        for (std::size_t before = 0; before != reached.size();) {
            before = reached.size();
            for (const auto& [one, two] : edges) {
                if (two < kCount && (reached.contains(one) || reached.contains(two))) reached.insert({one, two});
            }
        }
        std::set<std::pair<std::uint32_t, std::uint32_t>> expected;  // by id
        for (const auto& [one, two] : edges) {
            if (!reached.contains(one)) continue;
            const std::uint32_t j = two < kCount ? id_of(two) : two;
            expected.insert(two < kCount && j < id_of(one) ? std::pair{j, id_of(one)} : std::pair{id_of(one), j});
        }
        Touches touches;
        touches.collect(first, partner, kCount, id_of, [&](std::uint32_t slot, const auto& add) {
            for (const auto& [one, two] : edges) {
                if (one == slot) add(two);
                if (two == slot) add(one);
            }
        });
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (const Touches::Pair& pair : touches.pairs()) {
            pairs.emplace_back(pair.key_one, pair.key_two);
            EXPECT_EQ(id_of(pair.one), pair.key_one);
            EXPECT_LT(touches.index_of(pair.one), static_cast<int>(touches.members().size()));
        }
        EXPECT_EQ(pairs, (std::vector(expected.begin(), expected.end()))) << "each once, in order";
        EXPECT_EQ((std::set(touches.members().begin(), touches.members().end())), reached);
    }
}

// One hit with speed 1; another contact of the cluster approaches with less than its noise. It brought us here.
TEST(Cluster, ResolvesTheContactThatItBeganWithHoweverSlow) {
    const auto body = [](double vx) { return ImpactBody<2>{{{vx, 0.0}}, {{0.0}}, 1.0, 0.5, 0.0}; };
    const ClusterContact<2> fast{0, 1, {{1.0, 0.0}}, 1.0, 0.0};
    const ClusterContact<2> slow{2, 3, {{1.0, 0.0}}, 1.0, 0.0};
    constexpr double kSlow = 1.0e-14;
    for (const bool begins : {false, true}) {
        Cluster<2> cluster;
        cluster.bodies = {body(1.0), body(0.0), body(kSlow), body(0.0)};
        cluster.contacts = {fast, slow};
        resolve_cluster_from(cluster, begins ? 1 : 2, SimultaneousLaw::kReflect, 0.0);
        EXPECT_EQ(cluster.bodies[1].velocity[0], 1.0);
        EXPECT_EQ(cluster.contacts[1].hit, begins);
        EXPECT_EQ(cluster.bodies[3].velocity[0], begins ? kSlow : 0.0);
    }
}

TEST(Restitution, IsOneWhereContactsWouldNeverEnd) {
    EventsCounts counted;
    const auto never = [] { return false; };
    const auto always = [] { return true; };
    EXPECT_EQ(restitution(0.5, -1.0, 0.1, never, counted), 0.5);
    EXPECT_EQ(restitution(0.5, -1.0, 0.1, always, counted), 1.0);
    EXPECT_EQ(restitution(0.5, -0.05, 0.1, never, counted), 1.0);
    EXPECT_EQ(restitution(1.0, -0.05, 0.1, always, counted), 1.0);
    EXPECT_EQ(counted.elastic_by_tc, 1u);
    EXPECT_EQ(counted.elastic_by_cutoff, 1u);
}

TEST(LeastHop, IsForBallsThatLie) {
    const Vec<double, 2> up{{0.0, 1.0}};
    const Vec<double, 2> g{{0.0, -1.0}};
    const auto after = [&](double vy, const Vec<double, 2>& field, bool elastic = false) {
        const Vec<double, 2> velocity{{3.0, vy}};
        return velocity + least_hop(velocity, up, field, 0.16, elastic);
    };
    EXPECT_DOUBLE_EQ(after(-0.001, g)[1], -0.01) << "a sixteenth of the cut-off speed, towards the wall";
    EXPECT_EQ(after(-0.001, g)[0], 3.0);
    EXPECT_EQ(after(-0.02, g)[1], -0.02) << "faster";
    EXPECT_EQ(after(0.001, g)[1], 0.001) << "on its way up";
    EXPECT_EQ(after(-0.001, -1.0 * g)[1], -0.001) << "under a ceiling";
    EXPECT_EQ(after(-0.001, g, true)[1], -0.001) << "from so low, and nothing has been lost";
    EXPECT_DOUBLE_EQ(after(-1e-12, g, true)[1], -0.01) << "laid there";
}

}  // namespace carom::events_predictor_test
