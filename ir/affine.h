// Affine expressions and maps over index dims, in checked 64-bit integers.
//
//   2*i - j + 3 over (i, j)  is  AffineExpr{{2, -1}, 3}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/box.h"

namespace tap::ir {

struct AffineExpr {
  std::vector<std::int64_t> coefficients;  // one per input dim
  std::int64_t offset = 0;

  static AffineExpr constant(std::size_t inputs, std::int64_t value);
  static AffineExpr variable(std::size_t inputs, std::size_t dim);
  bool is_constant() const;
  // The dim if this is exactly that one variable, with coefficient 1 and no offset.
  std::optional<std::size_t> as_variable() const;
  std::int64_t operator()(const Point& p) const;
  Range bounds(const Box& box) const;  // tight range of values; empty if the box is
  bool operator==(const AffineExpr&) const = default;
};
AffineExpr operator+(const AffineExpr& a, const AffineExpr& b);
AffineExpr operator-(const AffineExpr& a, const AffineExpr& b);
AffineExpr scale(const AffineExpr& a, std::int64_t factor);

struct AffineMap {
  std::size_t inputs = 0;
  std::vector<AffineExpr> rows;

  static AffineMap identity(std::size_t n);
  Point operator()(const Point& p) const;
  bool operator==(const AffineMap&) const = default;
};
// x ↦ outer(inner(x))
AffineExpr compose(const AffineExpr& outer, const AffineMap& inner);
AffineMap compose(const AffineMap& outer, const AffineMap& inner);

enum class Comparison : std::uint8_t { at_least_zero, equal_zero };
struct Constraint {
  AffineExpr expr;
  Comparison comparison = Comparison::at_least_zero;
  bool holds(const Point& p) const;
  bool operator==(const Constraint&) const = default;
};

// An operator's domain: a box and affine constraints on it.
struct Domain {
  Box box;
  std::vector<Constraint> constraints;
  bool contains(const Point& p) const;
  bool operator==(const Domain&) const = default;
};

std::string to_string(const AffineExpr& e, const std::vector<std::string>& names);  // 2*i - j + 3
std::string to_string(const Constraint& c, const std::vector<std::string>& names);  // 2*i - j >= 0

}  // namespace tap::ir
