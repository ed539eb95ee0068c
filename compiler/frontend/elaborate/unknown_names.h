// Messages about names that are undefined, or have the wrong kind for their context.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/elaborate/signature.h"

namespace tap {

// The defined names in a scope, sorted, for did-you-mean.
std::vector<std::string> names_in(const Env& env, bool tensors_only = false);

// An entity in the user's terms: a dim, an index variable, a tensor f32[2].
std::string description(const Entity& entity);

// `name` is not defined. Did you mean …?
Diagnostic undefined(const Env& env, const std::string& name, Span span);
// The same if a tensor is needed: `n` is a dim, not a tensor.
Diagnostic not_a_tensor(const Env& env, const std::string& name, Span span);

// `math.pi` where a value is needed; `text` is the source.
Diagnostic not_a_member(const Env& env, const std::string& text, const ast::Member& member, Span span);

// Help for an unknown operator or monoid: `use std` if the standard library has it, else the nearest name.
void offer_definition(Elaboration& elaboration, const Env& env, Sort sort, const ast::Name& name, Diagnostic& d);

// Help for `x.sum()` and `jnp.exp(x)`: tensors have no methods, and built-in functions belong to no module. False:
// neither.
bool offer_plain_call(Elaboration& elaboration, const Env& env, const ast::Call& call, Span span, Diagnostic& d);

// Help for more arguments than declared inputs: some are meant as parameters, `sum_axis(x, 0)`.
void offer_parameters(const Elaboration& elaboration, const Env& env, const Signature& signature, const ast::Call& call,
                      Span span, Diagnostic& d);

}  // namespace tap
