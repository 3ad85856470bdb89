#pragma once

#include <memory>
#include <string>

#include "host/ranks/ranked_engine.hpp"

namespace carom {

/// How a launcher of MPI (mpirun, srun) has started this process, as its environment tells.
struct Launch {
    int ranks = 1;
    int rank = 0;
    int ranks_here = 1;  ///< on this machine
    int rank_here = 0;   ///< among them
};
Launch launch();

/// Threads of the CPU that a rank had better use: its share of this machine's.
int threads_of_rank(const Launch& launch);

/// The module that speaks MPI: where it lies; empty where there is none.
std::string mpi_module();

/// All ranks that the launcher has started; each of them calls this, once.
/// \throws std::runtime_error  there is no such module, it cannot be opened, or it found other ranks than the launcher
std::shared_ptr<Transport> start_mpi(const Launch& launch);

/// From now on SIGINT, SIGTERM and SIGHUP are left to rank 0, which is told of them.
void leave_signals_to_rank_0();
/// The number of the signal that this rank has got and left to rank 0; 0: none.
int rank_signal();
/// On rank 0: another one has got it.
void tell_signal(int number);
/// What was last told so; 0: nothing.
int told_signal();

/// The ranks that share this process's run; null: it is alone.
Ranks* ranks_of_run();
/// The ranks that each do some of the runs of its sweep; null: it is alone.
Ranks* ranks_of_sweep();
/// From now on this process, being rank 0, leads these, in a run or a sweep.
void lead(std::unique_ptr<Ranks> ranks, bool sweep = false);

}  // namespace carom
