// Reductions that need only linear work, recognised by their form. The interpreter and native code both run them in
// this way, each in the cases that its loops support.
//
//   scan      y[i] = sum[k in 0..i+1] x[k]                           each cell continues its predecessor's combination
//   scatter   y[v, d] = sum[t] (if ids[t] == v then g[t, d] else 0)  each term is added to its one cell
#pragma once

#include <optional>
#include <vector>

#include "ir/operator.h"

namespace tap::ir {

// Whether these cells may differ between two points that differ in this dim only.
bool depends_on(const Operator& op, const std::vector<CellId>& cells, std::size_t dim);

// The outermost reduction dim follows one parallel dim at one end of its range, and the operands do not depend on that
// parallel dim.
struct Scan {
  std::uint32_t along;  // the parallel dim
  std::uint32_t reduced;
  std::size_t constraint;  // the operator's constraint that relates them
  bool ascending;          // the ranges grow with the parallel dim; else they shrink
  bool at_the_right;       // the end that moves is the upper one
};
// One for each dim along which it is a scan. With inner reduction dims, new terms must be at the right: elsewhere they
// would come between existing terms.
std::vector<Scan> scans_of(const Operator& op);
// The first one, of an operator with only one reduction dim.
std::optional<Scan> find_scan(const Operator& op);

// Operands `if … and selector == v and … then x else identity`, with v affine in one parallel dim: for each point of
// the reduction dims, the selectors determine the only value of the target dims where the operand is not the identity.
struct Scatter {
  struct Target {
    CellId selector;    // depends on no target's dim
    AffineExpr equals;  // sign * dim + (dims that are not targets)
    std::uint32_t dim;
    std::int64_t sign;  // 1 or -1
  };
  std::vector<CellId> conditions;  // evaluated before the selectors; if one is false, the operands are the identity
  std::vector<Target> targets;
  std::vector<CellId> later;  // likewise, evaluated after them: these may depend on the targets' dims
  std::vector<CellId> terms;  // the x of each component
};
std::optional<Scatter> find_scatter(const Operator& op, const Monoid& monoid);

}  // namespace tap::ir
