#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/design.hpp"
#include "host/spring/spring_solver.hpp"
#include "host/viewer/cloud_feed.hpp"
#include "kernels/cuda/spring_cuda.hpp"

// Pictures that a processor other than the CPU writes, without a GPU: the processor is the emulated one, and what it
// shares with OpenGL is a fake, memory that OpenGL sees when it is unmapped, and not before.

namespace carom::test {

/// What a real one promises, and no more: each map() gives another place with nothing of use in it, what is written
/// after unmap() is lost, and all calls come from the thread of the context.
class FakeBuffer final : public SharedBuffer {
public:
    explicit FakeBuffer(unsigned buffer) : buffer_(buffer) {
        GLint bytes = 0;
        glGetNamedBufferParameteriv(buffer, GL_BUFFER_SIZE, &bytes);
        bytes_ = static_cast<std::size_t>(bytes);
    }

    void* map() override {
        EXPECT_EQ(std::this_thread::get_id(), thread_);
        EXPECT_FALSE(memory_) << "mapped twice";
        memory_ = std::make_unique<std::byte[]>(bytes_);
        std::memset(memory_.get(), 0xff, bytes_);
        return memory_.get();
    }
    void unmap() override {
        EXPECT_EQ(std::this_thread::get_id(), thread_);
        ASSERT_TRUE(memory_) << "unmapped twice";
        glNamedBufferSubData(buffer_, 0, static_cast<GLsizeiptr>(bytes_), memory_.get());
        std::memset(memory_.get(), 0xff, bytes_);
        memory_.reset();
    }

private:
    unsigned buffer_;
    std::size_t bytes_ = 0;
    std::unique_ptr<std::byte[]> memory_;
    std::thread::id thread_ = std::this_thread::get_id();
};

inline std::unique_ptr<CloudStore> make_fake_store(std::size_t balls) {
    return make_shared_store(balls, [](unsigned buffer) { return std::make_unique<FakeBuffer>(buffer); });
}

inline PreparedScene prepared(const std::string& text) {
    return prepare_scene({.scene = "", .text = SceneText{"test.toml", text}});
}

/// As the scene's own plan, on another processor.
class ProcessorPlan final : public SolverPlan {
public:
    ProcessorPlan(std::shared_ptr<const SolverPlan> plan, const Scene& scene, const Balls& balls, std::string name)
        : plan_(std::move(plan)), setup_(spring_setup(scene, design_spring(scene, balls), 1)), name_(std::move(name)) {}

    [[nodiscard]] std::unique_ptr<Solver> make_solver(const SolverState& state, const std::string&) const override {
        const auto make = [name = name_](const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                         const Tallies& tallies) {
#if defined(CAROM_HAVE_CUDA)
            if (name == "cuda") return make_cuda_engine(setup, balls, step, tallies);
#endif
            return make_emulated_engine(setup, balls, step, tallies);
        };
        return make_spring_solver({SpringStage{.setup = setup_}}, state, name_, make);
    }
    [[nodiscard]] std::string name() const override { return plan_->name(); }
    [[nodiscard]] std::string processor() const override { return name_; }
    [[nodiscard]] std::string precision() const override { return plan_->precision(); }
    [[nodiscard]] WorkUnit work() const override { return plan_->work(); }
    [[nodiscard]] double reachable_time(double time) const override { return plan_->reachable_time(time); }
    [[nodiscard]] std::uint64_t steps_to(double until) const override { return plan_->steps_to(until); }
    [[nodiscard]] double time_of_step(std::uint64_t step) const override { return plan_->time_of_step(step); }
    [[nodiscard]] double least_interval() const override { return plan_->least_interval(); }
    [[nodiscard]] std::uint64_t memory_bytes() const override { return plan_->memory_bytes(); }
    [[nodiscard]] std::vector<std::string> warnings() const override { return plan_->warnings(); }
    [[nodiscard]] std::vector<PlanFact> facts() const override { return plan_->facts(); }
    [[nodiscard]] std::string headline() const override { return plan_->headline(); }

private:
    std::shared_ptr<const SolverPlan> plan_;
    SpringSetup setup_;
    std::string name_;
};

inline PreparedScene on_processor(const std::string& text, const std::string& name) {
    PreparedScene scene = prepared(text);
    scene.plan = std::make_shared<ProcessorPlan>(scene.plan, scene.scene, scene.state.balls, name);
    return scene;
}

}  // namespace carom::test
