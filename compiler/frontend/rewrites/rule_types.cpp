#include "compiler/frontend/rewrites/rule_types.h"

#include <algorithm>

#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/trial.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {
namespace {

// The sizes of an attempt: in the first ones all different, in the next ones all equal, then random.
constexpr unsigned distinct_attempts = 3, equal_attempts = 6;
constexpr ElementType types_to_try[] = {ElementType::f64, ElementType::i32, ElementType::f32};
constexpr std::int64_t greatest_guard_size = 1 << 13;
constexpr std::int64_t most_elements = 1 << 16;

void numbers_in(const Env& env, ast::ExprId id, std::vector<std::int64_t>& numbers) {
  const ast::Expr& expr = env[id];
  if (auto* literal = std::get_if<ast::IntLiteral>(&expr.node)) {
    auto n = static_cast<std::int64_t>(std::min<std::uint64_t>(literal->magnitude, greatest_guard_size));
    for (std::int64_t near : {n - 1, n, n + 1})
      if (near >= 0) numbers.push_back(near);
  }
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) numbers_in(env, unary->operand, numbers);
  if (auto* binary = std::get_if<ast::Binary>(&expr.node))
    numbers_in(env, binary->left, numbers), numbers_in(env, binary->right, numbers);
}

void dims_in(const Env& env, ast::ExprId id, std::vector<std::string>& dims) {
  const ast::Expr& expr = env[id];
  if (auto* member = std::get_if<ast::Member>(&expr.node)) dims.push_back(member->member.text);
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) dims_in(env, unary->operand, dims);
  if (auto* binary = std::get_if<ast::Binary>(&expr.node))
    dims_in(env, binary->left, dims), dims_in(env, binary->right, dims);
}

// matmul.in, each once
void members_in(const Env& env, ast::ExprId id, std::vector<std::string>& members) {
  const ast::Expr& expr = env[id];
  if (auto* member = std::get_if<ast::Member>(&expr.node))
    if (auto* object = std::get_if<ast::NameRef>(&env[member->object].node)) {
      std::string name = object->name + "." + member->member.text;
      if (std::find(members.begin(), members.end(), name) == members.end()) members.push_back(name);
    }
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) members_in(env, unary->operand, members);
  if (auto* binary = std::get_if<ast::Binary>(&expr.node))
    members_in(env, binary->left, members), members_in(env, binary->right, members);
}

}  // namespace

RuleTypes::RuleTypes(Elaboration& elaboration, const Env& rule_scope, const ast::RewriteDecl& rule, unsigned attempt)
    : elaboration_(elaboration),
      rule_scope_(rule_scope),
      rule_(rule),
      attempt_(attempt),
      random_(attempt + 1),
      guard_env_(Env::inside(rule_scope)) {
  if (!rule.guard) return;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> dims;
  numbers_in(rule_scope, *rule.guard, numbers);
  dims_in(rule_scope, *rule.guard, dims);
  for (const auto& dim : dims) guard_sizes_[dim] = numbers;
}

std::map<std::string, ir::TensorType> RuleTypes::choose() {
  type_of(rule_.pattern);
  for (const auto& [name, type] : variables_)
    if (element_count(type.shape) > most_elements) throw Abandoned{};
  return variables_;
}

void RuleTypes::take(std::map<std::string, ir::TensorType> types) {
  variables_ = std::move(types);
  type_of(rule_.pattern);
}

GuardValue RuleTypes::guard() {
  GuardValue result;
  if (!rule_.guard) return result;
  result.text = quoted(source_of(elaboration_, rule_scope_[*rule_.guard].span));
  Trial trial(elaboration_);
  try {
    auto holds = try_condition(elaboration_, guard_env_, *rule_.guard);
    auto* decided = std::get_if<bool>(&holds);
    result.holds = decided && *decided;
    result.text += result.holds ? " is true" : " is false";
  } catch (const Abandoned&) {
    result.holds = false;
    result.fault = *trial.error();
    result.text += " cannot be evaluated: " + trial.message();
  }
  std::vector<std::string> members;
  members_in(rule_scope_, *rule_.guard, members);
  for (const std::string& member : members)
    if (auto* dim = guard_env_.find_as<DimEntity>(member))
      result.sizes += (result.sizes.empty() ? "" : ", ") + quoted(member) + " is " + std::to_string(dim->size);
  if (!result.sizes.empty()) result.text += ": " + result.sizes;
  return result;
}

std::int64_t RuleTypes::size_for(const std::string& dim) {
  if (auto guarded = guard_sizes_.find(dim); guarded != guard_sizes_.end() && !guarded->second.empty())
    if (random_() % 3 != 0) return guarded->second[random_() % guarded->second.size()];
  if (attempt_ < distinct_attempts) return next_size_++;
  if (attempt_ < equal_attempts) return 3;
  constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 2, 3, 0};
  return sizes[random_() % std::size(sizes)];
}

