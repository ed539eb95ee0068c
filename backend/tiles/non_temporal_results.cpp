#include "backend/tiles/non_temporal_results.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::backend {

bool is_non_temporal(const ir::TensorType& type, const ir::Machine& machine) {
  const auto cell = static_cast<std::int64_t>(size_of(type.element));
  if (type.shape.empty() || checked::mul(element_count(type.shape), cell) <= machine.l3_bytes) return false;
  const bool one_row = element_count(type.shape) == type.shape.back();
  return one_row || type.shape.back() * cell % machine.line_bytes == 0;
}

void mark_non_temporal_results(Kernel& kernel, const ir::Machine& machine) {
  for (std::size_t t = kernel.operands; t < kernel.operands + kernel.results; ++t)
    kernel.tensors[t].non_temporal =
        is_non_temporal(kernel.tensors[t].type, machine) &&
        std::ranges::none_of(kernel.loads, [&](const Load& load) { return load.tensor == t; });
}

}  // namespace tap::backend
