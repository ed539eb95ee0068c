// The MPI job of this process, through the shim of its MPI (runtime/mpi/shim.h), which is loaded only here. Needs the C library
// only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/distribution.h"
#include "runtime/mpi/shim.h"

namespace tap::executor {

// "openmpi" or "mpich": the MPI that this process has loaded; else the one whose launcher started it, by its environment.
const char* mpi_of_process();
// How many processes the launcher started; 1 without one, 0 if it does not say.
int64_t launched_processes();
// The number that the launcher gave this process; null without one.
const char* launched_as();

// Null, with its name, if there is no shim. It is looked for beside the executable or library with the address `beside`, in
// lib/tapestry beside its folder, and where the loader looks for libraries.
const tap_mpi* load_shim(const void* beside, char* name, size_t size);

struct MpiJob {
  const tap_mpi* mpi = nullptr;
  void* job = nullptr;

  int64_t rank() const { return mpi->rank(job); }
  int64_t size() const { return mpi->size(job); }
  Messages messages() const { return {job, mpi->send, mpi->receive, mpi->wait}; }
};

}  // namespace tap::executor
