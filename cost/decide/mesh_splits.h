// How a sharded program divides its operations: the lines `split … over` a mesh axis that follow from its shardings and its
// plan. A group replaces several operations by one, which is then divided as its last operation was.
//
//   split A dim i into 4 over pod.data                   a group {A, Y} over i: `split Y dim i into 4 over pod.data`
//   split Y dim i into 4 over pod.data                   a group {A, Y} over j: none, since each device would compute all of A
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ir/plan.h"
#include "passes/pass.h"

namespace tap::cost {

struct MeshSplit {
  std::uint32_t dim = 0;
  ir::PlannedSplit line;
};
using SplitsOfGraph = std::map<ir::OperationId, std::vector<MeshSplit>>;

// Whether the decision splits a dim over a mesh axis.
bool is_over_mesh(const ir::Decision& decision);

// By graph: the lines of the context's plan, and those that follow from shardings. Nothing if shardings contradict each
// other, or if a line names what only a later split creates.
std::optional<std::vector<SplitsOfGraph>> mesh_splits(const ir::Program& program, const passes::PassContext& context);

// The splits of a group of these operations over these dims of the last one. Nothing if a device would compute or read more
// than it does without the group: if the group does not divide a dim over the axes that divide it now, in the same
// blocks, or if partials are combined across devices.
std::optional<std::vector<MeshSplit>> splits_of_group(const ir::Program& program, const ir::Graph& graph,
                                                      const SplitsOfGraph& splits,
                                                      const std::vector<ir::OperationId>& operations,
                                                      const std::vector<std::uint32_t>& over);

// Whether the operation's partials are combined across devices.
bool has_partials(const ir::Operator& op, const std::vector<MeshSplit>& splits);

// The plan without lines that split operations inside of its groups over a mesh.
ir::Plan without_inner_splits(ir::Plan plan);

}  // namespace tap::cost
