// Monoids by hand, for tests, in almost the words of the language.
//
//   MonoidBuilder m({ElementType::f32});
//   m.identity({m.f(-inf)});
//   m.combine({choose(m.a(0) > m.b(0), m.a(0), m.b(0))});
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "ir/monoid.h"

namespace tap::testing {

// A cell under construction.
struct Cell {
  ir::CellExprs* exprs;
  ir::CellId id;
  ElementType type() const { return (*exprs)[id].type; }
};
inline Cell apply(ir::CellOp op, ElementType type, const std::vector<Cell>& args) {
  std::vector<ir::CellId> ids;
  for (const Cell& c : args) ids.push_back(c.id);
  return {args[0].exprs, args[0].exprs->apply(op, type, ids)};
}
inline Cell operator+(Cell a, Cell b) { return apply(ir::CellOp::add, a.type(), {a, b}); }
inline Cell operator-(Cell a, Cell b) { return apply(ir::CellOp::sub, a.type(), {a, b}); }
inline Cell operator*(Cell a, Cell b) { return apply(ir::CellOp::mul, a.type(), {a, b}); }
inline Cell operator/(Cell a, Cell b) { return apply(ir::CellOp::div, a.type(), {a, b}); }
inline Cell operator<(Cell a, Cell b) { return apply(ir::CellOp::less, ElementType::boolean, {a, b}); }
inline Cell operator>(Cell a, Cell b) { return b < a; }
inline Cell operator==(Cell a, Cell b) { return apply(ir::CellOp::equal, ElementType::boolean, {a, b}); }
inline Cell both(Cell a, Cell b) { return apply(ir::CellOp::logical_and, ElementType::boolean, {a, b}); }
inline Cell either(Cell a, Cell b) { return apply(ir::CellOp::logical_or, ElementType::boolean, {a, b}); }
inline Cell choose(Cell c, Cell a, Cell b) { return apply(ir::CellOp::select, a.type(), {c, a, b}); }
inline Cell max(Cell a, Cell b) { return apply(ir::CellOp::max, a.type(), {a, b}); }
inline Cell min(Cell a, Cell b) { return apply(ir::CellOp::min, a.type(), {a, b}); }
inline Cell function(ir::CellOp op, Cell a) { return apply(op, a.type(), {a}); }
inline Cell exp(Cell a) { return function(ir::CellOp::exp, a); }
inline Cell cast(ElementType type, Cell a) { return {a.exprs, a.exprs->cast(a.id, type)}; }

inline constexpr double inf = std::numeric_limits<double>::infinity();

class MonoidBuilder {
 public:
  explicit MonoidBuilder(const std::vector<ElementType>& components) {
    for (std::size_t k = 0; k < components.size(); ++k) {
      monoid_.components.push_back({"c" + std::to_string(k), components[k]});
    }
  }
  MonoidBuilder(const MonoidBuilder&) = delete;

  Cell a(std::uint32_t k) { return {&monoid_.exprs, monoid_.exprs.argument(k, monoid_.components[k].type)}; }
  Cell b(std::uint32_t k) {
    auto n = static_cast<std::uint32_t>(monoid_.arity());
    return {&monoid_.exprs, monoid_.exprs.argument(n + k, monoid_.components[k].type)};
  }
  Cell f(double value, ElementType type = ElementType::f32) { return constant(ir::Scalar::floating(type, value)); }
  Cell i(std::int64_t value, ElementType type = ElementType::i64) { return constant(ir::Scalar::integer(type, value)); }
  Cell truth(bool value) { return constant(ir::Scalar::boolean(value)); }

  void identity(const std::vector<Cell>& cells) { monoid_.identity = ids(cells); }
  void combine(const std::vector<Cell>& cells) { monoid_.combine = ids(cells); }

  // The operands of the fold at its index, and reductions over it.
  Cell x(std::uint32_t k) { return {&fold().exprs, fold().exprs.argument(k, monoid_.components[k].type)}; }
  Cell fold_f(double value) {
    return {&fold().exprs, fold().exprs.constant(ir::Scalar::floating(ElementType::f32, value))};
  }
  Cell reduce(ir::MonoidId by, Cell cell) {
    return {&fold().exprs,
            fold().exprs.add({ir::CellOp::reduce, cell.type(), static_cast<std::uint32_t>(by.index()), {}, {cell.id}})};
  }
  void fold_to(const std::vector<Cell>& cells) { fold().roots = ids(cells); }

  const ir::Monoid& build() const { return monoid_; }

 private:
  Cell constant(ir::Scalar value) { return {&monoid_.exprs, monoid_.exprs.constant(value)}; }
  ir::Fold& fold() {
    if (!monoid_.fold) monoid_.fold.emplace();
    return *monoid_.fold;
  }
  static std::vector<ir::CellId> ids(const std::vector<Cell>& cells) {
    std::vector<ir::CellId> result;
    for (const Cell& c : cells) result.push_back(c.id);
    return result;
  }
  ir::Monoid monoid_;
};

}  // namespace tap::testing
