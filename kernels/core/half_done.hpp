#pragma once

#include <stdexcept>
#include <string>

namespace carom {

/// Marks what leaves no usable state where an exception ends it half-way (a sort that found no memory, a kernel that
/// did not start): such a state must not become a checkpoint.
class HalfDone {
public:
    /// Does it. Changes may be parts of others.
    template <class Action>
    void change(const Action& action) {
        ++begun_;
        action();
        --begun_;
    }

    [[nodiscard]] bool none() const { return begun_ == 0; }
    /// \param whose  "what the GPU holds"
    /// \throws std::runtime_error  a change has failed
    void require_none(const std::string& whose) const {
        if (!none()) throw std::runtime_error(whose + " is no state any more, since a change of it has failed");
    }

private:
    int begun_ = 0;
};

}  // namespace carom
