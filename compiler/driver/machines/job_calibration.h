// `mpirun -n N tapc calibrate --mpi`: the processes of a job measure their nodes, and the links between each two of them. One process
// is one device.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/machines/calibration.h"
#include "compiler/driver/machines/link_levels.h"

namespace tap::driver {

class MpiHost;

struct JobCalibration {
  std::vector<Measured> measured;  // on the first node
  std::vector<cost::Device> types;
  std::vector<std::pair<std::size_t, std::int64_t>> layout;  // as in cost::Cluster
  Links links;
};

// All processes call it; the first one has the result. The first process of each node measures its processor, while the others of
// that node sleep. `known`: this process's device, as far as it is known. `has_chosen` as for `calibrate`.
JobCalibration calibrate_job(Session& session, const MpiHost& host, cost::Device known, bool has_chosen);

}  // namespace tap::driver
