#include "tests/oracle/cells.h"

#include <list>

namespace tap::oracle {
namespace {

template <class T>
const T* as(const ast::Module& module, ast::ExprId id) {
  return std::get_if<T>(&module[id].node);
}

Eval always(Value v) {
  return [v](Frame&) { return v; };
}

// The scopes of a `let`, one for each name, since a later name sees those before it.
struct Lets {
  std::list<Names> scopes;
  const Names& inner(const ast::Let& let, const Names& outer) {
    const Names* at = &outer;
    for (const ast::LetBinding& b : let.bindings) {
      scopes.push_back({at});
      scopes.back().own[b.name.text] = {.kind = Entry::deferred, .expr = b.value, .where = at};
      at = &scopes.back();
    }
    return *at;
  }
};

Typed literal(ElementType type, double f, std::int64_t i) {
  if (!is_float(type)) return {type, always(integer(low_bits(i, type)))};
  return {type, always(floating(type == ElementType::f64 ? f : static_cast<double>(static_cast<float>(f))))};
}

}  // namespace

std::optional<ElementType> type_named(const std::string& name, const Names& names) {
  if (const Entry* entry = names.find(name, Entry::type)) return entry->element;
  return element_type_named(name);
}

std::int64_t CellCompiler::number(ast::ExprId id, const Names& names) const {
  Frame none{std::vector<Value>(slots_)};
  return compile(id, names, ElementType::i64).eval(none).i;
}

std::optional<ElementType> CellCompiler::first_natural(const std::vector<ast::ExprId>& ids, const Names& names) const {
  for (ast::ExprId id : ids)
    if (auto type = natural(id, names)) return type;
  return std::nullopt;
}

std::optional<ElementType> CellCompiler::natural(ast::ExprId id, const Names& names) const {
  const auto& node = module_[id].node;
  if (std::holds_alternative<ast::BoolLiteral>(node)) return ElementType::boolean;
  if (auto* n = std::get_if<ast::NameRef>(&node)) {
    const Entry* entry = names.find(n->name);
    if (!entry) throw Fault("unknown name " + n->name);
    return entry->kind == Entry::deferred ? natural(entry->expr, *entry->where) : entry->element;
  }
  if (auto* m = std::get_if<ast::Member>(&node)) return member(*m, names, std::nullopt).type;
  if (auto* x = std::get_if<ast::Index>(&node)) {
    const Entry* entry = names.find(x->base.text);
    if (!entry) throw Fault("unknown tensor " + x->base.text);
    return entry->cells ? entry->cells->type : entry->element;
  }
  if (auto* c = std::get_if<ast::Call>(&node)) return natural_of_call(*c, names);
  if (auto* u = std::get_if<ast::Unary>(&node))
    return u->op == ast::UnaryOp::logical_not ? ElementType::boolean : natural(u->operand, names);
  if (auto* b = std::get_if<ast::Binary>(&node))
    return b->op >= ast::BinaryOp::equal ? ElementType::boolean : first_natural({b->left, b->right}, names);
  if (auto* i = std::get_if<ast::If>(&node)) return first_natural({i->then_value, i->else_value}, names);
  if (auto* l = std::get_if<ast::Let>(&node)) {
    Lets lets;
    return natural(l->body, lets.inner(*l, names));
  }
  if (auto* r = std::get_if<ast::Reduce>(&node)) {
    if (r->monoid.text == "any" || r->monoid.text == "all") return ElementType::boolean;
    if (by_monoid(*r)) return state_types(*r, names, {}).at(0);
    Names inner{&names};
    for (const ast::RangeVar& v : r->vars) inner.own[v.name.text] = {.kind = Entry::variable};
    return natural(r->operands.at(0), inner);
  }
  return std::nullopt;
}

Typed CellCompiler::compile(ast::ExprId id, const Names& names, std::optional<ElementType> expected) const {
  const auto& node = module_[id].node;
  if (auto* n = std::get_if<ast::IntLiteral>(&node)) {
    const auto i = static_cast<std::int64_t>(n->negated ? 0 - n->magnitude : n->magnitude);
    return literal(expected.value_or(ElementType::i64), n->negated ? -0x1p63 : static_cast<double>(n->magnitude), i);
  }
  if (auto* n = std::get_if<ast::FloatLiteral>(&node)) return literal(expected.value_or(ElementType::f64), n->value, 0);
  if (auto* n = std::get_if<ast::BoolLiteral>(&node)) return {ElementType::boolean, always(integer(n->value))};
  if (auto* n = std::get_if<ast::NameRef>(&node)) return name(n->name, names, expected);
  if (auto* n = std::get_if<ast::Member>(&node)) return member(*n, names, expected);
  if (auto* n = std::get_if<ast::Index>(&node)) return read(*n, names);
  if (auto* n = std::get_if<ast::Call>(&node)) return call(*n, names, expected);
  if (auto* n = std::get_if<ast::Binary>(&node)) return binary(*n, names, expected);
  if (auto* n = std::get_if<ast::Unary>(&node)) {
    Typed operand = compile(n->operand, names, expected);
    if (n->op == ast::UnaryOp::logical_not)
      return {operand.type, [e = operand.eval](Frame& f) { return integer(!e(f).i); }};
    return {operand.type, [e = operand.eval, t = operand.type](Frame& f) { return negative(t, e(f)); }};
  }
  if (auto* n = std::get_if<ast::If>(&node)) {
    auto type = first_natural({n->then_value, n->else_value}, names);
    if (!type) type = expected;
    Eval c = compile(n->condition, names, ElementType::boolean).eval;
    Typed a = compile(n->then_value, names, type), b = compile(n->else_value, names, type);
    return {a.type, [c, a = a.eval, b = b.eval](Frame& f) { return c(f).i ? a(f) : b(f); }};
  }
  if (auto* n = std::get_if<ast::Let>(&node)) {
    Lets lets;
    return compile(n->body, lets.inner(*n, names), expected);
  }
  if (auto* n = std::get_if<ast::Reduce>(&node)) {
    if (!by_monoid(*n)) return builtin_reduction(*n, names, expected);
    std::vector<ElementType> own = expected ? std::vector{*expected} : std::vector<ElementType>{};
    own = state_types(*n, names, own);
    return {own.at(0), [reduce = compile_reduction(*n, names, own)](Frame& f) {
              std::vector<Value> state;
              reduce(f, state);
              return state[0];
            }};
  }
  throw Fault("no expression over cells");
}

Typed CellCompiler::name(const std::string& name, const Names& names, std::optional<ElementType> expected) const {
  const Entry* entry = names.find(name);
  if (!entry) throw Fault("unknown name " + name);
  switch (entry->kind) {
    case Entry::variable: return {entry->element, [slot = entry->slot](Frame& f) { return f.slots[slot]; }};
    case Entry::constant: return {entry->element, always(entry->number)};
    case Entry::value: return {entry->element, entry->eval};
    case Entry::deferred: return compile(entry->expr, *entry->where, expected);
    default: throw Fault(name + " is no value");
  }
}

// T.min   a.v
Typed CellCompiler::member(const ast::Member& m, const Names& names, std::optional<ElementType>) const {
  auto* object = as<ast::NameRef>(module_, m.object);
  if (!object) throw Fault("member of an expression");
  if (const Entry* state = names.find(object->name, Entry::state)) {
    for (std::size_t c = 0; c < state->monoid->components.size(); ++c)
      if (state->monoid->components[c].name.text == m.member.text)
        return {state->parts[c], [slot = state->slot + c](Frame& f) { return f.slots[slot]; }};
    throw Fault("no component " + m.member.text);
  }
  auto type = type_named(object->name, names);
  if (!type) throw Fault("no type " + object->name);
  return {*type, always(m.member.text == "min" ? least(*type) : greatest(*type))};
}

Typed CellCompiler::binary(const ast::Binary& b, const Names& names, std::optional<ElementType> expected) const {
  using enum ast::BinaryOp;
  if (b.op == logical_and || b.op == logical_or) {
    Eval left = compile(b.left, names, ElementType::boolean).eval,
         right = compile(b.right, names, ElementType::boolean).eval;
    const bool both = b.op == logical_and;
    return {ElementType::boolean, [=](Frame& f) { return (left(f).i != 0) == both ? right(f) : integer(!both); }};
  }
  auto type = first_natural({b.left, b.right}, names);
  if (!type && b.op < equal) type = expected;
  Typed left = compile(b.left, names, type), right = compile(b.right, names, type);
  if (left.type != right.type) throw Fault("two types in one operation");
  const Op op = static_cast<Op>(static_cast<int>(b.op));  // they stand in one order
  return {b.op >= equal ? ElementType::boolean : left.type,
          [op, t = left.type, l = left.eval, r = right.eval](Frame& f) { return arithmetic(op, t, l(f), r(f)); }};
}

std::vector<Eval> CellCompiler::coordinates(const std::vector<ast::ExprId>& items, const Cells& tensor,
                                            const Names& names) const {
  auto axes = aligned(items, tensor, names);
  if (!axes) throw Fault("a read of another rank");
  std::vector<Eval> result;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (auto* p = pack(items[k])) {
      const Entry* entry = names.find(p->name, Entry::variables);
      if (!entry) throw Fault("no pack " + p->name);
      const std::size_t skipped = entry->slots.size() - (*axes)[k].count;
      for (std::size_t a = 0; a < (*axes)[k].count; ++a) {
        const bool stretched = tensor.shape[(*axes)[k].first + a] == 1;
        const std::size_t slot = entry->slots[skipped + a];
        result.push_back(stretched ? always(integer(0)) : [slot](Frame& f) { return f.slots[slot]; });
      }
    } else if (auto* l = as<ast::LinearIndex>(module_, items[k])) {
      const Entry* entry = names.find(l->pack, Entry::variables);
      if (!entry) throw Fault("no pack " + l->pack);
      result.push_back([slots = entry->slots, extents = entry->numbers](Frame& f) {
        std::int64_t offset = 0;
        for (std::size_t a = 0; a < slots.size(); ++a) offset = offset * extents[a] + f.slots[slots[a]].i;
        return integer(offset);
      });
    } else {
      result.push_back(compile(items[k], names, natural(items[k], names).value_or(ElementType::i64)).eval);
    }
  }
  return result;
}

