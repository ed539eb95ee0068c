// One linalg.generic: its operands with their maps, and the lines of its body.
#pragma once

#include <functional>

#include "backend/mlir/accesses.h"

namespace tap::backend::mlir {

struct GenericTensor {
  std::string value;
  ElementType type = ElementType::f32;
  Shape shape = {};
  std::vector<Row> rows = {};
  std::string hint = {};  // what its cell is called in the body
};

struct Generic {
  std::vector<std::int64_t> loops;  // their sizes
  std::vector<bool> reduced;        // likewise
  std::vector<GenericTensor> ins = {}, outs = {};
  std::vector<bool> indices = {};  // whose linalg.index the body needs
};

// What the body sees: a cell of each operand and of each result so far, and the numbers of loops that it needs.
struct GenericBody {
  std::vector<std::string> ins, outs, indices;
};
// Gives back what is yielded, a value for each of `outs`.
using BodyWriter = std::function<std::vector<std::string>(const GenericBody&)>;

// The results' names. A loop that stands alone in no map is given a tensor that has only its size.
std::vector<std::string> write_generic(Text& text, Generic generic, const BodyWriter& body);

// tensor<…> of whatever it holds; or full of one number.
std::string empty_tensor(Text& text, ElementType type, const Shape& shape);
std::string filled_tensor(Text& text, const std::string& value, ElementType type, const Shape& shape);

}  // namespace tap::backend::mlir
