#include "check/terms.h"

#include <algorithm>

#include <bit>
#include <cmath>
#include <limits>

namespace tap::check {

using ir::CellOp;

namespace {

using Affine = std::vector<std::int64_t>;  // coefficients, then the offset

Affine scaled(Affine a, std::int64_t factor) {
  for (std::int64_t& x : a) __builtin_mul_overflow(x, factor, &x);  // which wraps
  return a;
}
Affine sum(Affine a, const Affine& b) {
  for (std::size_t k = 0; k < a.size(); ++k) __builtin_add_overflow(a[k], b[k], &a[k]);
  return a;
}
bool is_number(const Affine& a) {
  return std::all_of(a.begin(), a.end() - 1, [](std::int64_t c) { return c == 0; });
}

// Both orders of the operands give the same bits: all nans are equal, and -0 is less than 0.
bool commutes(CellOp op) {
  static constexpr CellOp commuting[] = {CellOp::add,     CellOp::mul,    CellOp::min,
                                         CellOp::max,     CellOp::equal,  CellOp::not_equal,
                                         CellOp::bitand_, CellOp::bitor_, CellOp::bitxor_};
  return std::find(std::begin(commuting), std::end(commuting), op) != std::end(commuting);
}

}  // namespace

Term Terms::add(Node node) {
  auto [at, fresh] = known_.try_emplace(std::move(node), static_cast<Term>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(at->first);
    parent_.push_back(at->second);
  }
  return at->second;
}

Term Terms::constant(const ir::Scalar& value) {
  if (value.type == ElementType::i64) {
    Affine form(dims_ + 1, 0);
    form.back() = value.i;
    return add({Kind::affine, {}, ElementType::i64, std::move(form), {}});
  }
  double f = std::isnan(value.f) ? std::numeric_limits<double>::quiet_NaN() : value.f;
  return add({Kind::constant, {}, value.type, {value.i, std::bit_cast<std::int64_t>(f)}, {}});
}

Term Terms::affine(const ir::AffineExpr& e) {
  Affine form = e.coefficients;
  form.push_back(e.offset);
  return add({Kind::affine, {}, ElementType::i64, std::move(form), {}});
}

const Affine* Terms::linear_form(Term t) const { return nodes_[t].kind == Kind::affine ? &nodes_[t].data : nullptr; }

std::optional<ir::Scalar> Terms::as_constant(Term t) const {
  const Node& node = nodes_[t];
  if (node.kind == Kind::constant) return ir::Scalar{node.type, node.data[0], std::bit_cast<double>(node.data[1])};
  if (node.kind == Kind::affine && is_number(node.data)) return ir::Scalar::integer(ElementType::i64, node.data.back());
  return std::nullopt;
}

bool Terms::is_rounded(Term t) const {
  const Node& node = nodes_[t];
  if (!is_float(node.type) || node.type == ElementType::f64 || node.kind != Kind::apply) return true;
  // Operations whose results are values of their operands' type.
  static constexpr CellOp keeping[] = {CellOp::neg,   CellOp::abs, CellOp::sign, CellOp::floor, CellOp::ceil,
                                       CellOp::round, CellOp::min, CellOp::max,  CellOp::select};
  if (std::find(std::begin(keeping), std::end(keeping), node.op) == std::end(keeping)) return node.op == CellOp::cast;
  return std::all_of(node.args.begin() + (node.op == CellOp::select), node.args.end(),
                     [this](Term a) { return is_rounded(a); });
}

// -a, a + b, a - b, and a * b where one is a number.
std::optional<Term> Terms::as_linear(CellOp op, const std::vector<Term>& args) {
  std::vector<const Affine*> forms;
  for (Term arg : args) {
    forms.push_back(linear_form(arg));
    if (!forms.back()) return std::nullopt;
  }
  auto made = [&](Affine form) { return add({Kind::affine, {}, ElementType::i64, std::move(form), {}}); };
  switch (op) {
    case CellOp::neg: return made(scaled(*forms[0], -1));
    case CellOp::add: return made(sum(*forms[0], *forms[1]));
    case CellOp::sub: return made(sum(*forms[0], scaled(*forms[1], -1)));
    case CellOp::mul:
      if (is_number(*forms[0])) return made(scaled(*forms[1], forms[0]->back()));
      if (is_number(*forms[1])) return made(scaled(*forms[0], forms[1]->back()));
      return std::nullopt;
    default: return std::nullopt;
  }
}

Term Terms::apply(CellOp op, ElementType type, std::vector<Term> args) {
  if (op == CellOp::cast && nodes_[args[0]].type == type && is_rounded(args[0])) return args[0];
  if (type == ElementType::i64)
    if (auto linear = as_linear(op, args)) return *linear;
  if (commutes(op)) std::sort(args.begin(), args.end());
  return add({Kind::apply, op, type, {}, std::move(args)});
}

Term Terms::find(Term t) const {
  while (parent_[t] != t) t = parent_[t] = parent_[parent_[t]];
  return t;
}

// Repeats until no two terms with equal arguments are left unmerged.
void Terms::close() {
  for (auto [a, b] : unions_) parent_[find(a)] = find(b);
  unions_.clear();
  for (bool more = true; more;) {
    more = false;
    std::map<Node, Term> classes;
    std::map<Term, Term> linear;  // a linear form for each class that has one
    for (Term t = 0; t < nodes_.size(); ++t)
      if (nodes_[t].type == ElementType::i64 && linear_form(t)) linear.try_emplace(find(t), t);
    for (Term t = 0; t < nodes_.size(); ++t) {
      if (nodes_[t].args.empty()) continue;
      Node node = nodes_[t];
      for (Term& arg : node.args) {
        arg = find(arg);
        if (auto form = linear.find(arg); form != linear.end()) arg = form->second;
      }
      // Linear forms are normalised, so they are found there.
      if (node.kind == Kind::apply && node.type == ElementType::i64)
        if (auto sum = as_linear(node.op, node.args); sum && find(*sum) != find(t)) {
          parent_[find(t)] = find(*sum);
          more = true;
          continue;
        }
      for (Term& arg : node.args) arg = find(arg);
      if (node.kind == Kind::apply && commutes(node.op)) std::sort(node.args.begin(), node.args.end());
      Term other = classes.try_emplace(std::move(node), t).first->second;
      if (find(other) == find(t)) continue;
      parent_[find(t)] = find(other);
      more = true;
    }
  }
}

}  // namespace tap::check
