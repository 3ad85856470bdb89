#pragma once

#include <stddef.h>
#include <stdint.h>

/* What carom asks of MPI: the interface of the module that is built against a machine's own MPI (host/mpi), and opened
   when a launcher has started several ranks. Plain C, so that program and module need not share a C++ library. */

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_MPI_VERSION 1

typedef struct {
    int peer;
    void* data;
    size_t bytes; /* to be received: the room; then what has come */
} CaromParcel;

typedef struct {
    int version;
    int rank;
    int size;
    const char* library; /* what MPI calls itself */
    void (*swap)(const CaromParcel* out, size_t outs, CaromParcel* in, size_t ins);
    void (*max_all)(uint64_t* values, size_t count);
    void (*sum_all)(uint64_t* values, size_t count);
    void (*broadcast)(void* bytes, size_t count); /* from rank 0 */
    void (*stop)(void);
    void (*abort)(int status);
} CaromMpi;

/* Starts MPI, which ends the program where it cannot; once a process. */
const CaromMpi* carom_mpi_start(void);

#ifdef __cplusplus
}
#endif
