// Exact numbers: floats as fractions of integers of any length. If a monoid only adds, multiplies, divides and
// compares, a law either holds for such numbers or is refuted by them, even by a difference of 1e-9.
//
//   identity 0 combine (a, b) = a.v + b.v + 1e-9      0 combined with 1 is 1 + 1e-9, not 1
#pragma once

#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "compiler/frontend/proofs/laws_evaluate.h"

namespace tap {

// Whether fractions support every operation of the monoid. They do not support exponentials or rounding to a narrower
// type.
bool is_exact(const ir::Program& program, const ir::Monoid& monoid);

struct ExactAlgebra {
  enum class Kind : std::uint8_t { finite, infinite, nan };
  struct Value {
    ElementType type;
    Kind kind = Kind::finite;
    boost::multiprecision::cpp_rational number;  // for a float; for an infinity, its sign
    std::int64_t integer = 0;                    // for other types
  };

  Value constant(const ir::Scalar& s) const;
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  bool truth(const Value& v) const { return v.integer != 0; }
  Answer agree(const Value& a, const Value& b, int infinity) const;

  static ir::Scalar scalar(const Value& v);  // the nearest double
};

}  // namespace tap
