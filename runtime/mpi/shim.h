// The functions of MPI that tapc uses, behind an interface that does not depend on the MPI: each MPI has a shim of its own,
// built by its mpicc and loaded at run time.
#pragma once

#include <stdint.h>

#define TAP_MPI_SHIM_VERSION 1

struct tap_mpi {
  int32_t version;
  // 0, or why MPI cannot be used: 1 it does not start, 2 it grants too few threads.
  int32_t (*start)(void);
  int64_t (*rank)(void);
  int64_t (*size)(void);
  // Start a transfer; `wait` completes all that were started. Not 0: it failed.
  int32_t (*send)(void* self, int64_t to, const void* data, int64_t bytes);
  int32_t (*receive)(void* self, int64_t from, void* data, int64_t bytes);
  int32_t (*wait)(void* self);
  void (*stop)(void);
  void (*abort)(int32_t code);  // ends all processes
};

// The only symbol that is exported.
const struct tap_mpi* tap_mpi_shim(void);
