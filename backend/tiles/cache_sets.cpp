#include "backend/tiles/cache_sets.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "support/checked.h"
#include "support/element_type.h"

namespace tap::backend {

using namespace ir;

std::int64_t distance_along(const Operator& op, const Access& access, std::size_t dim) {
  return distance_along(op.operands[access.tensor], access, dim);
}

std::int64_t distance_along(const TensorType& type, const Access& access, std::size_t dim) {
  std::int64_t distance = 0, stride = static_cast<std::int64_t>(size_of(type.element));
  for (std::size_t axis = access.projection.start.rows.size(); axis-- > 0;) {
    const std::int64_t steps = std::abs(access.projection.start.rows[axis].coefficients[dim]);
    distance = checked::add(distance, checked::mul(steps, stride));
    stride = checked::mul(stride, type.shape[axis]);
  }
  return distance;
}

std::int64_t cells_apart(const TensorType& type, const Access& access, std::size_t dim) {
  return distance_along(type, access, dim) / static_cast<std::int64_t>(size_of(type.element));
}

std::int64_t lines_in_a_set(std::int64_t rows, std::int64_t distance, const Machine& machine) {
  if (distance == 0 || distance % machine.line_bytes != 0) return 1;
  const std::int64_t sets = machine.l1_sets / std::gcd(machine.l1_sets, distance / machine.line_bytes);
  return std::max<std::int64_t>(rows / sets, 1);
}

std::int64_t ways_of_a_set(const Machine& machine) {
  return std::max<std::int64_t>(machine.l1_bytes / (machine.l1_sets * machine.line_bytes), 1);
}

}  // namespace tap::backend
