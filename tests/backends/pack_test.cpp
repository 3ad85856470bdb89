#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/engine_pack.hpp"
#include "tests/support/spring_engines.hpp"

// Engines whose steps go to the device together: each has the bits that it would have alone.

namespace carom::test::pack_test {

class Packs : public testing::TestWithParam<Processor> {
protected:
    void SetUp() override { CAROM_REQUIRE(GetParam()); }
};

/// What an engine of a pack does, and what comes of it.
struct Member {
    Gas gas;
    std::vector<std::uint64_t> parts;  // steps
    bool looks = false;                // between the parts, so that others do not wait for it
    std::vector<AdvanceResult> results = {};
    Seen seen = {};
};

void carry_on(Member& member, const Processor& processor, const std::shared_ptr<EnginePack>& pack = nullptr) {
    const auto engine = make_engine(processor, member.gas, pack);
    for (const std::uint64_t steps : member.parts) {
        member.results.push_back(engine->advance(steps));
        if (member.looks) look(*engine, member.gas);
    }
    member.seen = look(*engine, member.gas);
}

std::vector<Member> members() {
    std::vector<Member> all;
    const auto add = [&all](const char* name, std::vector<std::uint64_t> parts, bool looks = false) {
        all.push_back({scenario(name).make(), std::move(parts), looks});
    };
    // Several of one kind, stopping at different steps, one of another kind among them.
    add("walls_2d", {500});
    add("walls_2d", {100, 150});
    add("open_2d", {1, 2, 3, 700}, true);
    add("damped_3d", {300}, true);
    add("piston_2d", {40, 400});
    add("mixture_3d", {250, 250});
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (double& v : all[k].gas.velocity[0]) v += 1e-3 * static_cast<double>(k);  // no two are alike
    }
    // Two deeply in one another: it stops before its first step, the others do not.
    Member faulty{scenario("walls_2d").make(), {500}};
    for (int axis = 0; axis < 2; ++axis) faulty.gas.position[axis][1] = faulty.gas.position[axis][0] + 0.1;
    all.push_back(std::move(faulty));
    return all;
}

TEST_P(Packs, LeaveEachTheBitsThatItHasAlone) {
    for (const bool double_precision : {false, true}) {
        std::vector<Member> alone = members();
        std::vector<Member> together = members();
        const auto pack = std::make_shared<EnginePack>();
        std::vector<std::thread> threads;
        for (std::size_t k = 0; k < alone.size(); ++k) {
            alone[k].gas.setup.double_precision = together[k].gas.setup.double_precision = double_precision;
            carry_on(alone[k], GetParam());
        }
        for (Member& member : together) threads.emplace_back([&] { carry_on(member, GetParam(), pack); });
        for (std::thread& thread : threads) thread.join();
        for (std::size_t k = 0; k < alone.size(); ++k) {
            ASSERT_EQ(alone[k].results.size(), together[k].results.size());
            for (std::size_t part = 0; part < alone[k].results.size(); ++part) {
                EXPECT_EQ(alone[k].results[part].steps, together[k].results[part].steps);
                EXPECT_EQ(alone[k].results[part].fault.kind, together[k].results[part].fault.kind);
                EXPECT_EQ(alone[k].results[part].fault.ball, together[k].results[part].fault.ball);
            }
            EXPECT_TRUE(same_bits(alone[k].seen, together[k].seen)) << "member " << k;
        }
        EXPECT_EQ(alone.back().results[0].fault.kind, SpringFault::Kind::kDeepOverlap);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, Packs, testing::Values(Processor{"emulated"}, Processor{"cuda"}),
                         [](const auto& instance) { return instance.param.name; });

/// Nobody is waited for who does not come, and who comes late is not forgotten.
TEST(EnginePack, LeadsForAllThatAreThereAndWaitsForNoneForLong) {
    EnginePack pack;
    constexpr int kKind = 1;
    for (int k = 0; k < 3; ++k) pack.join(kKind);  // the third never comes
    std::size_t done = 0;                          // changed by leaders alone
    std::mutex mutex;
    const auto lead = [&](std::span<void* const> works, std::shared_ptr<void>& desk) {
        const std::lock_guard lock(mutex);
        if (desk == nullptr) desk = std::make_shared<int>(0);
        for (void* const work : works) ++*static_cast<int*>(work);
        done += works.size();
    };
    int first = 0;
    int second = 0;
    std::thread other([&] {
        for (int k = 0; k < 100; ++k) pack.together(kKind, &second, lead);
    });
    for (int k = 0; k < 100; ++k) pack.together(kKind, &first, lead);
    other.join();
    EXPECT_EQ(first, 100);
    EXPECT_EQ(second, 100);
    EXPECT_EQ(done, 200U);
}

TEST(EnginePack, TellsAllOfAFailureOfTheOneThatLeads) {
    EnginePack pack;
    constexpr int kKind = 1;
    for (int k = 0; k < 2; ++k) pack.join(kKind);
    const auto fails = [](std::span<void* const>, std::shared_ptr<void>&) { throw std::runtime_error("lost"); };
    int failed = 0;
    std::mutex mutex;
    const auto work = [&] {
        try {
            pack.together(kKind, nullptr, fails);
        } catch (const std::runtime_error&) {
            const std::lock_guard lock(mutex);
            ++failed;
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(failed, 2);
}

}  // namespace carom::test::pack_test
