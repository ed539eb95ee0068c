// An operation on cells, a map or a reduction, as linalg.generic.
//
//   Y[i, o] = sum[k] X[i, k] * W[k, o]      three loops, "parallel", "parallel", "reduction", and a result that is 0 at first
//
// A read is an operand with a map where it is affine: x[i + u] is (d0, d1) -> (d0 + d1), of x with cells around it where it
// has a fill. What depends on data, or is only read under a condition, the body takes by itself (tensor.extract). A reduction by a
// monoid of tuples has as many results, and a domain that is no box is a condition in the body.
#pragma once

#include "backend/mlir/body.h"

namespace tap::backend::mlir {

// What MLIR cannot say, in the program's words.
struct Refused {
  std::string what;
  std::string help;
};

// Gives back the values of the results. Throws Refused.
std::vector<std::string> write_operation(Text& text, const OperationText& operation);

}  // namespace tap::backend::mlir
