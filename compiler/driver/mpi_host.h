// `tapc run --mpi`: the processes of an MPI job share one run. MPI is loaded only then, through the shim of the launcher's
// MPI (runtime/mpi/shim.h).
//
//   mpirun -n 4 tapc run layer.tap --plan layer.plan --mpi
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/mpi_job.h"

namespace tap::driver {

class MpiHost {
 public:
  // Joins the job. Throws Failure, exit 4, if there is no shim or MPI does not start. Called once, and not undone: a
  // process leaves the job at its end.
  static MpiHost& start();
  // Leaves the job; with an exit code other than 0 ends all its processes. Nothing without a job.
  static void leave(int exit_code);
  // The number that the launcher gave this process; empty without one.
  static std::string launched_as();
  // Whether a launcher started this process as one that is not the first. Before all have joined, they do the same, and
  // only the first one reports errors at once.
  static bool is_follower();

  std::int64_t rank() const { return rank_; }
  std::int64_t size() const { return size_; }
  bool is_first() const { return rank_ == 0; }
  executor::Messages messages() const;
  // Whether a message of this process has arrived: not received by that.
  bool has_message(std::int64_t from) const;
  // Of each process: the first one of its node. All processes call it.
  std::vector<std::int64_t> nodes() const;
  // The processes of this one's node, with it, in order. All processes call it.
  std::vector<std::int64_t> of_node() const;

 private:
  MpiHost();
  executor::MpiJob job_;
  std::int64_t rank_ = 0, size_ = 1;
};

}  // namespace tap::driver
