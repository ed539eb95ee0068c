// Plain numbers: those of the interpreter (ir/interpret/interpret_number.h). Floats are f64 for every float type.
#pragma once

#include <vector>

#include "compiler/frontend/proofs/laws_evaluate.h"

namespace tap {

struct NumberAlgebra {
  using Value = ir::Scalar;  // the monoid rounds floats to their type by casts

  Value constant(const ir::Scalar& s) const { return s; }
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  bool truth(const Value& v) const { return v.i != 0; }
  Answer agree(const Value& a, const Value& b, int infinity) const;  // bitwise, except for NaN and the sign of zero
};

int infinity_of(const ir::Scalar& s);  // -1, 0, 1

}  // namespace tap
