#include "ir/affine_cell.h"

#include <optional>

namespace tap::ir {

CellId affine_cell(CellExprs& exprs, const AffineExpr& e) {
  auto apply = [&](CellOp o, CellId a, CellId b) { return exprs.apply(o, ElementType::i64, {a, b}); };
  auto number = [&](std::int64_t n) { return exprs.constant(Scalar::integer(ElementType::i64, n)); };
  std::optional<CellId> sum;
  for (std::uint32_t d = 0; d < e.coefficients.size(); ++d) {
    std::int64_t c = e.coefficients[d];
    if (c == 0) continue;
    bool minus = sum && c == -1;
    CellId term = c == 1 || minus ? exprs.index(d) : apply(CellOp::mul, number(c), exprs.index(d));
    sum = sum ? apply(minus ? CellOp::sub : CellOp::add, *sum, term) : term;
  }
  if (!sum) return number(e.offset);
  return e.offset == 0 ? *sum : apply(CellOp::add, *sum, number(e.offset));
}

}  // namespace tap::ir