Typed CellCompiler::read(const ast::Index& index, const Names& names) const {
  const Entry* entry = names.find(index.base.text);
  if (entry && entry->kind == Entry::value) return {entry->element, entry->eval};
  if (!entry || !entry->cells) throw Fault("no tensor " + index.base.text);
  complete(*entry->cells);
  bool by_data = false;
  for (ast::ExprId id : index.indices) reads_below(id, [&](const ast::Index&) { by_data = true; });
  Eval fill = index.fill ? compile(*index.fill, names, entry->cells->type).eval : Eval{};
  return {entry->cells->type, [cells = entry->cells, at = coordinates(index.indices, *entry->cells, names), fill,
                               by_data, name = index.base.text](Frame& f) {
            std::int64_t offset = 0;
            for (std::size_t a = 0; a < at.size(); ++a) {
              const std::int64_t i = at[a](f).i;
              if (i < 0 || i >= cells->shape[a]) {
                if (fill) return fill(f);
                if (f.out_of_range) return Value{};
                if (by_data) throw Stop("an index is out of range");
                throw Fault("a read outside of " + name);
              }
              offset = offset * cells->shape[a] + i;
            }
            return cells->cells[static_cast<std::size_t>(offset)];
          }};
}

Typed CellCompiler::conversion(const ast::Call& call, ElementType to, bool computing, const Names& names) const {
  if (computing && (to == ElementType::f16 || to == ElementType::bf16)) to = ElementType::f32;
  const ast::ExprId id = call.args.at(0).value;
  Typed from = compile(id, names, natural(id, names).value_or(to));
  if (from.type == to) return from;
  return {to, [e = from.eval, a = from.type, to](Frame& f) { return converted(e(f), a, to); }};
}

