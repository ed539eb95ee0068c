// Operations whose blocks would write between each other, over devices, where each is to hold a box: each point has a cell of its
// own first, and a map puts it in its place. So any dim may go over devices, whatever is written.
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
  ir::Plan plan;  // its splits of those operations are of what they compute
};
// The operations are named as in the plan. Nothing if one of them cannot be: regions and outside kernels write as they do, and
// what is cut already, or does not write at every point, stays.
std::optional<StagedWrites> stage_interleaved_writes(const ir::Program& program, const ir::Plan& plan,
                                                     const std::set<std::string>& operations);

}  // namespace tap::passes
