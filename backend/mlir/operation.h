// An operation on cells, a map or a reduction, as linalg.generic.
//
//   Y[i, o] = sum[k] X[i, k] * W[k, o]      three loops, "parallel", "parallel", "reduction", and a result that is 0 at first
//
// An affine read is an operand with a map: x[i + u] is (d0, d1) -> (d0 + d1), of x padded if it has a fill.
// Data-dependent and conditional reads use tensor.extract in the body. A reduction by a monoid of tuples has several
// results; a domain that is not a box becomes a condition in the body.
#pragma once

#include "backend/mlir/body.h"

namespace tap::backend::mlir {

// What MLIR cannot express, in the program's terms.
struct Refused {
  std::string what;
  std::string help;
};

// Returns the values of the results. Throws Refused.
std::vector<std::string> write_operation(Text& text, const OperationText& operation);

}  // namespace tap::backend::mlir
