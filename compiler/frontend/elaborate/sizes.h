// Sizes: integer expressions over dims, parameters and packs; the shapes of types; conditions of a `where`.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

struct Unbound {  // the expression needs this dim, which has no size yet
  std::string name;
  Span span;
};

// The value of a size expression; floor division by positive divisors only. Reports and throws Abandoned on an error.
std::int64_t eval_size(Elaboration& elaboration, const Env& env, ast::ExprId expr);
// The same, but returns a name without a size.
std::variant<std::int64_t, Unbound> try_size(Elaboration& elaboration, const Env& env, ast::ExprId expr);
// The bool value of a parameter's argument or default.
bool eval_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr);
std::variant<bool, Unbound> try_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr);

// Checks an explicit range: the number of its points must be representable.
ir::Range countable(Elaboration& elaboration, ir::Range range, Span span);

// An element type by name: built in, or a bound generic.
ElementType eval_type(Elaboration& elaboration, const Env& env, const ast::Name& name);
std::optional<ElementType> try_type(const Env& env, const std::string& name);

struct ShapeAndPattern {
  Shape shape;
  std::vector<PatternItem> pattern;
};
// The shape of a type; all of its names must be bound. Checks that sizes are not negative.
ShapeAndPattern eval_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type);
std::variant<ShapeAndPattern, Unbound> try_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type);

// The source text of an expression, shortened, for messages.
std::string source_of(const Elaboration& elaboration, Span span);

}  // namespace tap
