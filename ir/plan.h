// A plan: every decision about one program, as a file that can be exported, edited, compared and replayed. What a plan
// does not mention keeps its default (original alternative, not split, not fused).
//
//   plan 2
//   choose H 1
//   split H dim k into 4 over mesh model tree 2
//   split Y dim i into [0, 100, 4096] over threads
//   split H.m dim k into 4 over mesh.model
//   split Y dim i into 3 over devices {0, 1}, {2}, {7}
//   place Z over devices {3}
//   fuse H, H.m, Y over i
//   unroll u 4
//   mesh grid = [x: 4, y: 2]              a mesh that the program does not declare
//   fast_reduce                           devices combine small partials of floats in rounds
//   evaluations 64                        the plan is complete
//
// An operation is named after the value that it writes (with several writers: `Y@1`, counted from 0), and inside a
// region by a path: `u/v2` is the operation in u's body that writes v2. Dims have the names that `inspect` shows.
// Meshes and axes have the names that the program gives them: a plan can be read without the program. Lines for one
// operation apply in order; splitting a dim again splits its blocks.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/operator.h"
#include "ir/placement.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text.h"

namespace tap::ir {

struct PlannedChoice {  // which alternative of a choice; 0 is the original
  std::string operation;
  std::uint32_t alternative = 0;
  bool operator==(const PlannedChoice&) const = default;
};
struct PlannedSplit {
  std::string operation;
  std::string dim;
  Blocks blocks;
  Placement placement = Placement::unspecified;
  std::string mesh;                  // placement on a mesh axis
  std::optional<AxisName> axis;      // likewise
  std::optional<std::int64_t> tree;  // for a reduction dim: how many partials are combined at once; without it, all
  DeviceSets devices = {};           // placement on sets of devices, one for each block
  std::optional<std::int64_t> all_at = {};  // nothing is split: the whole operation goes where this block would
  bool operator==(const PlannedSplit&) const = default;
};
struct PlannedFusion {
  std::vector<std::string> operations;
  std::vector<std::string> dims;  // of the last operation: those that the group shares; if empty, its parallel ones
  bool operator==(const PlannedFusion&) const = default;
};
struct PlannedUnroll {
  std::string operation;
  std::int64_t steps = 1;
  bool operator==(const PlannedUnroll&) const = default;
};
using Decision = std::variant<PlannedChoice, PlannedSplit, PlannedFusion, PlannedUnroll>;

struct Plan {
  std::vector<Decision> decisions;
  std::vector<Mesh> meshes = {};  // in addition to the program's
  // If present, the plan is complete: it decides everything. It was made with at most this many evaluations of the cost
  // model.
  std::optional<std::int64_t> evaluations = std::nullopt;
  bool fast_reduce = false;  // as the option (passes/caution.h): all-reduces of floats may be in rounds
  bool operator==(const Plan&) const = default;
};

// Whether a plan may contain the name without quotes: letters, digits and `_`, and between them `.`, `/`, `@` and `#`.
bool is_plain_name(std::string_view name);
std::string plan_name(const std::string& name);  // in quotes if necessary

std::string print(const Plan& plan);

}  // namespace tap::ir
