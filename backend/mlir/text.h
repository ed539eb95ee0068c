// Builds MLIR text: lines, value names, types.
//
//   %H = linalg.generic … -> tensor<8x32xf32>        the value H of the program
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operator.h"

namespace tap::backend::mlir {

class Text {
 public:
  void line(std::string_view text);
  void in() { ++depth_; }
  void out() { --depth_; }
  // %hint, or if that is taken %hint_2, %hint_3, …; characters that a name cannot contain become `_`.
  std::string fresh(std::string_view hint);
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
  std::set<std::string, std::less<>> taken_;
};

// f32, i8 (also for u8: operations determine signedness), i1
std::string_view type_name(ElementType type);
std::string tensor_type(ElementType type, const Shape& shape);  // tensor<8x32xf32>
inline std::string tensor_type(const ir::TensorType& type) { return tensor_type(type.element, type.shape); }
// A constant's exact literal: 1.5, 0x7FC00000, -3, true
std::string literal(const ir::Scalar& value);
std::string symbol(std::string_view name);  // @mlp, in quotes if it is not a plain name
std::string on_one_line(std::string text);  // characters that could end a comment or a string become `_`
std::string list(const std::vector<std::int64_t>& numbers);                                  // [1, 2]
std::string joined(const std::vector<std::string>& parts, std::string_view between = ", ");  // a, b

}  // namespace tap::backend::mlir
