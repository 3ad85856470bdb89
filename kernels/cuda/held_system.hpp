#pragma once

#include <cstdint>

#include "kernels/cuda/small_system.hpp"

// A small system that is alone, carried on by a crew which has a thread for each ball. From one sort to the next,
// blocks hold in shared memory all that a step asks for, so that it waits for nothing farther, and read from each other
// where neighbours are. A step takes as long as its slowest warp; so contacts and walls, of which few balls have any
// and some several, are dealt out to the block's threads as they come:
//
//     look     each thread looks who touches its ball, and puts what it finds on the block's list
//     touch    threads take contacts from one end, balls at faces from the other, and add to the balls' forces
//     move     each thread moves its ball
//
// Whether a step had a fault, and how far balls have moved, is known behind the look of the next, which changes
// nothing.

namespace carom::CAROM_PROCESSOR {

/// What a block's threads hold of something that each ball has, a ball a thread. On the host it is an array.
template <class T, std::uint32_t kSlots>
struct HeldArray {
    T* here;  ///< of this block's first ball

    /// Of a ball of this block.
    [[nodiscard]] CAROM_HD T& own(std::uint32_t slot) const { return here[slot % kSlots]; }
    /// Of any.
    CAROM_HD T operator[](std::uint32_t slot) const { return Crew::of_crew(own(slot), slot / kSlots); }
};

/// The same, to write to.
template <class T, std::uint32_t kSlots>
struct HeldHere {
    T* here;

    CAROM_HD T& operator[](std::uint32_t slot) const { return here[slot % kSlots]; }
};

/// Adds to a sum to which others may add, too. Its words are in order once all have.
template <int Dim>
CAROM_HD void add_shared(FixedSum<float, Dim>& sum, const FixedSum<float, Dim>& more) {
    for (int axis = 0; axis < Dim; ++axis) add_shared(&sum.steps[axis], more.steps[axis]);
}
template <int Dim>
CAROM_HD void add_shared(FixedSum<double, Dim>& sum, const FixedSum<double, Dim>& more) {
    for (int axis = 0; axis < Dim; ++axis) {
        add_shared(&sum.steps[axis], more.steps[axis]);
        add_shared(&sum.fine[axis], more.fine[axis]);
    }
}
template <int Dim>
CAROM_HD void put_in_order(FixedSum<float, Dim>& /*sum*/) {}
template <int Dim>
CAROM_HD void put_in_order(FixedSum<double, Dim>& sum) {
    for (int axis = 0; axis < Dim; ++axis) sum.carry(axis);
}

/// What blocks hold of a system, and how they take it in, step it, and leave it.
template <class Kind>
struct HeldSystem {
    using Real = typename Kind::Real;
    using Stored = typename Phase<Real>::Stored;
    static constexpr int kDim = Kind::kDim;
    static constexpr std::uint32_t kRows = 16;  // of a list; what is beyond is read where lists are

    /// A ball of this block and one that it touches.
    struct Contact {
        std::uint32_t slot;
        std::uint32_t other;
    };

    /// \tparam kSlots  balls of a block
    template <std::uint32_t kSlots>
    struct Of {
        static constexpr std::uint32_t kContacts = 4 * kSlots;  // with more, each thread does its own ball's

        Stored x[2][kDim][kSlots];  // a step goes from one to the other
        Real v[2][kDim][kSlots];
        Real radius[kSlots];
        Real inverse_mass[kSlots];
        FixedSum<Real, kDim> force[kSlots];
        std::int64_t anchor[kDim][kSlots];
        std::uint32_t entry[kRows][kSlots];
        RowRange rows[kSlots];
        std::uint32_t walls[kSlots];
        std::int32_t left_by[kSlots];  // as meet_faces says
        std::uint32_t face_slot[kSlots];
        Contact contact[kContacts];
        StepCounts counts[2];  // by step % 2
        WideCount impulse[kWallNumbers];
        StepNow<Real, kDim> nows[2];  // by step % 2
        Stored fastest[3];            // square of a speed, of a step by step % 3; 0 for the one behind it
        std::uint32_t contacts[2];    // found, by step % 2
        std::uint32_t face_balls;
    };

