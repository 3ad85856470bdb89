#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace carom::test {

/// While it lives, the address sanitizer does not look for leaks: HDF5 1.10 leaks when it refuses a damaged file, or a
/// write fails.
class LeaksAllowed {
public:
    LeaksAllowed() {}  // not defaulted: the object shall count as used

private:
#ifdef __SANITIZE_ADDRESS__
    __lsan::ScopedDisabler disabler_;
#endif
};

}  // namespace carom::test
