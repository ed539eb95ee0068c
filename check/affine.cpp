#include "check/affine.h"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include "support/checked.h"

namespace tap::check {

AffineExpr number(std::size_t dims, std::int64_t value) { return {std::vector<std::int64_t>(dims, 0), value}; }
AffineExpr unit(std::size_t dims, std::size_t dim) {
  AffineExpr e = number(dims, 0);
  e.coefficients[dim] = 1;
  return e;
}
AffineExpr plus(AffineExpr a, const AffineExpr& b) {
  for (std::size_t d = 0; d < a.coefficients.size(); ++d)
    a.coefficients[d] = checked::add(a.coefficients[d], b.coefficients[d]);
  a.offset = checked::add(a.offset, b.offset);
  return a;
}
AffineExpr times(AffineExpr a, std::int64_t factor) {
  for (std::int64_t& c : a.coefficients) c = checked::mul(c, factor);
  a.offset = checked::mul(a.offset, factor);
  return a;
}
bool speaks_of(const AffineExpr& e, std::size_t dim) { return e.coefficients[dim] != 0; }
bool is_number(const AffineExpr& e) {
  for (std::int64_t c : e.coefficients)
    if (c != 0) return false;
  return true;
}

AffineExpr substituted(const AffineExpr& e, const std::vector<AffineExpr>& dims, std::size_t over) {
  AffineExpr result = number(over, e.offset);
  for (std::size_t d = 0; d < e.coefficients.size(); ++d)
    if (e.coefficients[d] != 0) result = plus(std::move(result), times(dims[d], e.coefficients[d]));
  return result;
}

bool no_points(const Ranges& box) {
  for (ir::Range r : box)
    if (r.hi <= r.lo) return true;
  return false;
}
std::int64_t least(const AffineExpr& e, const Ranges& box) {
  std::int64_t value = e.offset;
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::int64_t c = e.coefficients[d];
    if (c != 0) value = checked::add(value, checked::mul(c, c > 0 ? box[d].lo : checked::sub(box[d].hi, 1)));
  }
  return value;
}
std::int64_t greatest(const AffineExpr& e, const Ranges& box) { return checked::sub(0, least(times(e, -1), box)); }

Space space_of(const ir::Operator& op) {
  Space space{{}, op.constraints};
  for (const ir::IndexDim& dim : op.dims) space.box.push_back(dim.range);
  return space;
}

namespace {

constexpr unsigned long isl_budget = 100'000;

isl_set* with(isl_ctx* ctx, isl_set* set, const AffineExpr& e, bool equality) {
  isl_local_space* space = isl_local_space_from_space(isl_set_get_space(set));
  isl_constraint* c = equality ? isl_constraint_alloc_equality(space) : isl_constraint_alloc_inequality(space);
  for (std::size_t d = 0; d < e.coefficients.size(); ++d)
    c = isl_constraint_set_coefficient_val(c, isl_dim_set, static_cast<int>(d),
                                           isl_val_int_from_si(ctx, e.coefficients[d]));
  c = isl_constraint_set_constant_val(c, isl_val_int_from_si(ctx, e.offset));
  return isl_set_add_constraint(set, c);
}

// Whether the space has no point where e <= -1. What isl cannot tell in its budget is not shown.
bool shown_by_isl(const AffineExpr& e, const Space& space) {
  isl_ctx* ctx = isl_ctx_alloc();
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx, isl_budget);
  const std::size_t dims = space.box.size();
  isl_set* set = isl_set_universe(isl_space_set_alloc(ctx, 0, static_cast<unsigned>(dims)));
  for (std::size_t d = 0; d < dims; ++d) {
    set = with(ctx, set, plus(unit(dims, d), number(dims, checked::sub(0, space.box[d].lo))), false);
    set = with(ctx, set, plus(times(unit(dims, d), -1), number(dims, checked::sub(space.box[d].hi, 1))), false);
  }
  for (const ir::Constraint& c : space.constraints)
    set = with(ctx, set, c.expr, c.comparison == ir::Comparison::equal_zero);
  set = with(ctx, set, plus(times(e, -1), number(dims, -1)), false);
  bool shown = isl_set_is_empty(set) == isl_bool_true;
  isl_set_free(set);
  isl_ctx_free(ctx);
  return shown;
}

}  // namespace

bool never_negative(const AffineExpr& e, const Space& space) {
  if (no_points(space.box) || least(e, space.box) >= 0) return true;
  for (const ir::Constraint& c : space.constraints)
    if (least(minus(e, c.expr), space.box) >= 0) return true;
  return !space.constraints.empty() && shown_by_isl(e, space);
}

}  // namespace tap::check
