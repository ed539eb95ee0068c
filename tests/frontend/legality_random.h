// Random small numbers, expressions and constraints, and every point of a box: what the properties of legality draw from.
#pragma once

#include <rapidcheck.h>

#include "tests/frontend/build_operator.h"

namespace tap::testing {

using B = OperatorBuilder;
using ir::Point;

// Of the whole range from the first case on.
inline std::int64_t number(std::int64_t lo, std::int64_t hi) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(lo, hi + 1));
}

inline std::vector<Point> points_of(const ir::Box& box) {
  std::vector<Point> points;
  auto p = first_point(box);
  if (!p) return points;
  do points.push_back(*p);
  while (next_point(box, *p));
  return points;
}

inline ir::AffineExpr random_affine(std::uint32_t dims, std::int64_t most = 3) {
  ir::AffineExpr e = ir::AffineExpr::constant(dims, number(-4, 4));
  for (std::int64_t& c : e.coefficients) c = number(0, 2) == 0 ? 0 : number(-most, most);
  return e;
}
inline void random_constraints(B& b, std::uint32_t dims) {
  for (std::int64_t n = number(0, 2); n > 0; --n) {
    if (number(0, 5) == 0) {
      b.equal_zero(random_affine(dims));
    } else {
      b.at_least_zero(random_affine(dims));
    }
  }
}

}  // namespace tap::testing
