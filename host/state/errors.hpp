#pragma once

#include <stdexcept>
#include <string>

namespace carom {

/// Exit statuses of the program; docs in README and `carom --help`.
enum class ExitStatus : int {
    kDone = 0,
    kBadInput = 2,        ///< bad command line, scene or input file; nothing was written
    kCannotContinue = 3,  ///< the simulation could not go on
    kSystemFailure = 4,   ///< a file or device failed
};

/// The user's input is wrong. `what()` is the one line to print: file, line, column, key, what was wrong and
/// what is allowed.
class InputError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// No run can have left the state that one is to go on from. `what()` says what is wrong with it; who knows the file
/// adds its name.
class DamagedState : public InputError {
    using InputError::InputError;
};

/// A file or a device failed. `what()` says which, and what was kept.
class SystemError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The simulation cannot go on. `what()` names the balls, their state, the time and the likely remedy.
class SimulationError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace carom
