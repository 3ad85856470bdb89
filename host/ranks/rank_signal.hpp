#pragma once

namespace carom {

/// The number of the signal that this rank has got and does not answer itself; 0: none.
int rank_signal();
/// From now on SIGINT, SIGTERM and SIGHUP are left to rank 0, which is told of them.
void leave_signals_to_rank_0();

}  // namespace carom