Typed CellCompiler::call(const ast::Call& call, const Names& names, std::optional<ElementType> expected) const {
  const std::string& first = call.callee[0].text;
  if (call.callee.size() == 2 && call.callee[1].text == "compute")
    return conversion(call, *type_named(first, names), true, names);
  if (call.callee.size() == 1) {
    if (auto type = type_named(first, names)) return conversion(call, *type, false, names);
    if (first == "rank" || first == "size") {
      const auto* of = as<ast::NameRef>(module_, call.args.at(0).value);
      const auto* packed = pack(call.args.at(0).value);
      const Entry* sizes = names.find(of ? of->name : packed ? packed->name : "", Entry::sizes);
      if (!sizes) throw Fault("rank or size of no pack");
      std::int64_t n = first == "rank" ? static_cast<std::int64_t>(sizes->numbers.size())
                                       : element_count(sizes->numbers);
      return {ElementType::i64, always(integer(n))};
    }
    if (function_named(first)) return function(call, names, expected);
  }
  return operator_on_cells(call, names, expected);
}

Typed CellCompiler::function(const ast::Call& call, const Names& names, std::optional<ElementType> expected) const {
  const FunctionInfo& info = *function_named(call.callee[0].text);
  std::vector<ast::ExprId> ids;
  for (const ast::Arg& a : call.args) ids.push_back(a.value);
  auto type = first_natural(ids, names);
  if (!type && !info.returns_bool) type = expected;
  Typed a = compile(ids.at(0), names, type);
  Typed b = info.arguments == 2 ? compile(ids.at(1), names, type) : a;
  if (a.type != b.type) throw Fault("two types in one call");
  return {info.returns_bool ? ElementType::boolean : a.type,
          [of = info.call, t = a.type, a = a.eval, b = b.eval, two = info.arguments == 2](Frame& f) {
            const Value first = a(f);
            return of(t, first, two ? b(f) : first);
          }};
}

