// The numbers that laws are sampled with: those of the oracle (ir/interpret_number.h). Floats are f64 whatever their type,
// so that the laws of the reals hold up to a small error.
#pragma once

#include <vector>

#include "ir/cell.h"

namespace tap {

struct NumberAlgebra {
  using Value = ir::Scalar;  // floats are rounded to their type where the monoid says so, by a cast

  Value constant(const ir::Scalar& s) const { return s; }
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  bool truth(const Value& v) const { return v.i != 0; }
  bool all_same(const std::vector<Value>& a, const std::vector<Value>& b) const;
  bool partly_same(const std::vector<Value>& a, const std::vector<Value>& b, const std::vector<bool>& counted) const;
  bool agree(const Value& a, const Value& b) const;
  bool is_nan(const Value& v) const { return v.f != v.f; }
  int infinity(const Value& v) const;

  double tolerance = 1e-6;  // floats agree up to this part of the larger, or of 1
};

}  // namespace tap
