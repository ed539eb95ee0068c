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
// The access one cell further out: [dim, …].
ir::Projection under(ir::Projection projection, std::uint32_t dim);
// Every write goes under that dim, which becomes the first axis of every result; results take the monoid's types.
void write_under(ir::Operator& op, const ir::Monoid& monoid, std::uint32_t dim);

// The cell and all that it needs, in another arena; `leaf` says what becomes of a node, or nothing (then it is copied).
using Leaf = std::function<std::optional<ir::CellId>(const ir::CellNode& node)>;
ir::CellId graft(const ir::CellExprs& from, ir::CellId cell, ir::CellExprs& to, const Leaf& leaf);

}  // namespace tap::passes
