// Reductions that need only linear work, recognised by their form.
//
//   scan      y[i] = sum[k in 0..i+1] x[k]                           each cell extends its neighbour's combination
//   scatter   y[v, d] = sum[t] (if ids[t] == v then g[t, d] else 0)  each term goes to the one cell that takes it
#pragma once

#include <optional>
#include <vector>

#include "ir/operator.h"

namespace tap::ir::oracle {

// One reduction dim, whose range follows one parallel dim at one end, and operands that do not depend on that dim.
struct Scan {
  std::uint32_t along;  // the parallel dim
  std::uint32_t reduced;
  bool ascending;     // the ranges grow with the parallel dim; else they shrink
  bool at_the_right;  // the end that moves is the upper one
};
std::optional<Scan> find_scan(const Operator& op);

// Operands `if … and selector == v and … then x else identity`, with v affine in one parallel dim: for each point of the
// reduction dims the selectors tell the only value of those dims where the operand is not the identity.
struct Scatter {
  struct Target {
    CellId selector;    // depends on no target's dim
    AffineExpr equals;  // sign * dim + (dims that are no target)
    std::uint32_t dim;
    std::int64_t sign;  // 1 or -1
  };
  std::vector<CellId> conditions;  // evaluated before the selectors: where one is false the operands are the identity
  std::vector<Target> targets;
};
std::optional<Scatter> find_scatter(const Operator& op, const Monoid& monoid);

}  // namespace tap::ir::oracle
