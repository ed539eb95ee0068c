#include "compiler/frontend/proofs/laws_numbers.h"

#include <cmath>

#include "ir/interpret/interpret_number.h"

namespace tap {

ir::Scalar NumberAlgebra::apply(const ir::CellNode& node, const std::vector<ir::Scalar>& args) const {
  ElementType type = args[0].type;
  ir::oracle::Number a = ir::oracle::number_of(args[0]), b = ir::oracle::number_of(args.back());
  try {
    ir::oracle::Number n = node.op == ir::CellOp::cast ? ir::oracle::apply_cast(type, node.type, a)
                           : is_float(type)            ? ir::oracle::apply_float(node.op, a, b)
                                                       : ir::oracle::apply_integer(node.op, type, a, b);
    return is_float(node.type) ? ir::Scalar{node.type, 0, n.f} : ir::Scalar::integer(node.type, n.i);
  } catch (const ir::oracle::CellFailure&) { throw NoValue{}; }
}

Answer NumberAlgebra::agree(const ir::Scalar& a, const ir::Scalar& b, int infinity) const {
  if (!is_float(a.type)) return a.i == b.i ? Answer::holds : Answer::fails;
  auto is_number = [&](const ir::Scalar& v) {
    return std::isfinite(v.f) || (infinity != 0 && infinity_of(v) == infinity);
  };
  if (!is_number(a) && !is_number(b)) return Answer::not_known;
  return a.f == b.f ? Answer::holds : Answer::fails;
}

int infinity_of(const ir::Scalar& s) { return is_float(s.type) && std::isinf(s.f) ? (s.f > 0 ? 1 : -1) : 0; }

}  // namespace tap
