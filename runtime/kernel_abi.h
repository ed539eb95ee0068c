// The interface between compiled kernels, outside kernels and their callers. Only C headers, since compiled libraries
// contain it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tap {

inline constexpr size_t max_index_dims = 64;

enum class KernelFailure : int32_t {
  none = 0,
  division_by_zero = 1,
  remainder_by_zero = 2,
  index_out_of_range = 3,
  negative_shift = 4
};

// Where and why a kernel stopped.
struct KernelError {
  int64_t point[max_index_dims];  // of the operator's index space
  int64_t tensor;                 // index_out_of_range: the operand and the axis
  int64_t axis;
  int64_t value;    // the index, or the shift amount
  int64_t section;  // for a group's kernel, the number of the operation; else 0
};

// box: lo, hi per index dim. buffers: operands, then results, each the address of the tensor's cell 0. strides: of all
// tensors, per axis, in elements; that of the last axis is 1. scratch: as many bytes as the kernel needs, aligned to a
// cache line, private to the call; the first `scratch_state` of them are zero, or as the last call with the same box and buffers
// left them, together with the rest. The call computes the box's tiles from first to end: they share no work, whatever
// the number of threads. Returns a KernelFailure; the error is written only if that is not `none`.
inline constexpr size_t scratch_state = 64;
using KernelFunction = int32_t (*)(const int64_t* box, void* const* buffers, const int64_t* strides, void* scratch,
                                   int64_t first_tile, int64_t end_tile, KernelError* error);

// An outside kernel (grammar/README.md): the box of an application (lo, hi per index dim), the extents of the whole
// index space, and per access the region that the box touches: the address of its first cell, extents, strides in elements.
struct OutsideRegion {
  void* data;
  const int64_t* extents;
  const int64_t* strides;
};
using OutsideFunction = void (*)(const int64_t* box, const int64_t* extents, const OutsideRegion* regions);

}  // namespace tap
