// Binds a call to an operator's signature: infers parameters, generics, dims and packs from the arguments.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// The common parts of an op and an outside kernel.
struct Signature {
  const ast::Name& name;
  const std::vector<ast::Param>& params;
  const std::vector<ast::TensorParam>& inputs;
  const std::vector<ast::TensorParam>& results;
  const std::vector<ast::WhereClause>& where;
};
Signature signature_of(const Definition& definition);

struct TypedArgument {
  ir::TensorType type;
  Span span;
  bool cell = false;  // of an operator that is applied to cells
};

// Checks that parameters have distinct names and known kinds.
void check_params(Elaboration& elaboration, const Signature& signature);
// Evaluates the <…> parameters of a call in the caller's scope and binds them in the callee.
void bind_params(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                 const std::vector<ast::ParamArg>& given, Span call_span);
// The element type of an input: its first tensor binds a generic; all others must agree.
void bind_element(Elaboration& elaboration, Env& callee, const Signature& signature, const ast::TensorParam& input,
                  const TypedArgument& given);

// Unifies types with shapes: binds their dims and packs in `env`. Each given shape is matched with one type; the
// conditions decide what the shapes alone do not.
struct ShapeEquation {
  const ast::TypeExpr* type;
  Shape shape;
  std::string what;   // argument `x`
  Span span;          // the source of the shape
  bool data = false;  // the shape is that of given data, not of an expression: a mismatch is a fault of the data
  bool cell = false;  // a cell, not a tensor
};
void unify_shapes(Elaboration& elaboration, Env& env, std::vector<ShapeEquation> equations,
                  const std::vector<ast::WhereClause>& where, const std::string& callee, Span call_span);

// The callee's environment with everything bound; else a diagnostic and Abandoned.
void bind_signature(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                    const std::vector<ast::ParamArg>& params, const std::vector<TypedArgument>& given, Span call_span);

// What a call binds, as text: equal for equal parameters, types and shapes.
std::string binding_key(const Env& callee, const Signature& signature, const std::vector<TypedArgument>& given);

}  // namespace tap