    /// A view of places and velocities, of the one or the other that steps go between.
    template <class View, std::uint32_t kSlots>
    CAROM_HD static View at_turn(Of<kSlots>& held, int turn, View view) {
        for (int axis = 0; axis < kDim; ++axis) {
            view.x[axis] = {held.x[turn][axis]};
            view.v[axis] = {held.v[turn][axis]};
        }
        return view;
    }

    /// The balls as a step reads them.
    template <std::uint32_t kSlots>
    struct Balls {
        Vec<HeldArray<Stored, kSlots>, kDim> x;
        Vec<HeldArray<Real, kSlots>, kDim> v;
        HeldArray<Real, kSlots> radius;
        HeldArray<Real, kSlots> inverse_mass;
        const std::uint32_t* id;
        const Of<kSlots>& held;

        [[nodiscard]] CAROM_HD Vec<std::int64_t, kDim> anchor(const Grid<kDim>& /*grid*/, std::uint32_t slot) const {
            Vec<std::int64_t, kDim> result;
            for (int axis = 0; axis < kDim; ++axis) result[axis] = held.anchor[axis][slot % kSlots];
            return result;
        }
        [[nodiscard]] CAROM_HD std::uint32_t walls(std::uint32_t slot) const { return held.walls[slot % kSlots]; }
        /// A ball of this block.
        [[nodiscard]] CAROM_HD OwnBall<Kind> own(const SpringParams<Real, kDim>& params, std::uint32_t slot) const {
            OwnBall<Kind> ball;
            for (int axis = 0; axis < kDim; ++axis) {
                ball.x[axis] = x[axis].own(slot);
                ball.v[axis] = v[axis].own(slot);
            }
            ball.radius = Kind::kUniform ? params.uniform_radius : radius.own(slot);
            ball.inverse_mass = Kind::kUniform ? params.uniform_inverse_mass : inverse_mass.own(slot);
            return ball;
        }
    };
    template <std::uint32_t kSlots>
    CAROM_HD static Balls<kSlots> balls(Of<kSlots>& held, int turn, const std::uint32_t* id) {
        return at_turn(held, turn, Balls<kSlots>{{}, {}, {held.radius}, {held.inverse_mass}, id, held});
    }

    /// Where a step writes.
    template <std::uint32_t kSlots>
    struct Moved {
        Vec<HeldHere<Stored, kSlots>, kDim> x;
        Vec<HeldHere<Real, kSlots>, kDim> v;
        std::uint8_t* gone;
    };
    template <std::uint32_t kSlots>
    CAROM_HD static Moved<kSlots> moved(Of<kSlots>& held, int turn, std::uint8_t* gone) {
        return at_turn(held, turn, Moved<kSlots>{{}, {}, gone});
    }

    /// The list of a ball of this block, as ListWalk asks for it.
    template <std::uint32_t kSlots>
    struct Rows {
        const Of<kSlots>& held;
        const NearLists& lists;
        std::uint32_t slot;
        std::uint32_t begin;
        std::uint32_t end;

        static constexpr std::uint32_t kAtOnce = 8;
        static constexpr bool kEndless = true;

        CAROM_HD std::uint32_t at(std::uint32_t row) const {
            const std::uint32_t here = slot % kSlots;
            if (row >= end) return slot;
            return row < kRows ? held.entry[row][here] : lists.at(held.rows[here].begin + row, slot);
        }
    };

