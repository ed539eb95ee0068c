// Affine expressions over boxes and domains, independent of the code that is checked; from ir/ it uses only sums of
// expressions and intersections of boxes. All arithmetic is overflow-checked (an Overflow refuses the claim).
#pragma once

#include "ir/operator.h"

namespace tap::check {

using ir::AffineExpr;
using ir::Box;

inline AffineExpr number(std::size_t dims, std::int64_t value) { return AffineExpr::constant(dims, value); }
inline AffineExpr unit(std::size_t dims, std::size_t dim) { return AffineExpr::variable(dims, dim); }
inline bool uses_dim(const AffineExpr& e, std::size_t dim) { return e.coefficients[dim] != 0; }

// `e`, with dims[d] substituted for its variable d; `over` is the number of variables of `dims`.
AffineExpr substituted(const AffineExpr& e, const std::vector<AffineExpr>& dims, std::size_t over);

// Where block r begins. Block `count` would begin at the end of the range.
std::int64_t edge(const ir::Blocks& blocks, ir::Range range, std::int64_t r);

// Least and greatest value over a nonempty box.
std::int64_t least(const AffineExpr& e, const Box& box);
std::int64_t greatest(const AffineExpr& e, const Box& box);

struct Space {  // a box and constraints
  Box box;
  std::vector<ir::Constraint> constraints;
};
Box box_of(const ir::Operator& op);
// Whether e >= 0 at all points, shown by the ranges alone or by one constraint. Incomplete: false may mean unknown.
bool never_negative(const AffineExpr& e, const Space& space);

// Whether the points at which the rows give certain cells move by a constant when the cells move by `steps`: each row that moves
// has one dim, whose coefficient divides the step, and rows agree about the move of each dim.
bool moves_evenly(const std::vector<AffineExpr>& rows, const std::vector<std::int64_t>& steps);

}  // namespace tap::check
