#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/device_frame.hpp"
#include "kernels/core/picture.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_setup.hpp"

namespace carom {

class BallSampler;
struct BallKinds;

/// How far advance() came.
struct AdvanceResult {
    std::uint64_t steps = 0;  ///< steps done
    SpringFault fault;        ///< kind kNone: all asked for were done, or the caller's patience was met
};

/// What an engine tells of how it works.
struct EngineFigures {
    std::vector<std::pair<std::string, double>> numbers = {};  ///< by their keys in JSON
    std::vector<std::string> lines = {};                       ///< for the end summary
};

/// What a processor must offer: whole-step verbs, never calls per ball. Implementations differ in speed alone:
/// the state after a step has the same bits on each. One instance is used from one thread, except
/// finish_frame and share_buffer.
class SpringEngine : public PictureSource {
public:
    /// Does up to `steps` steps; stops before the step in which a fault shows, with the state that shows it.
    virtual AdvanceResult advance(std::uint64_t steps) = 0;
    [[nodiscard]] virtual std::uint64_t step() const = 0;
    /// Goes on with other velocities, and under another setup, as an engine would that is made of the present state:
    /// to the bit, but without the way of all balls out and in. The balls, the box and the number of walls stay.
    /// \param same_setup  it is the one that there is
    /// \returns false     it cannot, or one made anew would be faster: nothing has changed
    virtual bool change(const SpringSetup& /*setup*/, bool /*same_setup*/, const VelocityChange& /*velocities*/) {
        return false;
    }
    /// Fewer in one advance() cost more than they need.
    [[nodiscard]] virtual std::uint64_t steps_at_once() const { return 1; }

    /// Sums over all balls now.
    virtual Totals totals() = 0;
    virtual Tallies tallies() = 0;

    /// Begins to copy the state into `arrays` (id order); the engine may be advanced before finish_frame.
    virtual void request_frame(const BallArrays& arrays) = 0;
    /// Waits until the arrays given to the last request_frame are complete. From any thread.
    virtual void finish_frame() = 0;
    /// Who looks at the balls now, in the device's memory; null: they are in the host's, where frames serve as well.
    /// Good until the engine is asked for anything else.
    /// \param kinds  the same at each call
    virtual BallSampler* sample_balls(const BallKinds& /*kinds*/) { return nullptr; }
    /// The balls as they are now, in the device's memory; null: they are in the host's, where frames serve as well.
    virtual std::unique_ptr<DeviceFrame> device_frame() { return nullptr; }
    /// Copies the raw state out.
    virtual void store(const BallArrays& balls) = 0;

    /// Whether no process need have room for all balls; then they come in parts, too.
    [[nodiscard]] virtual bool in_parts() const { return false; }
    /// So many balls from `first` on, of which the arrays are: raw as store, else as request_frame, and complete.
    virtual void part(bool /*raw*/, std::size_t /*first*/, std::size_t /*count*/, const BallArrays& /*arrays*/) {}

    [[nodiscard]] virtual std::string device() const = 0;
    [[nodiscard]] virtual int threads() const = 0;
    [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
    [[nodiscard]] virtual double margin() const = 0;           ///< [length]
    [[nodiscard]] virtual double largest_quantum() const = 0;  ///< smallest step of a position, coarsest axis [length]
    [[nodiscard]] virtual EngineFigures figures() const { return {}; }
};

}  // namespace carom