    /// Behind a sort: takes the balls in.
    template <std::uint32_t kSlots>
    CAROM_HD static void take(const Crew& crew, const SmallSystem<Real, kDim>& system,
                              const SpringParams<Real, kDim>& params, const CrewPlace<Real>& place, Of<kSlots>& held) {
        const auto& balls = system.state[place.motion][place.labels].balls;
        crew.aside_in_block([&](int thread, int threads) {
            for (int wall = thread; wall < kWallNumbers; wall += threads) {
                held.counts[0].impulse[wall] = 0;
                held.counts[1].impulse[wall] = 0;
                held.impulse[wall] = {};
            }
            if (thread != 0) return;
            held.nows[place.step % 2] = step_now(params, place.step);
            for (auto& contacts : held.contacts) contacts = 0;
            for (auto& fastest : held.fastest) fastest = 0;
            held.face_balls = 0;
        });
        crew.meet_block();
        crew.each(system.record->active, [&](std::uint32_t slot) {
            const std::uint32_t here = slot % kSlots;
            const OwnBall<Kind> ball = load_ball<Kind>(params, balls, slot);
            const Vec<std::int64_t, kDim> anchor = balls.anchor(params.grid, slot);
            for (int axis = 0; axis < kDim; ++axis) {
                held.x[0][axis][here] = ball.x[axis];
                held.v[0][axis][here] = ball.v[axis];
                held.anchor[axis][here] = anchor[axis];
            }
            held.radius[here] = ball.radius;
            held.inverse_mass[here] = ball.inverse_mass;
            const RowRange rows = system.lists.rows[slot / kGroup];
            for (std::uint32_t row = 0; row < kRows && rows.begin + row < rows.end; ++row) {
                held.entry[row][here] = system.lists.at(rows.begin + row, slot);
            }
            held.rows[here] = rows;
            held.left_by[here] = params.open != 0 && system.moved[0].gone[balls.id[slot]] != 0 ? kGone : kStays;
            if ((system.lists.at_faces[slot / kGroup] >> slot % kGroup & 1U) != 0) {
                held.walls[here] = walls_near(params, balls, slot, params.margin);
                held.face_slot[next_shared(&held.face_balls)] = slot;
            }
        });
        crew.meet();
    }

    /// Before a sort: leaves all where launches look for it.
    template <std::uint32_t kSlots>
    CAROM_HD static void leave(const Crew& crew, const SmallSystem<Real, kDim>& system,
                               const SpringParams<Real, kDim>& params, const CrewPlace<Real>& place,
                               const Of<kSlots>& held, int turn) {
        auto& record = *system.record;
        const auto& to = system.moved[place.motion];
        crew.each(record.active, [&](std::uint32_t slot) {
            for (int axis = 0; axis < kDim; ++axis) {
                to.x[axis][slot] = held.x[turn][axis][slot % kSlots];
                to.v[axis][slot] = held.v[turn][axis][slot % kSlots];
            }
        });
        crew.meet();
        crew.aside(0, [&](int thread, int threads) {
            for (int wall = thread; wall < static_cast<int>(system.wall_numbers); wall += threads) {
                crew.visit_blocks(held.impulse[wall], [&](const WideCount& part) { record.impulse[wall].merge(part); });
            }
            if (thread == 0) prepare_step(params, record, place.step);
        });
        crew.meet();  // what a block holds is read by others until here
    }

