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
  std::string hint = {};  // name of its cell in the body
};

struct Generic {
  std::vector<std::int64_t> loops;  // their sizes
  std::vector<bool> reduced;        // by loop: it is reduced
  std::vector<GenericTensor> ins = {}, outs = {};
  std::vector<bool> indices = {};  // by loop: the body uses its linalg.index
};

// The arguments of the body: a cell of each operand, the current cell of each result, and the loop indices that it
// uses.
struct GenericBody {
  std::vector<std::string> ins, outs, indices;
};
// Returns the yielded values, one for each of `outs`.
using BodyWriter = std::function<std::vector<std::string>(const GenericBody&)>;

// Returns the results' names. For a loop that is not a single result of any map, adds a tensor operand that only gives
// its size.
std::vector<std::string> write_generic(Text& text, Generic generic, const BodyWriter& body);

// tensor<…> with undefined contents; or filled with one number.
std::string empty_tensor(Text& text, ElementType type, const Shape& shape);
std::string filled_tensor(Text& text, const std::string& value, ElementType type, const Shape& shape);

}  // namespace tap::backend::mlir
