#include "host/ranks/mpi_module.hpp"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // of OpenMPI and its kin
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

// carom_mpi.so. Errors of MPI end all ranks, as MPI has it by default; running out of memory does the same here, since
// no exception may pass through C.

namespace carom {

namespace {

constexpr int kTag = 1;
char library[MPI_MAX_LIBRARY_VERSION_STRING];

/// What has begun.
struct Swap {
    std::vector<MPI_Request> requests;  // to receive, then to send
    std::vector<MPI_Status> statuses;
    MpiParcel* in = nullptr;
    std::size_t ins = 0;
};
Swap& begun() {
    static Swap swap;
    return swap;
}

void begin_swap(const MpiParcel* out, std::size_t outs, MpiParcel* in, std::size_t ins) try {
    Swap& swap = begun();
    swap.requests.resize(outs + ins);
    swap.statuses.resize(outs + ins);
    swap.in = in;
    swap.ins = ins;
    MPI_Request* const requests = swap.requests.data();
    for (std::size_t k = 0; k < ins; ++k) {
        MPI_Irecv(in[k].data, static_cast<int>(in[k].bytes), MPI_BYTE, in[k].peer, kTag, MPI_COMM_WORLD, &requests[k]);
    }
    for (std::size_t k = 0; k < outs; ++k) {
        MPI_Isend(out[k].data, static_cast<int>(out[k].bytes), MPI_BYTE, out[k].peer, kTag, MPI_COMM_WORLD,
                  &requests[ins + k]);
    }
} catch (const std::bad_alloc&) {
    MPI_Abort(MPI_COMM_WORLD, 4);
}

void end_swap() {
    Swap& swap = begun();
    MPI_Waitall(static_cast<int>(swap.requests.size()), swap.requests.data(), swap.statuses.data());
    for (std::size_t k = 0; k < swap.ins; ++k) {
        int count = 0;
        MPI_Get_count(&swap.statuses[k], MPI_BYTE, &count);
        swap.in[k].bytes = static_cast<std::size_t>(count);
    }
}

int whose_message_waits() {
    int waits = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &waits, &status);
    return waits != 0 ? status.MPI_SOURCE : -1;
}

void combine(std::uint64_t* values, std::size_t count, MPI_Op operation) {
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_UINT64_T, operation, MPI_COMM_WORLD);
}
void max_all(std::uint64_t* values, std::size_t count) { combine(values, count, MPI_MAX); }
void sum_all(std::uint64_t* values, std::size_t count) { combine(values, count, MPI_SUM); }

void broadcast(void* bytes, std::size_t count) {
    MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/// As this MPI was built, and says where it runs.
int reaches_devices() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

void stop() { MPI_Finalize(); }
void end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

extern "C" const MpiModule* carom_mpi_start() {
    static MpiModule mpi = {kMpiModuleVersion,   0,       1,       library,   0,    begin_swap, end_swap,
                            whose_message_waits, max_all, sum_all, broadcast, stop, end_all};
    int given = 0;  // other threads compute meanwhile
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi.size);
    mpi.reaches_devices = reaches_devices();
    int length = 0;
    MPI_Get_library_version(library, &length);
    if (char* const end = std::strpbrk(library, ",\n")) *end = '\0';
    return &mpi;
}

}  // namespace carom
