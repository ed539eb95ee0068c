// Which operations of a graph are fused, and over which dims: among the groupings that move few bytes, the one with the
// lowest predicted time.
//
//   m[i] = max[k] x[i, k]   s[i] = sum[k] exp(x[i, k] - m[i])   y[i, k] = exp(x[i, k] - m[i]) / s[i]
//   tried: as they are; {m, s, y} over i; {m, s} over i and y; m and {s, y} over i; a last reduction also over its reduced
//   dims, which streams what it reads
//
// A set of operations is priced as a separate program, so that equal layers of a large program are priced once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cost/decide/considered.h"
#include "cost/decide/mesh_splits.h"
#include "cost/decide/pricer.h"
#include "ir/plan.h"
#include "passes/caution.h"

namespace tap::cost {

struct DecidedGroups {
  std::vector<ir::PlannedFusion> fusions;
  std::vector<Consideration> considered;  // of each set of operations that share much traffic
};

// For one graph; `path` is its path in a plan. Operations in `fixed` stay as they are. With `splits` (null unless the program is
// sharded), times are those of one device of the mesh.
DecidedGroups decide_groups(const ir::Program& program, ir::GraphId graph, const std::string& path,
                            const std::set<ir::OperationId>& fixed, const SplitsOfGraph* splits,
                            const passes::Caution& caution, Pricer& pricer);

}  // namespace tap::cost
