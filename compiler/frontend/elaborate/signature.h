// Binds a call to an operator's signature: infers parameters, generics, dims and packs from the arguments.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// What an op and an outside kernel have in common.
struct Signature {
  const ast::Name& name;
  const std::vector<ast::Param>& params;
  const std::vector<ast::TensorParam>& inputs;
  const std::vector<ast::TensorParam>& results;
  const std::vector<ast::WhereClause>& where;
};
Signature signature_of(const Definition& definition);

struct GivenTensor {
  ir::TensorType type;
  Span span;
};

// Parameters have names of their own, and kinds that exist.
void check_params(Elaboration& elaboration, const Signature& signature);
// The <…> parameters of a call, evaluated in the caller's scope, become names of the callee.
void bind_params(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                 const std::vector<ast::ParamArg>& given, Span call_span);
// The element type of an input: a generic is bound by its first tensor, all else must agree.
void bind_element(Elaboration& elaboration, Env& callee, const Signature& signature, const ast::TensorParam& input,
                  const GivenTensor& given);

// Unifies types with shapes: binds the dims and packs that occur in them into `env`. Each given shape stands against one
// type; what cannot be decided by the shapes alone is decided by the conditions.
struct ShapeEquation {
  const ast::TypeExpr* type;
  Shape shape;
  std::string what;   // argument `x`
  Span span;          // where the shape comes from
  bool data = false;  // the shape of data that were given, not of an expression: then what does not fit are the data
};
void unify_shapes(Elaboration& elaboration, Env& env, std::vector<ShapeEquation> equations,
                  const std::vector<ast::WhereClause>& where, const std::string& callee, Span call_span);

// The callee's environment with everything bound, or a diagnostic and Abandoned.
void bind_signature(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                    const std::vector<ast::ParamArg>& params, const std::vector<GivenTensor>& given, Span call_span);

// What a call binds of its operator, as text: equal for equal parameters, types and shapes.
std::string binding_key(const Env& callee, const Signature& signature, const std::vector<GivenTensor>& given);

}  // namespace tap
