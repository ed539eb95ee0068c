// The value of a float parameter: its f64, and the integer that was written, which may not be exact in f64.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

FloatValue eval_float(Elaboration& elaboration, const Env& env, ast::ExprId expr);

// Where a float is expected: refused if that would round an integer.
double as_float(Elaboration& elaboration, const FloatEntity& parameter);
// Where an integer or bool is expected: the number itself if the type holds it. If not, refused where a generic type was
// written, at `use`, since the operator's author cannot have meant to truncate there; nothing where the type was named, as in
// `i32(a)`, and for infinities, which saturate.
std::optional<std::int64_t> as_integer(Elaboration& elaboration, const FloatEntity& parameter, const std::string& name,
                                       ElementType type, Span use);

// Parameters with equal keys are equal.
std::string key_of(const FloatValue& value);

}  // namespace tap
