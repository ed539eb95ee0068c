// Copies boxes between tensors with any strides, in parts that threads can share.
#pragma once

#include <stdint.h>

namespace tap::executor {

struct Strided {
  char* data;              // the box's first cell
  const int64_t* strides;  // in bytes
};

// Copies the parts from `first` to `end` of `tiles` parts. Pre: at most 64 axes.
void copy_tiles(const Strided& from, const Strided& to, const int64_t* extents, int64_t rank, int64_t element_bytes,
                int64_t tiles, int64_t first, int64_t end);

// Whether the strides, in units of `unit`, are row-major; axes of extent 1 are ignored.
bool is_row_major(const int64_t* extents, const int64_t* strides, int64_t rank, int64_t unit);

}  // namespace tap::executor
