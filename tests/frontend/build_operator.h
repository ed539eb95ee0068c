// Operators by hand, for tests: dims, accesses and guards in a few lines.
//
//   OperatorBuilder b;
//   auto i = b.parallel(0, 8);
//   auto x = b.read({8}, {b.at({{i, 1}}, -1)});           // x[i - 1]
//   b.write({8}, {b.at({{i, 1}})});                       // y[i]
//   b.value(b.choose(b.less(b.number(0), b.index(i)), x, b.zero()));
#pragma once

#include <utility>
#include <vector>

#include "ir/operator.h"

namespace tap::testing {

class OperatorBuilder {
 public:
  using Terms = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // dim, coefficient

  std::uint32_t parallel(std::int64_t lo, std::int64_t hi) { return dim({lo, hi}, ir::DimRole::parallel); }
  std::uint32_t reduction(std::int64_t lo, std::int64_t hi) { return dim({lo, hi}, ir::DimRole::reduction); }
  std::uint32_t counter(std::int64_t lo, std::int64_t hi, std::uint32_t level = 0) {
    std::uint32_t d = dim({lo, hi}, ir::DimRole::counter);
    op_.dims[d].level = level;
    return d;
  }

  static ir::AffineExpr at(const Terms& terms, std::int64_t offset = 0) {
    ir::AffineExpr e{{}, offset};
    for (auto [d, c] : terms) {
      if (e.coefficients.size() <= d) e.coefficients.resize(d + 1, 0);
      e.coefficients[d] += c;
    }
    return e;
  }
  void at_least_zero(ir::AffineExpr e) { op_.constraints.push_back({std::move(e), ir::Comparison::at_least_zero}); }
  void equal_zero(ir::AffineExpr e) { op_.constraints.push_back({std::move(e), ir::Comparison::equal_zero}); }

  // An f32 operand of its own, read there: its cell.
  ir::CellId read(Shape shape, std::vector<ir::AffineExpr> start, Shape region = {}) {
    op_.operands.push_back({ElementType::f32, shape});
    op_.reads.push_back(access(op_.operands.size() - 1, std::move(start), std::move(region)));
    return op_.exprs.read(static_cast<std::uint32_t>(op_.reads.size() - 1), ElementType::f32);
  }
  ir::Access& last_read() { return op_.reads.back(); }
  std::uint32_t write(Shape shape, std::vector<ir::AffineExpr> start, Shape region = {}) {
    op_.results.push_back({ElementType::f32, shape});
    op_.writes.push_back(access(op_.results.size() - 1, std::move(start), std::move(region)));
    return static_cast<std::uint32_t>(op_.writes.size() - 1);
  }
  ir::Access& last_write() { return op_.writes.back(); }

  ir::CellId number(std::int64_t n) { return op_.exprs.constant(ir::Scalar::integer(ElementType::i64, n)); }
  ir::CellId zero() { return op_.exprs.constant(ir::Scalar::zero(ElementType::f32)); }
  ir::CellId index(std::uint32_t d) { return op_.exprs.index(d); }
  ir::CellId apply(ir::CellOp o, ElementType type, std::vector<ir::CellId> args) {
    return op_.exprs.apply(o, type, std::move(args));
  }
  ir::CellId condition(ir::CellOp o, std::vector<ir::CellId> args) {
    return apply(o, ElementType::boolean, std::move(args));
  }
  ir::CellId less(ir::CellId a, ir::CellId b) { return condition(ir::CellOp::less, {a, b}); }
  ir::CellId both(ir::CellId a, ir::CellId b) { return condition(ir::CellOp::logical_and, {a, b}); }
  ir::CellId either(ir::CellId a, ir::CellId b) { return condition(ir::CellOp::logical_or, {a, b}); }
  ir::CellId opposite(ir::CellId a) { return condition(ir::CellOp::logical_not, {a}); }
  ir::CellId choose(ir::CellId c, ir::CellId a, ir::CellId b) {
    return apply(ir::CellOp::select, op_.exprs[a].type, {c, a, b});
  }
  ir::CellId plus(ir::CellId a, ir::CellId b) { return apply(ir::CellOp::add, op_.exprs[a].type, {a, b}); }
  // The affine expression as an i64 cell.
  ir::CellId number(const ir::AffineExpr& e) {
    ir::CellId sum = number(e.offset);
    for (std::uint32_t d = 0; d < e.coefficients.size(); ++d) {
      sum = plus(sum, apply(ir::CellOp::mul, ElementType::i64, {number(e.coefficients[d]), index(d)}));
    }
    return sum;
  }

  void value(ir::CellId cell) {
    if (!op_.map()) op_.body = ir::MapBody{};
    std::get<ir::MapBody>(op_.body).values.push_back(cell);
  }
  void body(ir::Body body) { op_.body = std::move(body); }

  // The operator, its affine expressions widened to all dims.
  ir::Operator build() const {
    ir::Operator op = op_;
    for (ir::Constraint& c : op.constraints) c.expr.coefficients.resize(op.dims.size(), 0);
    for (std::vector<ir::Access>* accesses : {&op.reads, &op.writes}) {
      for (ir::Access& a : *accesses) {
        a.projection.start.inputs = op.dims.size();
        for (ir::AffineExpr& row : a.projection.start.rows) row.coefficients.resize(op.dims.size(), 0);
      }
    }
    return op;
  }

 private:
  std::uint32_t dim(ir::Range range, ir::DimRole role) {
    op_.dims.push_back({"d" + std::to_string(op_.dims.size()), range, role});
    return static_cast<std::uint32_t>(op_.dims.size() - 1);
  }
  static ir::Access access(std::size_t tensor, std::vector<ir::AffineExpr> start, Shape region) {
    if (region.empty()) region.assign(start.size(), 1);
    return {static_cast<std::uint32_t>(tensor), {{0, std::move(start)}, std::move(region)}, {}, {}, {}};
  }
  ir::Operator op_;
};

}  // namespace tap::testing
