// Cache lines whose addresses differ by a multiple of a page share a set of the first cache, and evict each other if they are
// more than it has ways: so do rows of a matrix that are a power of two apart.
#pragma once

#include <cstdint>

#include "ir/machine.h"
#include "ir/operator.h"

namespace tap::backend {

// Bytes between what the access reads, or writes, at one point of the dim and at the next. `type`: of its tensor.
std::int64_t distance_along(const ir::TensorType& type, const ir::Access& access, std::size_t dim);
std::int64_t distance_along(const ir::Operator& op, const ir::Access& read, std::size_t dim);
std::int64_t cells_apart(const ir::TensorType& type, const ir::Access& access, std::size_t dim);  // the same, in cells

// Of the lines of so many rows, at most how many share a set.
std::int64_t lines_in_a_set(std::int64_t rows, std::int64_t distance, const ir::Machine& machine);
std::int64_t ways_of_a_set(const ir::Machine& machine);

}  // namespace tap::backend
