// The numbers that laws are sampled with: integers of their width, floats as f64 whatever their type, so that the laws of
// the reals hold up to a small error.
#pragma once

#include <vector>

#include "ir/cell.h"

namespace tap {

struct NumberAlgebra {
  using Value = ir::Scalar;  // floats are not rounded to their type

  Value constant(const ir::Scalar& s) const { return s; }
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  bool truth(const Value& v) const { return v.i != 0; }
  bool all_same(const std::vector<Value>& a, const std::vector<Value>& b) const { return same(a, b) == a.size(); }
  bool partly_same(const std::vector<Value>& a, const std::vector<Value>& b) const {
    std::size_t equal = same(a, b);
    return equal != 0 && equal != a.size();
  }
  bool agree(const Value& a, const Value& b) const;  // floats up to 1e-6 of the larger, or of 1
  bool is_nan(const Value& v) const { return v.f != v.f; }
  int infinity(const Value& v) const;

 private:
  // How many components are equal; 0.0 == -0.0.
  static std::size_t same(const std::vector<Value>& a, const std::vector<Value>& b);
};

}  // namespace tap