std::size_t RuleTypes::choose_rank() { return attempt_ < distinct_attempts ? 1 : random_() % 3; }

// The type of an expression's value; nothing for a literal, or a variable that has no type yet.
std::optional<ir::TensorType> RuleTypes::type_of(ast::ExprId id) {
  const ast::Expr& expr = rule_scope_[id];
  if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    auto known = variables_.find(name->name);
    return known == variables_.end() ? std::nullopt : std::optional(known->second);
  }
  auto* call = std::get_if<ast::Call>(&expr.node);
  if (!call) return std::nullopt;
  bool builtin = call->callee.size() == 1 && builtin_function(call->callee[0].text);
  return builtin ? of_builtin(*call) : of_operator(*call);
}

void RuleTypes::take(ast::ExprId argument, const ir::TensorType& type) {
  if (auto* name = std::get_if<ast::NameRef>(&rule_scope_[argument].node)) variables_.emplace(name->name, type);
}

std::optional<ir::TensorType> RuleTypes::of_builtin(const ast::Call& call) {
  std::optional<ir::TensorType> type;
  for (const auto& arg : call.args)
    if (auto known = type_of(arg.value); known && !type) type = known;
  if (!type) {
    type = ir::TensorType{types_to_try[attempt_ % std::size(types_to_try)], {}};
    for (std::size_t axis = choose_rank(); axis > 0; --axis) type->shape.push_back(size_for(""));
  }
  for (const auto& arg : call.args) take(arg.value, *type);
  return type;
}

std::optional<ir::TensorType> RuleTypes::of_operator(const ast::Call& call) {
  const std::string& name = call.callee.back().text;
  const Definition* definition =
      call.callee.size() == 2
          ? elaboration_.definitions.find_qualified(*rule_scope_.scope, Sort::op, call.callee[0].text, name)
          : elaboration_.definitions.find(*rule_scope_.scope, Sort::op, call.callee.back());
  if (!definition) throw Abandoned{};
  Signature signature = signature_of(*definition);
  Env callee;
  callee.module = definition->module;
  callee.scope = definition->scope;
  bind_params(elaboration_, callee, signature, rule_scope_, call.params, {});
  // Inner calls first: their types restrict the other variables.
  std::vector<std::optional<ir::TensorType>> known;
  for (const auto& arg : call.args) known.push_back(type_of(arg.value));
  std::vector<ShapeEquation> equations;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) continue;
    bind_element(elaboration_, callee, signature, signature.inputs[i], {*known[i], {}});
    equations.push_back({&signature.inputs[i].type, known[i]->shape, signature.inputs[i].name.text, {}});
  }
  unify_shapes(elaboration_, callee, std::move(equations), signature.where, name, {});
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] || !std::holds_alternative<ast::NameRef>(rule_scope_[call.args[i].value].node)) continue;
    if (auto given = type_of(call.args[i].value)) continue;  // the same variable also occurs further left
    take(call.args[i].value, type_for(callee, signature.inputs[i]));
  }
  for (const auto& [dim, entity] : callee.names)
    if (auto* size = std::get_if<DimEntity>(&entity)) guard_env_.names[name + "." + dim] = *size;
  auto element = try_type(callee, signature.results[0].type.element.text);
  auto shape = try_shape(elaboration_, callee, signature.results[0].type);
  auto* result = std::get_if<ShapeAndPattern>(&shape);
  if (!element || !result) return std::nullopt;
  return ir::TensorType{*element, result->shape};
}

// Binds every unbound name in the input's type.
ir::TensorType RuleTypes::type_for(Env& callee, const ast::TensorParam& input) {
  const std::string& element = input.type.element.text;
  if (!try_type(callee, element))
    callee.names[element] = TypeEntity{types_to_try[attempt_ % std::size(types_to_try)], {}};
  for (const auto& item : input.type.dims) {
    if (auto* pack = std::get_if<ast::PackRef>(&callee[item.size].node); pack && !callee.find(pack->name)) {
      Shape sizes;
      for (std::size_t axis = choose_rank(); axis > 0; --axis) sizes.push_back(size_for(pack->name));
      callee.names[pack->name] = PackEntity{std::move(sizes), {}};
    }
    for (int names = 0; !item.pack && names < 8; ++names) {
      auto size = try_size(elaboration_, callee, item.size);
      auto* unbound = std::get_if<Unbound>(&size);
      if (!unbound) break;
      callee.names[unbound->name] = DimEntity{size_for(unbound->name), {}};
    }
  }
  return {*try_type(callee, element), eval_shape(elaboration_, callee, input.type).shape};
}

}  // namespace tap
