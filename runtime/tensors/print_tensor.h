// Prints tensors in the form that `-i` reads:
//
//   [[1.0, -0.5, 3.25],
//    [2.0,  inf,  nan]]
//
// A float is the shortest text that reads back as the same value of its type, in every locale. Only the edges of a
// large tensor are shown, with `...` between.
#pragma once

#include <cstdint>
#include <string>

#include "support/tensor.h"

namespace tap {

struct PrintOptions {
  std::int64_t most_elements = 1000;  // above, each dim shows its first and last `edge` elements
  std::int64_t edge = 3;
};

std::string print_tensor(const Tensor& tensor, const PrintOptions& options = {});

// One element: `-1.5`, `1e+20`, `nan`, `42`, `true`.
std::string print_element(const Tensor& tensor, std::int64_t at);
std::string shortest(double value, ElementType type);

}  // namespace tap
