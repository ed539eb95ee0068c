#include "runtime/executor_copy.h"

#include <string.h>

#include "runtime/kernel_abi.h"

namespace tap::executor {
namespace {

// The common layout of two boxes: rows that are contiguous in both, numbered by the outer axes.
struct Rows {
  int64_t outer = 0;  // how many axes count rows
  int64_t count = 1;
  int64_t bytes = 0;  // of one row
};

Rows rows_of(const Strided& from, const Strided& to, const int64_t* extents, int64_t rank, int64_t element_bytes) {
  Rows rows{rank, 1, element_bytes};
  while (rows.outer > 0) {
    int64_t axis = rows.outer - 1;
    bool contiguous = from.strides[axis] == rows.bytes && to.strides[axis] == rows.bytes;
    if (!contiguous && extents[axis] != 1) break;
    rows.bytes *= extents[axis];
    --rows.outer;
  }
  for (int64_t axis = 0; axis < rows.outer; ++axis) rows.count *= extents[axis];
  return rows;
}

}  // namespace

void copy_tiles(const Strided& from, const Strided& to, const int64_t* extents, int64_t rank, int64_t element_bytes,
                int64_t tiles, int64_t first, int64_t end) {
  const Rows rows = rows_of(from, to, extents, rank, element_bytes);
  if (rows.count == 0 || rows.bytes == 0) return;
  auto part = [tiles](int64_t all, int64_t tile) { return all / tiles * tile + all % tiles * tile / tiles; };
  if (rows.outer == 0) {
    int64_t begin = part(rows.bytes, first);
    memcpy(to.data + begin, from.data + begin, static_cast<size_t>(part(rows.bytes, end) - begin));
    return;
  }
  int64_t row = part(rows.count, first), last = part(rows.count, end);
  int64_t at[max_index_dims], source = 0, target = 0;
  for (int64_t axis = rows.outer - 1, rest = row; axis >= 0; --axis) {
    at[axis] = rest % extents[axis];
    rest /= extents[axis];
    source += at[axis] * from.strides[axis];
    target += at[axis] * to.strides[axis];
  }
  for (; row < last; ++row) {
    memcpy(to.data + target, from.data + source, static_cast<size_t>(rows.bytes));
    for (int64_t axis = rows.outer - 1; axis >= 0; --axis) {
      source += from.strides[axis];
      target += to.strides[axis];
      if (++at[axis] < extents[axis]) break;
      source -= extents[axis] * from.strides[axis];
      target -= extents[axis] * to.strides[axis];
      at[axis] = 0;
    }
  }
}

bool is_row_major(const int64_t* extents, const int64_t* strides, int64_t rank, int64_t unit) {
  for (int64_t axis = 0; axis < rank; ++axis)
    if (extents[axis] == 0) return true;
  int64_t expected = unit;
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    if (extents[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= extents[axis];
  }
  return true;
}

}  // namespace tap::executor
