// A box of a tensor, as a tensor of its own: what one process of several holds of an input or a result.
#pragma once

#include <cstdint>
#include <functional>

#include "support/tensor.h"

namespace tap {

struct TensorPart {
  Shape begin, shape;
};
TensorPart whole_part(const Shape& shape);
TensorPart first_cell(const Shape& shape);  // empty in an empty tensor

// Elements that follow one another both in the part and in the whole tensor: their positions there, and how many.
struct Run {
  std::int64_t in_part = 0, in_whole = 0, count = 0;
};
// Calls `each` for every run, in order. Pre: the part is inside the shape.
void for_each_run(const Shape& whole, const TensorPart& part, const std::function<void(const Run&)>& each);

Tensor cut(const Tensor& whole, const TensorPart& part);                 // the tensor itself if it is all of it
void paste(Tensor& whole, const TensorPart& part, const Tensor& cells);  // writes the cells to the part's place

}  // namespace tap
