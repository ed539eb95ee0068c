// Random types for the variables of a rewrite's pattern that satisfy the signatures of its operators.
//
//   linear(x, w, b)    with  linear(x: T[batch.., in], w: T[in, out], b: T[out])
//   gives for example  x: f64[4, 2], w: f64[2, 3], b: f64[3]
#pragma once

#include <map>
#include <random>

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

struct GuardValue {
  bool holds = true;
  std::string text;                 // `matmul.in > 4096` is false: `matmul.in` is 64
  std::string sizes;                // `matmul.in` is 64; empty if it names no dims
  std::optional<Diagnostic> fault;  // it has no value here, for example because of an overflow, and does not hold
};

class RuleTypes {
 public:
  // `rule_scope`: module and scope of the rule. The same attempt gives the same types; the first ones are the simplest.
  RuleTypes(Elaboration& elaboration, const Env& rule_scope, const ast::RewriteDecl& rule, unsigned attempt);

  // Types of all variables, by name. Throws Abandoned if this attempt fits no operator; its diagnostics are not for the
  // user.
  std::map<std::string, ir::TensorType> choose();
  // Sets the variables' types instead of choosing them. Throws Abandoned if they do not fit.
  void take(std::map<std::string, ir::TensorType> types);
  // The rule's guard at these types. After choose() or take().
  GuardValue guard();

 private:
  std::optional<ir::TensorType> type_of(ast::ExprId id);
  std::optional<ir::TensorType> of_builtin(const ast::Call& call);
  std::optional<ir::TensorType> of_operator(const ast::Call& call);
  ir::TensorType type_for(Env& callee, const ast::TensorParam& input);
  void take(ast::ExprId argument, const ir::TensorType& type);
  std::int64_t size_for(const std::string& dim);
  std::size_t choose_rank();

  Elaboration& elaboration_;
  const Env& rule_scope_;
  const ast::RewriteDecl& rule_;
  unsigned attempt_;
  std::mt19937_64 random_;
  std::int64_t next_size_ = 2;
  std::map<std::string, ir::TensorType> variables_;
  Env guard_env_;                                                 // matmul.in, by that name
  std::map<std::string, std::vector<std::int64_t>> guard_sizes_;  // by dim: the numbers that the guard compares it with
};

}  // namespace tap
