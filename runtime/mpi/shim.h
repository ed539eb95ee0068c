// The functions of MPI that tapc and compiled programs use, behind an interface that does not depend on the MPI: each MPI has a
// shim of its own, built by its mpicc and loaded at run time.
#pragma once

#include <stdint.h>

#define TAP_MPI_SHIM_VERSION 4

// Why processes cannot be joined.
enum tap_mpi_trouble {
  TAP_MPI_DOES_NOT_START = 1,
  TAP_MPI_TOO_FEW_THREADS = 2,  // other threads of this process exist, and MPI was not started for that
  TAP_MPI_NOT_STARTED = 3,      // by the caller, whose communicator is given
  TAP_MPI_NO_MEMORY = 4
};

struct tap_mpi {
  int32_t version;
  // All processes of the launcher's job (no communicator: MPI is started, and ended by `leave`), or those of a communicator of the
  // caller, as a Fortran handle: it is duplicated, so that messages do not meet the caller's. Returns 0 or a trouble.
  int32_t (*join)(const int32_t* communicator, int64_t threads, void** job);
  int64_t (*rank)(void* job);
  int64_t (*size)(void* job);
  // Of each process: the first one of its node, whose memory they share. All processes call it. Not 0: it failed.
  int32_t (*nodes)(void* job, int32_t* first);
  // Start a transfer; `wait` completes all that were started. Not 0: it failed.
  int32_t (*send)(void* job, int64_t to, const void* data, int64_t bytes);
  int32_t (*receive)(void* job, int64_t from, void* data, int64_t bytes);
  int32_t (*wait)(void* job);
  // Whether a message of this process has arrived that is not yet received: for those that wait for long without using a processor.
  int32_t (*has_message)(void* job, int64_t from);
  void (*leave)(void* job);
  void (*abort)(void* job, int32_t code);  // ends all processes
};

// The only symbol that is exported.
const struct tap_mpi* tap_mpi_shim(void);
