// What compiled kernels and their callers agree on.
#pragma once

#include <cstdint>

namespace tap::backend {

inline constexpr std::size_t max_index_dims = 64;

enum class KernelFailure : std::int32_t {
  none = 0,
  division_by_zero = 1,
  remainder_by_zero = 2,
  index_out_of_range = 3,
  negative_shift = 4
};

// Where and why a kernel stopped.
struct KernelError {
  std::int64_t point[max_index_dims];  // of the operator's index space
  std::int64_t tensor;                 // index_out_of_range: of which operand, on which axis
  std::int64_t axis;
  std::int64_t value;    // the index, or the amount of the shift
  std::int64_t section;  // of a group's kernel: which of its operations; 0 of others
};

// box: lo, hi per index dim. buffers: operands, then results, each the address of the tensor's cell 0. strides: of all
// tensors, per axis, in elements; that of the last axis is 1. scratch: as many bytes as the kernel wants, on a cache line, of
// nobody else during the call. The call computes the tiles from first to end (tile_count) of the box: parts that share no
// work, whatever the number of threads. Returns a KernelFailure; the error is written only if that is not `none`.
using KernelFunction = std::int32_t (*)(const std::int64_t* box, void* const* buffers, const std::int64_t* strides,
                                        void* scratch, std::int64_t first_tile, std::int64_t end_tile,
                                        KernelError* error);

}  // namespace tap::backend
