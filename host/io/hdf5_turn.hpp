#pragma once

#include <mutex>

namespace carom {

/// A thread's turn at HDF5, which is not safe for threads unless it was built so: while it lives, no other thread of
/// this process reads or writes a file of it. Turns may lie in each other. A process that is forked has none under way.
class Hdf5Turn {
public:
    Hdf5Turn();

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace carom
