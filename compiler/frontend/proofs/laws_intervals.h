// Numbers with an error bound: intervals of f64, rounded outward. Samples refute a law only where the intervals of
// the two sides are disjoint, or exactly one side is certainly NaN; a comparison that depends on rounding is
// undecided.
//
//   log(exp(-3) + exp(-3) - 1)      the argument is about -0.9: NaN for any rounding
//   log(exp(-3) * exp(3) - 1)       the argument is about 0: undecided
#pragma once

#include "compiler/frontend/proofs/laws_evaluate.h"

namespace tap {

struct IntervalAlgebra {
  enum class Kind : std::uint8_t { number, infinite, nan };
  struct Value {
    ElementType type;
    Kind kind = Kind::number;
    double low = 0, high = 0;  // for a float; an infinity has low == high
    std::int64_t integer = 0;  // for other types
  };

  Value constant(const ir::Scalar& s) const;
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  bool truth(const Value& v) const { return v.integer != 0; }
  Answer agree(const Value& a, const Value& b, int infinity) const;

  // Sides whose relative (or absolute, below 1) difference is at most this may differ only by a rounded constant.
  double tolerance = 1e-6;
};

}  // namespace tap
