// One operation in ONNX's sharding formalism: checks the shardings of its operands and infers the devices of its
// results. Only factors are used (factors.h): the operator groups of the text are special cases.
//
//   y[i, o] = sum[k] x[i, k] * w[k, o]
//   k   x and w both have it, so they must have it in the same shards                  same-sharding
//   i   x alone has it: w is broadcast along it, as x is along o. Shard (i, k, o) is where x(i, k) and w(k, o) both are;
//       if nowhere, the two cannot be composed                                         composable
//   k   is reduced: y(i, o) is on all devices that had a shard (i, k, o) for some k
#pragma once

#include <functional>

#include "ir/shardings/onnx_spec.h"
#include "passes/shardings/factors.h"

namespace tap::passes::onnx {

using ir::onnx::Broken;
using ir::onnx::Placed;

enum class Reduced : std::uint8_t {
  on_all,  // that took part in the reduction
  on_one,  // the first of them
};

struct OperationQuery {
  const ir::Operator& op;
  const std::vector<Placed>& operands;
  std::function<std::string(std::size_t)> operand_name;
  Reduced reduced = Reduced::on_all;
};
// The placements of the results, or the first violated rule.
std::variant<std::vector<Placed>, Broken> infer(const OperationQuery& query);

}  // namespace tap::passes::onnx
