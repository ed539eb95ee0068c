// The size of a whole tensor. A double, since the number of cells is unlimited.
#pragma once

#include "ir/operator.h"

namespace tap::ir {

inline double total_bytes(const TensorType& type) {
  double bytes = static_cast<double>(size_of(type.element));
  for (std::int64_t extent : type.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace tap::ir
