#include "runtime/tensors/tensor_part.h"

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace tap {

TensorPart whole_part(const Shape& shape) { return {Shape(shape.size(), 0), shape}; }

TensorPart first_cell(const Shape& shape) {
  TensorPart part = whole_part(shape);
  for (std::int64_t& extent : part.shape) extent = std::min<std::int64_t>(extent, 1);
  return part;
}

void for_each_run(const Shape& whole, const TensorPart& part, const std::function<void(const Run&)>& each) {
  TAP_CHECK(whole.size() == part.shape.size(), "a part has a different number of axes than its tensor");
  if (element_count(part.shape) == 0) return;
  // A run covers one outer axis partly and those inside it completely.
  std::size_t outer = whole.size();
  std::int64_t count = 1;
  while (outer > 0) {
    --outer;
    count *= part.shape[outer];
    if (part.shape[outer] != whole[outer]) break;
  }
  const std::vector<std::int64_t> strides = row_major_strides(whole);
  std::vector<std::int64_t> at(outer, 0);
  Run run{0, 0, count};
  for (std::size_t d = 0; d < whole.size(); ++d) run.in_whole += part.begin[d] * strides[d];
  while (true) {
    each(run);
    run.in_part += count;
    std::size_t d = outer;
    for (; d > 0; --d) {
      run.in_whole += strides[d - 1];
      if (++at[d - 1] < part.shape[d - 1]) break;
      run.in_whole -= part.shape[d - 1] * strides[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

Tensor cut(const Tensor& whole, const TensorPart& part) {
  if (part.shape == whole.shape()) return whole;
  Tensor cells(whole.type(), part.shape);
  const std::size_t size = size_of(whole.type());
  std::byte* to = cells.mutable_data();
  for_each_run(whole.shape(), part, [&](const Run& run) {
    std::memcpy(to + static_cast<std::size_t>(run.in_part) * size,
                whole.data() + static_cast<std::size_t>(run.in_whole) * size,
                static_cast<std::size_t>(run.count) * size);
  });
  return cells;
}

void paste(Tensor& whole, const TensorPart& part, const Tensor& cells) {
  const std::size_t size = size_of(whole.type());
  std::byte* to = whole.mutable_data();
  for_each_run(whole.shape(), part, [&](const Run& run) {
    std::memcpy(to + static_cast<std::size_t>(run.in_whole) * size,
                cells.data() + static_cast<std::size_t>(run.in_part) * size,
                static_cast<std::size_t>(run.count) * size);
  });
}

}  // namespace tap
