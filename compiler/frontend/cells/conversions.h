// Suggests a conversion where a value has the wrong type: one that keeps the meaning.
//
//   y: f32[n], x: i32[n]     y[i] = x[i] / 2     f32(x[i]) / 2, for f32(x[i] / 2) would floor first
//   y: i32[n], x: f32[n]     y[i] = x[i]         no i32(x[i]) that silently drops the fraction; round or floor makes it explicit
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

inline bool is_arithmetic(ast::BinaryOp op) {
  return op == ast::BinaryOp::add || op == ast::BinaryOp::sub || op == ast::BinaryOp::mul || op == ast::BinaryOp::div;
}

// Adds the help and its fix to `d`; a number is converted to bool by a comparison.
void offer_conversion(const Elaboration& elaboration, const Env& env, ast::ExprId value, ElementType from,
                      ElementType to, Diagnostic& d, const std::string& how = "convert it");

// Help for a built-in reduction that does not accept its operand's type: `sum` of bool, `any` of numbers. `expected` is
// the expected type of the result.
void offer_for_reduction(const Elaboration& elaboration, const Env& env, const ast::Reduce& reduce,
                         std::optional<ElementType> expected, Diagnostic& d);

}  // namespace tap
