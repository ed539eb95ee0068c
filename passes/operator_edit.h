// Small edits of operators: adding and removing dims and axes, copying cells between arenas.
#pragma once

#include <functional>

#include "ir/operator.h"

namespace tap::passes {

// y[i…] = x[i…], cell for cell.
ir::Operator copy_operator(const ir::TensorType& type);

void add_dim(ir::Operator& op, ir::IndexDim dim);  // last
// Pre: nothing depends on it.
void remove_dim(ir::Operator& op, std::uint32_t dim);

void remove_axis(ir::Projection& projection, std::size_t axis);
// The access with `dim` as an additional first axis: [dim, …].
ir::Projection under(ir::Projection projection, std::uint32_t dim);
// Makes `dim` the first axis of every result; results take the monoid's types.
void write_under(ir::Operator& op, const ir::Monoid& monoid, std::uint32_t dim);

// Copies the cell and all cells that it depends on to another arena. `leaf` may replace a node; if it returns nothing,
// the node is copied.
using Leaf = std::function<std::optional<ir::CellId>(const ir::CellNode& node)>;
ir::CellId graft(const ir::CellExprs& from, ir::CellId cell, ir::CellExprs& to, const Leaf& leaf);

}  // namespace tap::passes
