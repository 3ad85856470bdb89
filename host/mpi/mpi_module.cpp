#include "host/ranks/mpi_module.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

// carom_mpi.so. Errors of MPI end all ranks, as MPI has it by default; running out of memory does the same here, since
// no exception may pass through C.

namespace {

constexpr int kTag = 1;
char library[MPI_MAX_LIBRARY_VERSION_STRING];

void swap(const CaromParcel* out, size_t outs, CaromParcel* in, size_t ins) try {
    static std::vector<MPI_Request> requests;
    static std::vector<MPI_Status> statuses;
    requests.resize(outs + ins);
    statuses.resize(outs + ins);
    for (size_t k = 0; k < ins; ++k) {
        MPI_Irecv(in[k].data, static_cast<int>(in[k].bytes), MPI_BYTE, in[k].peer, kTag, MPI_COMM_WORLD, &requests[k]);
    }
    for (size_t k = 0; k < outs; ++k) {
        MPI_Isend(out[k].data, static_cast<int>(out[k].bytes), MPI_BYTE, out[k].peer, kTag, MPI_COMM_WORLD,
                  &requests[ins + k]);
    }
    MPI_Waitall(static_cast<int>(outs + ins), requests.data(), statuses.data());
    for (size_t k = 0; k < ins; ++k) {
        int count = 0;
        MPI_Get_count(&statuses[k], MPI_BYTE, &count);
        in[k].bytes = static_cast<size_t>(count);
    }
} catch (const std::bad_alloc&) {
    MPI_Abort(MPI_COMM_WORLD, 4);
}

void combine(uint64_t* values, size_t count, MPI_Op operation) {
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_UINT64_T, operation, MPI_COMM_WORLD);
}
void max_all(uint64_t* values, size_t count) { combine(values, count, MPI_MAX); }
void sum_all(uint64_t* values, size_t count) { combine(values, count, MPI_SUM); }

void broadcast(void* bytes, size_t count) { MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD); }

void stop() { MPI_Finalize(); }
void end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

extern "C" const CaromMpi* carom_mpi_start(void) {
    static CaromMpi mpi = {CAROM_MPI_VERSION, 0, 1, library, swap, max_all, sum_all, broadcast, stop, end_all};
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi.size);
    int length = 0;
    MPI_Get_library_version(library, &length);
    if (char* const end = std::strpbrk(library, ",\n")) *end = '\0';
    return &mpi;
}
