// Internal to canonical.cpp: an operator prepared for comparison, and the colours that distinguish its parts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "passes/rewrites/canonical.h"

namespace tap::passes::canonical {

using Code = std::vector<std::int64_t>;

// The operator without what does not count: reads that no cell needs are left out, equal ones are one.
struct Prepared {
  const ir::Program& program;
  const ir::Operator& op;
  bool in_order = false;                 // all of it: an outside kernel
  std::vector<std::uint32_t> tensor;     // by operand: the first one with its label
  std::vector<std::int64_t> labels;      // by operand
  std::vector<std::uint32_t> read;       // by read: the one that stands for it
  std::vector<std::uint32_t> reads;      // those that stand for themselves and are needed
  std::vector<std::uint32_t> tensors;    // operands that are needed, each label once
  std::vector<ir::CellId> cells;         // needed, arguments first
  std::vector<std::uint32_t> dim_order;  // by dim: its place, from 1, among those whose order counts, else 0
};
Prepared prepare(const ir::Program& program, const ir::Operator& op, const std::vector<std::int64_t>& labels);

// Colours: equal for what looks the same from everywhere. They depend on the structure alone.
struct Colours {
  std::vector<std::uint64_t> dims, tensors, reads, writes;  // by number in the operator
};
Colours first_colours(const Prepared& p);
// Refines the colours by those of connected parts, round after round.
void refine(const Prepared& p, Colours& colours);

// Parts in a definite order.
struct Order {
  std::vector<std::uint32_t> dims, tensors;  // by canonical number
};
// The operator written in that order; colours break what ties are left. `results`: by canonical number.
Code encode(const Prepared& p, const Order& order, const Colours& colours, std::vector<std::uint32_t>& results);

bool commutes(ir::CellOp op);

}  // namespace tap::passes::canonical
