// Plan lines with explicit device lists, for values whose shards are on sets of devices that no mesh describes.
//
//   Y: rows in 3 shards on {0, 1}, {2}, {7}     split Y dim i into 3 over devices {0, 1}, {2}, {7}
//   S: not sharded, on device 2 alone           place S over devices {2}
#pragma once

#include "ir/plan.h"
#include "ir/shardings/onnx_spec.h"

namespace tap::passes {

struct ListedValues {
  std::vector<std::optional<ir::onnx::Placed>> values;                 // of main, by value
  std::vector<std::vector<std::optional<ir::onnx::Placed>>> operands;  // by operation: uses that differ
};

// Whether a plan can list its devices: contiguous blocks, and no device has two of them.
bool can_be_listed(const ir::onnx::Placed& placed);

// The same placement with explicit devices: `over pod.data` is `over devices {0, 1}, {2, 3}`.
ir::PlannedSplit listed(ir::PlannedSplit split, const ir::Program& program);
// The devices of each block along these axes, major to minor.
ir::DeviceSets devices_along(const ir::Mesh& mesh, const std::vector<ir::AxisRef>& axes);

// Plan lines for the operations that write one value.
struct ListedLines {
  std::string value;
  std::vector<ir::OperationId> operations;
  std::vector<ir::PlannedSplit> splits;
  std::string target, why_not;  // … if there are none
};
std::vector<ListedLines> plan_of_listed(const ir::Program& program, const ir::Graph& graph,
                                        const std::vector<std::string>& names, const ListedValues& listed);

}  // namespace tap::passes
