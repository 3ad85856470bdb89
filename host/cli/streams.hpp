#pragma once

namespace carom {

/// Opens those of the descriptors 0 to 2 that the caller has closed, on /dev/null: otherwise the first files that are
/// opened would get them, and messages would be written into a trajectory. Input and output are opened the wrong way
/// round, so that using them still fails as it does when they are closed; messages on standard error are lost.
void open_closed_streams();

/// From now on a write to a closed pipe fails like any other write, and ends nothing: who stops listening to messages
/// must not lose a run.
void keep_broken_pipes();

/// Ends the program as a closed pipe does by itself, if `error` (as errno has it) says that standard output is one, and
/// the caller does not ignore it.
void end_if_pipe_broke(int error);

/// Sees to it that all of standard output has been written.
/// \throws SystemError  it has not
void finish_output();

}  // namespace carom