    /// Steps until a sort is due or the next step has a fault.
    template <std::uint32_t kSlots>
    CAROM_HD static void step(const Crew& crew, const SmallSystem<Real, kDim>& system,
                              const SpringParams<Real, kDim>& params, std::uint64_t until, CrewPlace<Real>& place,
                              Of<kSlots>& held) {
        auto& record = *system.record;
        const std::uint32_t active = record.active;
        const std::uint32_t* const id = system.state[place.motion][place.labels].balls.id;
        std::uint8_t* const gone = system.moved[0].gone;
        const int wall_numbers = static_cast<int>(system.wall_numbers);
        // What walls got in a step: nobody adds to it any more.
        const auto count_walls = [&](std::uint64_t step, bool fault) {
            crew.aside_in_block([&](int thread, int threads) {
                StepCounts& counts = held.counts[step % 2];
                for (int wall = thread; wall < wall_numbers; wall += threads) {
                    if (!fault) held.impulse[wall].add(counts.impulse[wall]);
                    counts.impulse[wall] = 0;
                }
            });
        };
        int turn = 0;
        for (bool first = true;; first = false) {
            // One step further than `place`, but for the first.
            const std::uint64_t step = place.step + (first ? 0 : 1);
            const auto from = balls(held, turn, id);
            DeviceTally<Real, kDim, true> tally{&record, id, &held.counts[step % 2]};
            std::uint32_t& contacts = held.contacts[step % 2];
            const auto touch = [&](const Contact& contact) {
                const OwnBall<Kind> own = from.own(params, contact.slot);
                Vec<Real, kDim> force;
                if (!meet_ball<Kind>(params, from, own, contact.slot, contact.other, force, tally)) return;
                auto sum = FixedSum<Real, kDim>::zero();
                sum.add(params.force_grid, force);
                add_shared(held.force[contact.slot % kSlots], sum);
            };
            const auto walk = [&](std::uint32_t slot, auto&& f) {
                const RowRange range = held.rows[slot % kSlots];
                const Rows<kSlots> rows{held, system.lists, slot, 0, range.end - range.begin};
                ListWalk<Kind, Balls<kSlots>, Rows<kSlots>>{params, from, rows, slot}(from.own(params, slot), f);
            };
            const Stored shown = crew.read_shown(held.fastest[(step + 2) % 3]);  // of the step before
            crew.each(active, [&](std::uint32_t slot) {
                const std::uint32_t here = slot % kSlots;
                held.force[here] = FixedSum<Real, kDim>::zero();
                if (held.left_by[here] != kStays) return;  // since the step before
                walk(slot, [&](std::uint32_t other) {
                    const std::uint32_t number = next_shared(&contacts);
                    if (number < Of<kSlots>::kContacts) held.contact[number] = {slot, other};
                });
            });
            if (!first) {
                count_motion(params, crew.agree(shown), place);
                if (place.fault) turn = 1 - turn;
            }
            if (place.fault || place.step == until || sort_due(params, place.moved)) break;

            crew.meet_block();
            place.peaks.speed_squared = 0;
            const auto& now = held.nows[step % 2];
            if (contacts <= Of<kSlots>::kContacts) {
                crew.each_of_block(contacts, false, [&](std::uint32_t number) { touch(held.contact[number]); });
            } else {
                crew.each(active, [&](std::uint32_t slot) {
                    if (held.left_by[slot % kSlots] != kStays) return;
                    walk(slot, [&](std::uint32_t other) { touch({slot, other}); });
                });
                crew.meet_block();  // before balls at faces get another left_by
            }
            crew.each_of_block(held.face_balls, true, [&](std::uint32_t number) {
                const std::uint32_t slot = held.face_slot[number];
                auto sum = FixedSum<Real, kDim>::zero();
                held.left_by[slot % kSlots] =
                    meet_faces<Kind>(params, now, from, gone, from.own(params, slot), slot, sum, tally);
                add_shared(held.force[slot % kSlots], sum);
            });
            crew.meet_block();

            const auto to = moved(held, 1 - turn, gone);
            crew.each(active, [&](std::uint32_t slot) {
                const std::uint32_t here = slot % kSlots;
                const OwnBall<Kind> own = from.own(params, slot);
                if (const int face = held.left_by[here]; face != kStays) {
                    carom::leave<Kind>(params, own, face, to, slot, id[slot], tally);
                    return;
                }
                auto force = held.force[here];
                put_in_order(force);
                kick_and_drift<Kind>(now, own, force.total(params.force_grid), to, slot, tally);
                place.peaks.raise(tally.peaks());
            });
            place.peaks.raise(tally.peaks());
            count_walls(step + 1, false);  // of the step before
            crew.aside_in_block([&](int thread, int /*threads*/) {
                if (thread != 0) return;
                held.nows[(step + 1) % 2] = step_now(params, step + 1);
                held.contacts[(step + 1) % 2] = 0;
                held.fastest[(step + 1) % 3] = 0;
            });
            crew.show(place.peaks.speed_squared, held.fastest[step % 3]);
            crew.meet();
            turn = 1 - turn;
        }
        count_walls(place.step + 1, false);
        count_walls(place.step, place.fault);
        leave(crew, system, params, place, held, turn);
    }
};

/// Carries a system on by a crew that has a thread for each ball.
template <class Kind>
struct HoldOnBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Errand = CrewTask<Real, kDim>;
    using Params = SpringParams<Real, kDim>;
    using System = HeldSystem<Kind>;
    static constexpr std::size_t kHeldBytes = sizeof(typename System::template Of<kBlockThreads>);

    CAROM_HD static void run(const Errand& task, const Params& params, const Crew& crew) {
        const SmallSystem<Real, kDim>& system = crew.keep(*task.where);
        crew.hold<System::template Of>([&](auto& held) {
            carry_on<Kind>(crew, system, params, task, [&](CrewPlace<Real>& place) {
                System::take(crew, system, params, place, held);
                System::step(crew, system, params, task.until, place, held);
            });
        });
    }
};

}  // namespace carom::CAROM_PROCESSOR
