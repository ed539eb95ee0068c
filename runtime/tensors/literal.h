// Tensor literals on the command line: `3.5`, `-inf`, `true`, `[[1, 2], [3, 4]]`, `[]`. Parsing does not depend on
// the locale. Integers are kept exact, so that 2^63 - 1 can initialise an integer tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/tensor.h"

namespace tap {

using Number = std::variant<bool, std::int64_t, double>;

struct Literal {
  Shape shape;
  std::vector<Number> elements;  // row-major
  bool operator==(const Literal&) const = default;
};

// All throw Failure, exit 2, in which `spec` is quoted.
Literal parse_literal(std::string_view text, std::string_view spec);
Number parse_number(std::string_view text, std::string_view spec);

// `value` as an element of `tensor`. A whole number may become a float (rounded), never the other way round; 0 and 1
// may become bool.
void store(Tensor& tensor, std::int64_t at, const Number& value, std::string_view spec);

}  // namespace tap
