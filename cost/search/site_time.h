// The time of an operation on one device's part of its index space. Its kernel is the one for the whole tensors, which
// differs from that of the parts in strides only.
#pragma once

#include <map>
#include <vector>

#include "backend/compiled_program.h"
#include "cost/model/model.h"

namespace tap::cost {

class OperationTimes {
 public:
  // Pre: the program has no splits and no calls.
  OperationTimes(const ir::Program& program, const Cluster& cluster, std::int64_t threads, bool strict_fp);

  // Seconds if dim d has 1 / parts[d] of its points. Nothing for operations without a kernel.
  double seconds(ir::GraphId graph, ir::OperationId operation, const std::vector<std::int64_t>& parts);

 private:
  const ir::Program& program_;
  Model model_;
  backend::CompiledProgram lowered_;
  std::vector<std::map<ir::OperationId, ir::Box>> boxes_;  // by graph
  std::map<std::pair<ir::OperatorId, std::vector<std::int64_t>>, double> known_;
};

}  // namespace tap::cost
