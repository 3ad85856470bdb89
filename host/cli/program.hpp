#pragma once

namespace carom {

/// The whole program: finds the command, runs it, and turns what it throws into one line on standard error and the
/// exit status.
int run_program(int argc, char** argv);

}  // namespace carom
