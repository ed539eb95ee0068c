#include "compiler/frontend/laws_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret_number.h"

namespace tap {
namespace {

using ir::Scalar;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool same(const Scalar& a, const Scalar& b) { return is_float(a.type) ? a.f == b.f : a.i == b.i; }

}  // namespace

Scalar NumberAlgebra::apply(const ir::CellNode& node, const std::vector<Scalar>& args) const {
  for (const Scalar& arg : args) {  // what failed has no value: the law is not asked there, as for NaN
    if (!is_float(arg.type) && is_nan(arg)) return {node.type, 0, nan};
  }
  ElementType type = args[0].type;
  ir::oracle::Number a = ir::oracle::number_of(args[0]), b = ir::oracle::number_of(args.back());
  try {
    ir::oracle::Number n = node.op == ir::CellOp::cast ? ir::oracle::apply_cast(type, node.type, a)
                           : is_float(type)            ? ir::oracle::apply_float(node.op, a, b)
                                                       : ir::oracle::apply_integer(node.op, type, a, b);
    return is_float(node.type) ? Scalar{node.type, 0, n.f} : Scalar::integer(node.type, n.i);
  } catch (const ir::oracle::CellFailure&) { return {node.type, 0, nan}; }
}

bool NumberAlgebra::agree(const Scalar& a, const Scalar& b) const {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
  if (!is_float(a.type)) return a.i == b.i;
  if (a.f == b.f) return true;
  double scale = std::max({1.0, std::fabs(a.f), std::fabs(b.f)});
  return std::isfinite(scale) && std::fabs(a.f - b.f) <= tolerance * scale;
}

bool NumberAlgebra::all_same(const std::vector<Value>& a, const std::vector<Value>& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), same);
}

bool NumberAlgebra::partly_same(const std::vector<Value>& a, const std::vector<Value>& b,
                                const std::vector<bool>& counted) const {
  bool some = false;
  for (std::size_t k = 0; k < a.size(); ++k) some = some || (counted[k] && same(a[k], b[k]));
  return some && !all_same(a, b);
}

int NumberAlgebra::infinity(const Scalar& v) const {
  return is_float(v.type) && std::isinf(v.f) ? (v.f > 0 ? 1 : -1) : 0;
}

}  // namespace tap
