// The devices of a value with several writers: where all parts of a shard are.
//
//   Y[i, j] = A[i, j] for j in 0..4; Y[i, 4 + j] = B[i, j]
//   rows of A and B in 2 on {0}, {1}       Y as A
//   columns of A and B in 2 on {0}, {1}    shard 0 of Y needs both shards of A, and no device has both: violates `composable`
//   the same, on {0, 1}, {0, 1}            Y as A
#pragma once

#include "ir/shardings/onnx_spec.h"
#include "passes/shardings/onnx_operation.h"

namespace tap::passes::onnx {

struct WrittenPart {
  const ir::Operator* op = nullptr;
  std::uint32_t result = 0;  // of the operator
  Placed placed;             // its placement by that operation alone
  std::string name;          // of the operation, for messages
};
// Pre: at least two parts, of a value of this shape.
std::variant<Placed, Broken> placement_of_parts(const std::vector<WrittenPart>& parts, const Shape& shape);

}  // namespace tap::passes::onnx
