// Operations over devices whose blocks would write interleaved cells, although each device must hold a box: each
// point is first written to a cell of a staging buffer, and a map puts it in place. So any dim may be placed on
// devices, whatever it writes.
//
//   y[2*i + r] = f(i, r)                     p[i, r] = f(i, r)   and   y[2*i + r] = p[i, r]
//   Y[i] = A[i], Y[4 + j] = B[j]             p[i] = A[i],  Y[i] = p[i],  Y[4 + j] = B[j]: one of two writers over devices
#pragma once

#include <set>

#include "passes/splits/apply_splits.h"

namespace tap::passes {

struct StagedWrites {
  ir::Program program;
  ir::Step step;
  ir::Plan plan;  // its splits of these operations apply to the staged ones
};
// Operations have the plan's names. Nothing if one of them cannot be staged: regions, outside kernels, operations that
// are already split, and those that do not write at every point.
std::optional<StagedWrites> stage_interleaved_writes(const ir::Program& program, const ir::Plan& plan,
                                                     const std::set<std::string>& operations);

}  // namespace tap::passes
