#include "passes/simplify/cell_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/affine_cell.h"
#include "ir/interpret/interpret_number.h"
#include "passes/simplify/cell_facts.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

// As a constant, unless it would have to be rounded: the value within an expression would then differ.
std::optional<Scalar> as_scalar(oracle::Number n, ElementType type) {
  if (!is_float(type)) return Scalar{type, n.i, 0};
  Scalar rounded = Scalar::floating(type, n.f);
  bool same = std::isnan(n.f) || std::bit_cast<std::uint64_t>(rounded.f) == std::bit_cast<std::uint64_t>(n.f);
  return same ? std::optional(rounded) : std::nullopt;
}

}  // namespace

// 2 + 3 → 5
std::optional<CellValue> folded(CellExprs& exprs, CellId cell) {
  const CellNode& node = exprs[cell];
  if (!is_strict(node.op)) return std::nullopt;
  std::vector<oracle::Number> args;
  for (CellId arg : node.args) {
    if (exprs[arg].op != CellOp::constant) return std::nullopt;
    args.push_back(oracle::number_of(exprs[arg].value));
  }
  args.resize(2, oracle::integer(0));
  ElementType from = exprs[node.args[0]].type;
  try {
    oracle::Number result = node.op == CellOp::cast ? oracle::apply_cast(from, node.type, args[0])
                            : is_float(from)        ? oracle::apply_float(node.op, args[0], args[1])
                                                    : oracle::apply_integer(node.op, from, args[0], args[1]);
    auto scalar = as_scalar(result, node.type);
    if (!scalar) return std::nullopt;
    CellId value = exprs.constant(*scalar);
    return CellValue{"a = b [arithmetic]", {cell, value}, value};
  } catch (const oracle::CellFailure&) { return std::nullopt; }  // it fails at run time, if it is reached
}

namespace {

// Whether `to` contains every value of `from`, so that converting back is exact.
bool holds_all(ElementType to, ElementType from) {
  if (is_bool(from)) return true;
  if (is_bool(to)) return false;
  if (is_float(from)) return is_float(to) && (to == ElementType::f64 || (to == ElementType::f32 && size_of(from) == 2));
  int bits = static_cast<int>(8 * size_of(from)) - (info(from).is_signed ? 1 : 0);
  if (is_float(to)) return bits <= info(to).mantissa_bits;
  return least_integer(to) <= least_integer(from) && greatest_integer(from) <= greatest_integer(to);
}

}  // namespace

std::optional<CellValue> without_cast(const CellExprs& exprs, CellId cell) {
  const CellNode& node = exprs[cell];
  if (node.op != CellOp::cast) return std::nullopt;
  CellId a = node.args[0];
  // T(a) → a, of that type
  if (exprs[a].type == node.type && is_rounded(exprs, a)) return CellValue{"T(a) = a [exact]", {a}, a};
  // T(U(a)) → a, of type T whose values U has
  if (exprs[a].op != CellOp::cast) return std::nullopt;
  CellId inner = exprs[a].args[0];
  if (exprs[inner].type != node.type || !holds_all(exprs[a].type, node.type) || !is_rounded(exprs, inner))
    return std::nullopt;
  return CellValue{"T(U(a)) = a [exact]", {inner}, inner};
}

// (i + 1) - 1 → i
std::optional<CellValue> affine_form(Operator& op, CellId cell) {
  const CellNode& node = op.exprs[cell];
  if (node.type != ElementType::i64 || node.args.empty()) return std::nullopt;
  auto affine = as_affine(op, cell);
  if (!affine) return std::nullopt;
  std::size_t before = reachable_from(op.exprs, {cell}).size();
  CellId form = affine_cell(op.exprs, *affine);
  if (reachable_from(op.exprs, {form}).size() >= before) return std::nullopt;
  return CellValue{"a = b [affine]", {cell, form}, form};
}

namespace {

bool holds_in(const Range& values, Comparison comparison) {
  return comparison == Comparison::at_least_zero ? values.lo >= 0 : values == Range{0, 1};
}

// At every point of the domain: by the ranges alone, or by a stronger constraint of the domain.
bool always_holds(const Operator& op, const Constraint& required) {
  Box box = op.box();
  if (box.empty()) return false;
  try {
    if (holds_in(required.expr.bounds(box), required.comparison)) return true;
    for (const Constraint& known : op.constraints) {
      if (known == required) return true;
      if (required.comparison == Comparison::equal_zero) continue;
      if ((required.expr - known.expr).bounds(box).lo >= 0) return true;
      if (known.comparison == Comparison::equal_zero && (required.expr + known.expr).bounds(box).lo >= 0) return true;
    }
  } catch (const Overflow&) {}
  return false;
}

bool all_hold(const Operator& op, const std::optional<std::vector<Constraint>>& required) {
  return required &&
         std::all_of(required->begin(), required->end(), [&](const Constraint& c) { return always_holds(op, c); });
}

// e / n and e % n where e stays within one multiple of n:  e / n → k,   e % n → e - k·n
std::optional<CellValue> divided(Operator& op, CellId cell) {
  const CellNode node = op.exprs[cell];
  const CellNode& by = op.exprs[node.args[1]];
  if (node.type != ElementType::i64 || by.op != CellOp::constant || by.value.i <= 0) return std::nullopt;
  std::int64_t n = by.value.i;
  auto e = as_affine(op, node.args[0]);
  if (!e) return std::nullopt;
  try {
    Range values = e->bounds(op.box());
    if (values.empty()) return std::nullopt;
    std::int64_t k = checked::floor_div(values.lo, n);
    if (checked::floor_div(values.hi - 1, n) != k) return std::nullopt;
    e->offset = checked::sub(e->offset, checked::mul(k, n));
    if (node.op == CellOp::div) e = AffineExpr::constant(op.dims.size(), k);
    CellId value = affine_cell(op.exprs, *e);
    return CellValue{"a = b [domain]", {cell, value}, value};
  } catch (const Overflow&) { return std::nullopt; }
}

}  // namespace

// 0 <= i → true
std::optional<CellValue> decided_by_domain(Operator& op, CellId cell) {
  const CellNode& node = op.exprs[cell];
  if (node.op == CellOp::div || node.op == CellOp::mod) return divided(op, cell);
  if (!is_bool(node.type) || node.args.empty()) return std::nullopt;
  for (bool negated : {false, true}) {
    if (!all_hold(op, as_constraints(op, cell, negated))) continue;
    CellId value = op.exprs.constant(Scalar::boolean(!negated));
    return CellValue{"a = b [domain]", {cell, value}, value};
  }
  return std::nullopt;
}

}  // namespace tap::passes
