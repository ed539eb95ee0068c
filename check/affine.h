// Affine expressions, boxes and domains, computed here and not by the code that is checked. All arithmetic is overflow-
// checked (Overflow refuses).
#pragma once

#include "ir/operator.h"

namespace tap::check {

using ir::AffineExpr;
using Ranges = std::vector<ir::Range>;

AffineExpr number(std::size_t dims, std::int64_t value);
AffineExpr unit(std::size_t dims, std::size_t dim);
AffineExpr plus(AffineExpr a, const AffineExpr& b);
AffineExpr times(AffineExpr a, std::int64_t factor);
inline AffineExpr minus(const AffineExpr& a, const AffineExpr& b) { return plus(a, times(b, -1)); }
bool speaks_of(const AffineExpr& e, std::size_t dim);
bool is_number(const AffineExpr& e);

// `e` with dims[d] in the place of its variable d; `over` is how many variables those have.
AffineExpr substituted(const AffineExpr& e, const std::vector<AffineExpr>& dims, std::size_t over);

bool no_points(const Ranges& box);
// Where block r begins; block `count` would begin at the end.
std::int64_t edge(const ir::Blocks& blocks, ir::Range range, std::int64_t r);

// Least and greatest value over a box that has points.
std::int64_t least(const AffineExpr& e, const Ranges& box);
std::int64_t greatest(const AffineExpr& e, const Ranges& box);

struct Space {  // a box cut by constraints
  Ranges box;
  std::vector<ir::Constraint> constraints;
};
Space space_of(const ir::Operator& op);
// Whether e >= 0 at all points: by the ranges alone, or because one constraint says as much. Else it is not shown.
bool never_negative(const AffineExpr& e, const Space& space);

}  // namespace tap::check
