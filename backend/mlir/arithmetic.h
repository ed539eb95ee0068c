// One scalar operation in MLIR; operands and result have their computation type (f32 for f16 and bf16).
#pragma once

#include "backend/mlir/text.h"

namespace tap::backend::mlir {

// Adds a line `%hint = operation`; returns the name.
std::string define(Text& text, std::string_view hint, const std::string& operation);
std::string index_constant(Text& text, std::int64_t value);
// i1; `name` is a predicate of arith.cmpi or arith.cmpf.
std::string compare(Text& text, std::string_view name, const std::string& a, const std::string& b,
                    std::string_view type, bool floats);
std::string choose(Text& text, const std::string& condition, const std::string& a, const std::string& b,
                   std::string_view type);
void require(Text& text, const std::string& condition, std::string_view otherwise);

// Strict operations, neither lazy nor leaves; `type` is the operands' type.
std::string arithmetic(Text& text, ir::CellOp op, ElementType type, const std::vector<std::string>& args);
std::string cast(Text& text, ElementType from, ElementType to, const std::string& value);
// Converts between the type of a tensor's cells and their computation type.
std::string widened(Text& text, ElementType type, const std::string& value);
std::string rounded(Text& text, ElementType type, const std::string& value);

}  // namespace tap::backend::mlir
