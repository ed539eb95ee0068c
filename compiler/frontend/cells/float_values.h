// What a parameter of kind float is: its f64, and the whole number that was written, which may be no f64.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

FloatValue eval_float(Elaboration& elaboration, const Env& env, ast::ExprId expr);

// Where a float is wanted: refused if that would round a whole number.
double as_float(Elaboration& elaboration, const FloatEntity& parameter);
// Where an integer or bool is wanted: the number itself if the type holds it. If not, refused where a generic type was
// written, at `use`, since the operator's author cannot have meant to truncate there; nothing where the type was named, as in
// `i32(a)`, and for infinities, which saturate.
std::optional<std::int64_t> as_integer(Elaboration& elaboration, const FloatEntity& parameter, const std::string& name,
                                       ElementType type, Span use);

// Parameters with equal keys are equal.
std::string key_of(const FloatValue& value);

}  // namespace tap
