// The value of a float parameter: its f64, and the integer in the source, which may not be exact in f64.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

FloatValue eval_float(Elaboration& elaboration, const Env& env, ast::ExprId expr);

// For a float context: an error if that would round an integer.
double as_float(Elaboration& elaboration, const FloatEntity& parameter);
// For an integer or bool context: the number, if the type can represent it. Otherwise an error at `use` if the operator
// uses a generic type, since its author cannot have intended to truncate; nothing for a named type, as in `i32(a)`, and
// for infinities, which saturate.
std::optional<std::int64_t> as_integer(Elaboration& elaboration, const FloatEntity& parameter, const std::string& name,
                                       ElementType type, Span use);

// Parameters with equal keys are equal.
std::string key_of(const FloatValue& value);

}  // namespace tap
