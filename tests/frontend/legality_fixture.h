// Legality on hand cases: each is decided twice, with closed forms and by isl alone.
#pragma once

#include <gtest/gtest.h>

#include "compiler/frontend/proofs/legality.h"
#include "tests/frontend/build_operator.h"

namespace tap::testing {

using B = OperatorBuilder;
using ir::Point;

class LegalityTest : public ::testing::TestWithParam<bool> {
 protected:
  Legality legality{{GetParam()}};

  std::optional<Violation> writes(const Shape& shape, const std::vector<ir::Operator>& ops) {
    std::vector<Writer> writers;
    for (const ir::Operator& op : ops) writers.push_back({&op, 0});
    return legality.check_writes(shape, writers);
  }
};

inline std::string method_name(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "closed_forms" : "isl_alone";
}

// An operator of the given dims that writes at these coordinates.
inline ir::Operator writer(const std::vector<ir::Range>& dims, const std::vector<ir::AffineExpr>& start,
                           Shape region = {}) {
  B b;
  for (ir::Range r : dims) b.parallel(r.lo, r.hi);
  b.write({}, start, std::move(region));
  return b.build();
}

// x[c*i + offset] for i in 0..n, x of `extent` cells.
inline ir::Operator window(std::int64_t c, std::int64_t offset, std::int64_t n, std::int64_t extent,
                           std::int64_t taps = 1) {
  B b;
  b.parallel(0, n);
  b.parallel(0, taps);
  b.value(b.read({extent}, {B::at({{0, c}, {1, 1}}, offset)}));
  return b.build();
}

struct Guarded {
  B b;
  std::uint32_t i, j;
  ir::CellId x;  // x[i - 1, j + 1] of [8, 8]
  Guarded() : i(b.parallel(0, 8)), j(b.parallel(0, 8)), x(b.read({8, 8}, {B::at({{i, 1}}, -1), B::at({{j, 1}}, 1)})) {}
  ir::CellId i_positive() { return b.less(b.number(0), b.index(i)); }
  ir::CellId j_not_last() { return b.less(b.index(j), b.number(7)); }
};

}  // namespace tap::testing
