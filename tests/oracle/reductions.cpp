// Reductions of cells, by the built-in monoids and by those of the text: in increasing index, the last variable fastest.
#include <list>

#include "tests/oracle/cells.h"

namespace tap::oracle {
namespace {

Value neutral(const std::string& monoid, ElementType type) {
  if (monoid == "max") return least(type);
  if (monoid == "min") return greatest(type);
  const bool one = monoid == "prod" || monoid == "all";
  return is_float(type) ? floating(one) : integer(one);
}

Value combined(const std::string& monoid, ElementType type, Value a, Value b) {
  if (monoid == "max") return maximum(type, a, b);
  if (monoid == "min") return minimum(type, a, b);
  if (monoid == "any") return integer(a.i | b.i);
  if (monoid == "all") return integer(a.i & b.i);
  return arithmetic(monoid == "sum" ? Op::add : Op::mul, type, a, b);
}

}  // namespace

void for_each_point(const std::vector<Variable>& variables, Frame& frame, const std::function<void()>& visit) {
  std::function<void(std::size_t)> walk = [&](std::size_t k) {
    if (k == variables.size()) return visit();
    const Variable& v = variables[k];
    const std::int64_t high = v.high(frame).i;
    for (std::int64_t i = v.low(frame).i; i < high; ++i) {
      frame.slots[v.slot] = integer(i);
      walk(k + 1);
    }
  };
  walk(0);
}

Typed CellCompiler::builtin_reduction(const ast::Reduce& reduce, const Names& names,
                                      std::optional<ElementType> expected) const {
  const std::string& monoid = reduce.monoid.text;
  Names inner{&names};
  auto variables = bind(reduce.vars, reduce.operands, inner);
  Typed of = compile(reduce.operands.at(0), inner, expected);
  return {of.type, [variables, of, monoid](Frame& f) {
            Value sum = neutral(monoid, of.type);
            for_each_point(variables, f, [&] { sum = combined(monoid, of.type, sum, of.eval(f)); });
            return sum;
          }};
}

bool CellCompiler::by_monoid(const ast::Reduce& reduce) const {
  for (const char* built_in : {"sum", "prod", "max", "min", "any", "all"})
    if (reduce.monoid.text == built_in) return false;
  return true;
}

std::vector<ElementType> CellCompiler::state_types(const ast::Reduce& reduce, const Names& names,
                                                   const std::vector<ElementType>& expected) const {
  const ast::MonoidDecl* monoid = library_.find<ast::MonoidDecl>(reduce.monoid.text).first;
  if (!monoid) throw Fault("no monoid " + reduce.monoid.text);
  Names inner{&names};
  for (const ast::RangeVar& v : reduce.vars) inner.own[v.name.text] = {.kind = Entry::variable};
  std::map<std::string, ElementType> generics;
  auto note = [&](std::size_t c, std::optional<ElementType> type) {
    const std::string& name = monoid->components[c].type.text;
    if (type && !element_type_named(name)) generics.emplace(name, *type);
  };
  for (std::size_t c = 0; c < reduce.operands.size(); ++c) note(c, natural(reduce.operands[c], inner));
  for (std::size_t c = 0; c < expected.size(); ++c) note(c, expected[c]);
  std::vector<ElementType> types;
  for (const ast::MonoidComponent& c : monoid->components) {
    auto built_in = element_type_named(c.type.text);
    types.push_back(built_in ? *built_in : generics.at(c.type.text));
  }
  return types;
}

CellCompiler::StateEval CellCompiler::compile_reduction(const ast::Reduce& reduce, const Names& names,
                                                        const std::vector<ElementType>& expected) const {
  auto [monoid, at] = library_.find<ast::MonoidDecl>(reduce.monoid.text);
  const std::vector<ElementType> types = state_types(reduce, names, expected);
  Names inner{&names}, alone;
  auto variables = bind(reduce.vars, reduce.operands, inner);
  std::vector<Eval> operands;
  for (std::size_t c = 0; c < types.size(); ++c)
    operands.push_back(compile(reduce.operands.at(c), inner, types[c]).eval);
  std::size_t states[2];
  for (std::size_t& s : states) {
    s = slots_;
    slots_ += types.size();
  }
  for (std::size_t c = 0; c < types.size(); ++c)
    if (!element_type_named(monoid->components[c].type.text))
      alone.own[monoid->components[c].type.text] = {.kind = Entry::type, .element = types[c]};
  CellCompiler body(*at, slots_);
  StateEval identity = body.compile_state(monoid->identity, alone, types);
  alone.own[monoid->left.text] = {.kind = Entry::state, .slot = states[0], .monoid = monoid, .parts = types};
  alone.own[monoid->right.text] = {.kind = Entry::state, .slot = states[1], .monoid = monoid, .parts = types};
  StateEval combine = body.compile_state(monoid->combine, alone, types);
  return [=, first = states[0], second = states[1]](Frame& f, std::vector<Value>& out) {
    identity(f, out);
    for_each_point(variables, f, [&] {
      std::vector<Value> element;
      for (const Eval& e : operands) element.push_back(e(f));
      for (std::size_t c = 0; c < out.size(); ++c) f.slots[first + c] = out[c], f.slots[second + c] = element[c];
      combine(f, out);
    });
  };
}

CellCompiler::StateEval CellCompiler::compile_state(ast::ExprId id, const Names& names,
                                                    const std::vector<ElementType>& types) const {
  const auto& node = module_[id].node;
  if (auto* n = std::get_if<ast::NameRef>(&node))
    if (const Entry* state = names.find(n->name, Entry::state))
      return [slot = state->slot, count = types.size()](Frame& f, std::vector<Value>& out) {
        out.assign(f.slots.begin() + static_cast<std::ptrdiff_t>(slot),
                   f.slots.begin() + static_cast<std::ptrdiff_t>(slot + count));
      };
  if (auto* i = std::get_if<ast::If>(&node)) {
    Eval test = compile(i->condition, names, ElementType::boolean).eval;
    StateEval a = compile_state(i->then_value, names, types), b = compile_state(i->else_value, names, types);
    return [=](Frame& f, std::vector<Value>& out) { (test(f).i ? a : b)(f, out); };
  }
  if (auto* let = std::get_if<ast::Let>(&node)) {
    std::list<Names> scopes;
    const Names* at = &names;
    for (const ast::LetBinding& b : let->bindings) {
      scopes.push_back({at});
      scopes.back().own[b.name.text] = {.kind = Entry::deferred, .expr = b.value, .where = at};
      at = &scopes.back();
    }
    return compile_state(let->body, *at, types);
  }
  if (auto* r = std::get_if<ast::Reduce>(&node); r && by_monoid(*r)) return compile_reduction(*r, names, types);
  std::vector<Eval> parts;
  if (auto* tuple = std::get_if<ast::Tuple>(&node)) {
    for (std::size_t c = 0; c < types.size(); ++c) parts.push_back(compile(tuple->items.at(c), names, types[c]).eval);
  } else {
    parts.push_back(compile(id, names, types.at(0)).eval);
  }
  return [parts](Frame& f, std::vector<Value>& out) {
    std::vector<Value> values;
    for (const Eval& part : parts) values.push_back(part(f));
    out = std::move(values);
  };
}

}  // namespace tap::oracle
