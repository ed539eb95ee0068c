#include "compiler/frontend/cells/index_choices.h"

#include <algorithm>
#include <set>

#include "compiler/frontend/elaborate/sizes.h"

namespace tap {
namespace {

// One branch of a choice: if `condition` holds, the index is `index`. The last branch has no condition.
struct Branch {
  std::string condition, index;
};

class ChoiceBranches {
 public:
  ChoiceBranches(Elaboration& elaboration, IndexSpace& space, const Env& env)
      : elaboration_(elaboration), space_(space), env_(env) {}

  // Empty if it is not a choice between affine indices.
  std::vector<Branch> of(ast::ExprId index) {
    const auto& node = env_[index].node;
    if (auto* choice = std::get_if<ast::If>(&node)) {
      if (!affine({choice->then_value, choice->else_value})) return {};
      return {{text(choice->condition), text(choice->then_value)}, {"", text(choice->else_value)}};
    }
    auto* call = std::get_if<ast::Call>(&node);
    return call && call->callee.size() == 1 && !call->has_params ? of_call(*call) : std::vector<Branch>();
  }

 private:
  std::vector<Branch> of_call(const ast::Call& call) {
    std::vector<ast::ExprId> args;
    for (const auto& arg : call.args) args.push_back(arg.value);
    const std::string& name = call.callee[0].text;
    if (name == "abs" && args.size() == 1 && affine(args))
      return {{text(args[0]) + " < 0", "-(" + text(args[0]) + ")"}, {"", text(args[0])}};
    if ((name == "clamp" || name == "clip") && args.size() == 3) return between(args[0], args[1], args[2]);
    if ((name != "min" && name != "max") || args.size() != 2) return {};
    if (auto branches = of_both(name, args[0], args[1]); !branches.empty()) return branches;
    if (!affine(args)) return {};
    if (is_constant(args[0])) std::swap(args[0], args[1]);
    return {{text(args[0]) + (name == "max" ? " < " : " > ") + text(args[1]), text(args[1])}, {"", text(args[0])}};
  }

  // min(max(i, lo), hi), in either order.
  std::vector<Branch> of_both(const std::string& name, ast::ExprId a, ast::ExprId b) {
    for (auto [outer, inner] : {std::pair(a, b), std::pair(b, a)}) {
      auto* call = std::get_if<ast::Call>(&env_[inner].node);
      if (!call || call->callee.size() != 1 || call->args.size() != 2) continue;
      if (call->callee[0].text != (name == "min" ? "max" : "min")) continue;
      ast::ExprId index = call->args[0].value, bound = call->args[1].value;
      if (affine({index}) && is_constant(index)) std::swap(index, bound);
      return name == "min" ? between(index, bound, outer) : between(index, outer, bound);
    }
    return {};
  }

  std::vector<Branch> between(ast::ExprId index, ast::ExprId lo, ast::ExprId hi) {
    if (!affine({index, lo, hi})) return {};
    return {{text(index) + " < " + text(lo), text(lo)}, {text(index) + " > " + text(hi), text(hi)}, {"", text(index)}};
  }

  bool affine(const std::vector<ast::ExprId>& ids) {
    for (ast::ExprId id : ids)
      if (!std::holds_alternative<VarAffine>(space_.value_of(env_, id))) return false;
    return true;
  }
  bool is_constant(ast::ExprId id) { return std::get<VarAffine>(space_.value_of(env_, id)).is_constant(); }

  std::string text(ast::ExprId id) const { return std::string(elaboration_.sources.text(env_[id].span)); }

  Elaboration& elaboration_;
  IndexSpace& space_;
  const Env& env_;
};

// The index variables of an expression, each once: i, j and ks.. of `i * j + (ks..)`.
class IndexVariables {
 public:
  std::vector<std::string> found;

  void collect(const Env& env, ast::ExprId id) {
    if (!seen_.emplace(id.index(), &env).second) return;
    const auto& node = env[id].node;
    if (auto* name = std::get_if<ast::NameRef>(&node)) {
      if (env.find_as<VarEntity>(name->name)) add(name->name);
      if (auto* thunk = env.find_as<ThunkEntity>(name->name)) collect(*thunk->env, thunk->expr);
    }
    if (auto* pack = std::get_if<ast::PackRef>(&node)) add(pack->name + "..");
    if (auto* linear = std::get_if<ast::LinearIndex>(&node)) add(linear->pack + "..");
    if (auto* unary = std::get_if<ast::Unary>(&node)) collect(env, unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node)) collect_all(env, {binary->left, binary->right});
    if (auto* choice = std::get_if<ast::If>(&node))
      collect_all(env, {choice->condition, choice->then_value, choice->else_value});
    if (auto* index = std::get_if<ast::Index>(&node)) collect_all(env, index->indices);
    if (auto* call = std::get_if<ast::Call>(&node))
      for (const auto& arg : call->args) collect(env, arg.value);
    if (auto* let = std::get_if<ast::Let>(&node)) {
      for (const auto& binding : let->bindings) collect(env, binding.value);
      collect(env, let->body);
    }
  }

 private:
  void collect_all(const Env& env, const std::vector<ast::ExprId>& ids) {
    for (ast::ExprId id : ids) collect(env, id);
  }
  void add(const std::string& name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }

  std::set<std::pair<std::size_t, const Env*>> seen_;  // `let a = i + i, b = a + a, …` would double at every link
};

}  // namespace

Diagnostic not_affine(Elaboration& elaboration, IndexSpace& space, const Env& env, ast::ExprId read, ast::ExprId index,
                      const NotAffine& why) {
  Diagnostic d(Code::not_affine, why.span, why.message);
  Span whole = env[read].span, part = env[index].span;
  std::vector<Branch> branches = why.span == part ? ChoiceBranches(elaboration, space, env).of(index)
                                                  : std::vector<Branch>();
  if (branches.empty()) {
    if (!why.help.empty()) return d.help(why.help);
    IndexVariables variables;
    variables.collect(env, index);
    std::string at = env.find("at") ? "position[" : "at[";
    for (const std::string& name : variables.found) at += (name == variables.found.front() ? "" : ", ") + name;
    std::string cell(elaboration.sources.text(whole));
    cell.replace(part.begin - whole.begin, part.end - part.begin, at + "]");
    d.help("store the position in a tensor, " + quoted(at + "] = …") + ", and read " + quoted(cell));
    return d;
  }
  std::string text(elaboration.sources.text(whole)), fix_text;
  for (const Branch& branch : branches) {
    std::string cell = text;
    cell.replace(part.begin - whole.begin, part.end - part.begin, branch.index);
    fix_text += branch.condition.empty() ? cell : "if " + branch.condition + " then " + cell + " else ";
  }
  d.help("choose between reads, each with an affine index: " + quoted(fix_text)).fix(whole, "(" + fix_text + ")");
  return d;
}

}  // namespace tap
