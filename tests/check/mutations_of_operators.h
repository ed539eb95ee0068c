// Changes to what an operator does: its accesses, its index space, its cells.
#pragma once

#include "tests/check/mutant.h"

namespace tap::check::cases {

inline std::vector<Kind> operator_changes() {
  using namespace changes;
  return {
      {"read one further", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::reads);
         return r && ++r->offset;
       }},
      {"read twice as far", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::reads);
         auto* c = r ? m.any(r->coefficients) : nullptr;
         return c && ++*c;
       }},
      {"read transposed", by_operator, [](Mutant& m) { return exchange_rows(m, &Operator::reads); }},
      {"write one further", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::writes);
         return r && ++r->offset;
       }},
      {"write reversed", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::writes);
         auto* c = r ? m.any(r->coefficients) : nullptr;
         return c && (*c = *c - 2, true);
       }},
      {"write transposed", by_operator, [](Mutant& m) { return exchange_rows(m, &Operator::writes); }},
      {"index one longer", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && ++d->range.hi;
       }},
      {"index one shorter", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && d->range.lo < d->range.hi && (--d->range.hi, true);
       }},
      {"index begins later", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && d->range.lo < d->range.hi && ++d->range.lo;
       }},
      {"constraint added", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         if (!op || op->dims.empty()) return false;
         AffineExpr e{std::vector<std::int64_t>(op->dims.size(), 0), -1};
         e.coefficients[m.any(op->dims.size())] = 1;
         op->constraints.push_back({e, Comparison::at_least_zero});
         return true;
       }},
      {"sum becomes a difference", by_operator, [](Mutant& m) { return replace_op(m, CellOp::add, CellOp::sub); }},
      {"product becomes a sum", by_operator, [](Mutant& m) { return replace_op(m, CellOp::mul, CellOp::add); }},
      {"comparison becomes another", by_operator,
       [](Mutant& m) { return replace_op(m, CellOp::less, CellOp::less_equal); }},
      {"constant one more", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto at = m.cell(op, CellOp::constant);
         if (!at) return false;
         CellNode node = op->exprs[CellId(*at)];
         ++node.value.i;
         return Mutant::change_cell(*op, *at, node);
       }},
      {"branches exchanged", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto at = m.cell(op, CellOp::select);
         if (!at) return false;
         CellNode node = op->exprs[CellId(*at)];
         std::swap(node.args[1], node.args[2]);
         return Mutant::change_cell(*op, *at, node);
       }},
      {"fill gone", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* r = op ? m.any(op->reads) : nullptr;
         return r && r->fill && (r->fill.reset(), true);
       }},
      {"fill is another cell", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         Access* r = op ? m.any(op->reads) : nullptr;
         if (!r || !r->fill) return false;
         r->fill = op->exprs.constant(Scalar::integer(ElementType::i64, 99));
         return true;
       }},
      {"value is another cell", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* map = op ? std::get_if<MapBody>(&op->body) : nullptr;
         if (!map) return false;
         CellId other(m.any(op->exprs.size()));
         if (op->exprs[other].type != op->exprs[map->values[0]].type || other == map->values[0]) return false;
         map->values[0] = other;
         return true;
       }},
      {"dim said not to matter", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         Access* w = op ? m.any(op->writes) : nullptr;
         if (!w || op->dims.empty()) return false;
         w->invariant_dims.push_back(static_cast<std::uint32_t>(m.any(op->dims.size())));
         return true;
       }},
      {"reads two tensors for one", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* r = op && op->operands.size() > 1 ? m.any(op->reads) : nullptr;
         return r && (r->tensor = 1 - r->tensor, true);
       }},
  };
}

}  // namespace tap::check::cases
