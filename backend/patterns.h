// Two shapes of reduction that run in linear work instead of one loop inside another, told by facts alone.
//
//   scan     y[i] = sum[k in 0..i+1] x[k]                          the constraint i - k >= 0, and x does not depend on i
//   scatter  g[v, d] = sum[t] (if ids[t] == v then x[t, d] else 0)  the operand is the identity unless v is one value
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tap::backend {

struct Scan {
  std::size_t dim = 0;         // the parallel dim that runs
  std::size_t reduced = 0;     // the reduction dim whose bound follows it
  std::size_t constraint = 0;  // which of the operator's constraints says so
  bool descending = false;     // a lower bound follows: the last cell has the least to combine
};
std::optional<Scan> find_scan(const ir::Operator& op);

struct Scatter {
  struct Target {
    std::size_t dim = 0;  // the parallel dim …
    ir::CellId value;     // … and the only value of it that a point of the reduction contributes to
  };
  std::vector<Target> targets;
  std::vector<ir::CellId> conditions;  // what else must hold, in order, after the targets
  std::vector<ir::CellId> operands;    // what is then combined, one per component
};
std::optional<Scatter> find_scatter(const ir::Program& program, const ir::Operator& op);

// Whether the cell's value may differ between two points that differ in this dim only.
bool depends_on(const ir::Operator& op, ir::CellId cell, std::size_t dim);

// The parallel dims along which an application can be cut so that no two blocks write one cell or repeat work.
std::vector<std::size_t> free_dims(const ir::Program& program, const ir::Operator& op);

}  // namespace tap::backend
