#pragma once

#include <cstddef>
#include <cstdint>

// What carom asks of MPI: the interface of the module that is built against a machine's own MPI (host/mpi), and opened
// when a launcher has started several ranks. Of plain functions and structures, so that program and module need not
// share a C++ library; no exception may pass through it.

namespace carom {

constexpr int kMpiModuleVersion = 4;

struct MpiParcel {
    int peer;
    void* data;
    std::size_t bytes;  ///< to be received: the room; then, what has come
};

struct MpiModule {
    int version;
    int rank;
    int size;
    const char* library;  ///< what MPI calls itself
    int reaches_devices;  ///< whether swaps take memory of CUDA's devices
    void (*begin_swap)(const MpiParcel* out, std::size_t outs, MpiParcel* in, std::size_t ins);
    void (*end_swap)();            ///< of the one that has begun
    int (*whose_message_waits)();  ///< -1: nobody's
    void (*max_all)(std::uint64_t* values, std::size_t count);
    void (*sum_all)(std::uint64_t* values, std::size_t count);
    void (*broadcast)(void* bytes, std::size_t count);  ///< from rank 0
    void (*stop)();
    void (*abort)(int status);
};

/// Starts MPI, which ends the program where it cannot; once a process. The module has it by the name below.
using StartMpi = const MpiModule* (*)();
constexpr const char* kStartMpi = "carom_mpi_start";

}  // namespace carom