std::optional<ElementType> CellCompiler::natural_of_call(const ast::Call& call, const Names& names) const {
  const std::string& first = call.callee[0].text;
  if (call.callee.size() == 2 && call.callee[1].text == "compute") {
    auto type = type_named(first, names);
    return type == ElementType::f16 || type == ElementType::bf16 ? ElementType::f32 : type;
  }
  if (call.callee.size() == 1) {
    if (auto type = type_named(first, names)) return type;
    if (first == "rank" || first == "size") return ElementType::i64;
    if (auto* info = function_named(first)) {
      std::vector<ast::ExprId> ids;
      for (const ast::Arg& a : call.args) ids.push_back(a.value);
      return info->returns_bool ? ElementType::boolean : first_natural(ids, names);
    }
  }
  auto [op, at] = library_.find<ast::OpDecl>(call.callee.back().text);
  if (!op) throw Fault("no operator " + call.callee.back().text);
  const std::string& result = op->results.at(0).type.element.text;
  if (auto type = element_type_named(result)) return type;
  for (std::size_t k = 0; k < op->inputs.size(); ++k)
    if (op->inputs[k].type.element.text == result)
      if (auto type = natural(call.args.at(k).value, names)) return type;
  return std::nullopt;
}

// As if its equations stood here: nothing is rounded where it begins and ends.
Typed CellCompiler::operator_on_cells(const ast::Call& call, const Names& names,
                                      std::optional<ElementType> expected) const {
  auto [op, at] = library_.find<ast::OpDecl>(call.callee.back().text);
  if (!op) throw Fault("no operator " + call.callee.back().text);
  std::vector<Argument> arguments;
  for (const ast::Arg& a : call.args) {
    auto type = natural(a.value, names);
    arguments.push_back({type.value_or(ElementType::f64), {}, type.has_value()});
  }
  Names inner = bound(*at, *op, call, arguments, library_, names, expected);
  for (std::size_t k = 0; k < op->inputs.size(); ++k) {
    Typed argument = compile(call.args[k].value, names, type_named(op->inputs[k].type.element.text, inner));
    inner.own[op->inputs[k].name.text] = {.kind = Entry::value, .element = argument.type, .eval = argument.eval};
  }
  CellCompiler body(*at, slots_);
  for (const ast::Statement& s : op->body) {
    auto* equation = std::get_if<ast::Equation>(&s.node);
    if (!equation || equation->left.size() != 1) throw Fault("an operator on cells that is no equation");
    for (ast::ExprId id : equation->left[0].indices)
      if (auto* p = body.pack(id)) inner.own[p->name] = {.kind = Entry::variables};
    const std::string& left = equation->left[0].base.text;
    std::optional<ElementType> type = body.natural(equation->right, inner);
    for (const ast::TensorParam& r : op->results)
      if (r.name.text == left) type = type_named(r.type.element.text, inner);
    Typed value = body.compile(equation->right, inner, type);
    inner.own[left] = {.kind = Entry::value, .element = value.type, .eval = value.eval};
  }
  const Entry& result = inner.own.at(op->results.at(0).name.text);
  return {result.element, result.eval};
}

}  // namespace tap::oracle
