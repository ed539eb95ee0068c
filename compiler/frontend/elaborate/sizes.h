// Sizes: integer expressions over dims, parameters and packs; the shapes of types; conditions of a `where`.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

struct Unbound {  // the expression needs this dim, which has no size yet
  std::string name;
  Span span;
};

// The value of a size expression; floor division by a positive divisor only. Reports and throws Abandoned on an error.
std::int64_t eval_size(Elaboration& elaboration, const Env& env, ast::ExprId expr);
// The same, but a name without a size is an answer.
std::variant<std::int64_t, Unbound> try_size(Elaboration& elaboration, const Env& env, ast::ExprId expr);
// The bool value of a parameter's argument or default.
bool eval_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr);
std::variant<bool, Unbound> try_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr);

// A range that was written: its points can be counted.
ir::Range countable(Elaboration& elaboration, ir::Range range, Span span);

// An element type by name: built in, or a bound generic.
ElementType eval_type(Elaboration& elaboration, const Env& env, const ast::Name& name);
std::optional<ElementType> try_type(const Env& env, const std::string& name);

struct ShapeAndPattern {
  Shape shape;
  std::vector<PatternItem> pattern;
};
// The shape that a type says, all its names bound. Sizes are checked to be non-negative.
ShapeAndPattern eval_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type);
std::variant<ShapeAndPattern, Unbound> try_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type);

// The source text of an expression, shortened, for messages.
std::string source_of(const Elaboration& elaboration, Span span);

}  // namespace tap
