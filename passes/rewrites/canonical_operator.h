// Internal to canonical.cpp: an operator prepared for comparison, and the colours that distinguish its parts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "passes/rewrites/canonical.h"

namespace tap::passes::canonical {

using Code = std::vector<std::int64_t>;

// The operator without irrelevant parts: reads that no cell needs are removed, equal ones are merged.
struct Prepared {
  const ir::Program& program;
  const ir::Operator& op;
  bool in_order = false;                 // everything is ordered: an outside kernel
  std::vector<std::uint32_t> tensor;     // by operand: the first one with its label
  std::vector<std::int64_t> labels;      // by operand
  std::vector<std::uint32_t> read;       // by read: its representative
  std::vector<std::uint32_t> reads;      // the representatives that are needed
  std::vector<std::uint32_t> tensors;    // operands that are needed, each label once
  std::vector<ir::CellId> cells;         // needed, arguments first
  std::vector<std::uint32_t> dim_order;  // by dim: its position, from 1, among those whose order matters; else 0
};
Prepared prepare(const ir::Program& program, const ir::Operator& op, const std::vector<std::int64_t>& labels);

// Colours: equal for parts that are indistinguishable by structure.
struct Colours {
  std::vector<std::uint64_t> dims, tensors, reads, writes;  // by number in the operator
};
Colours first_colours(const Prepared& p);
// Refines the colours by those of connected parts, until they are stable.
void refine(const Prepared& p, Colours& colours);

// Parts in a fixed order.
struct Order {
  std::vector<std::uint32_t> dims, tensors;  // by canonical number
};
// The operator written in that order; colours break remaining ties. `results`: by canonical number.
Code encode(const Prepared& p, const Order& order, const Colours& colours, std::vector<std::uint32_t>& results);

bool commutes(ir::CellOp op);

}  // namespace tap::passes::canonical
