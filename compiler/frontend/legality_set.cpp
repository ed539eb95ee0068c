#include "compiler/frontend/legality_set.h"

#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <utility>

#include "support/check.h"
#include "support/checked.h"

namespace tap {
namespace {

template <class T>
T* made(T* object) {
  TAP_CHECK(object != nullptr, "isl failed");
  return object;
}

isl_val* value_of(isl_ctx* ctx, std::int64_t value) { return made(isl_val_int_from_si(ctx, value)); }

// One row per constraint of the given comparison: the coefficients, then the constant.
isl_mat* matrix_of(isl_ctx* ctx, const System& system, ir::Comparison comparison) {
  int rows = 0;
  for (const ir::Constraint& c : system.constraints) rows += c.comparison == comparison;
  isl_mat* matrix = made(isl_mat_alloc(ctx, rows, static_cast<int>(system.dims) + 1));
  int row = 0;
  for (const ir::Constraint& c : system.constraints) {
    if (c.comparison != comparison) continue;
    for (std::size_t d = 0; d < system.dims; ++d) {
      matrix = isl_mat_set_element_val(matrix, row, static_cast<int>(d), value_of(ctx, c.expr.coefficients[d]));
    }
    matrix = isl_mat_set_element_val(matrix, row, static_cast<int>(system.dims), value_of(ctx, c.expr.offset));
    ++row;
  }
  return made(matrix);
}

isl_space* space_of(isl_ctx* ctx, std::size_t dims) {
  return made(isl_space_set_alloc(ctx, 0, static_cast<unsigned>(dims)));
}

std::int64_t coordinate(isl_point* point, std::size_t dim) {
  isl_val* value = made(isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(dim)));
  bool fits = isl_val_n_abs_num_chunks(value, sizeof(std::int64_t)) <= 1;
  std::int64_t result = fits ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  if (!fits) throw Overflow();
  return result;
}

std::optional<ir::Point> only_point(isl_set* set) {  // takes `set`, which has at most one point
  bool empty = isl_set_is_empty(set) == isl_bool_true;
  if (empty) {
    isl_set_free(set);
    return std::nullopt;
  }
  std::size_t dims = static_cast<std::size_t>(isl_set_dim(set, isl_dim_set));
  isl_point* point = made(isl_set_sample_point(set));
  ir::Point result(dims);
  for (std::size_t d = 0; d < dims; ++d) result[d] = coordinate(point, d);
  isl_point_free(point);
  return result;
}

}  // namespace

void System::at_least(ir::AffineExpr expr, std::int64_t bound) {
  expr.offset = checked::sub(expr.offset, bound);
  constraints.push_back({std::move(expr), ir::Comparison::at_least_zero});
}
void System::at_most(ir::AffineExpr expr, std::int64_t bound) {
  for (std::int64_t& c : expr.coefficients) c = checked::sub(0, c);
  expr.offset = checked::sub(bound, expr.offset);
  constraints.push_back({std::move(expr), ir::Comparison::at_least_zero});
}
void System::equal(ir::AffineExpr expr, std::int64_t value) {
  expr.offset = checked::sub(expr.offset, value);
  constraints.push_back({std::move(expr), ir::Comparison::equal_zero});
}
void System::inside(std::size_t dim, ir::Range range) {
  ir::AffineExpr variable;
  variable.coefficients.assign(dims, 0);
  variable.coefficients[dim] = 1;
  at_least(variable, range.lo);
  at_most(std::move(variable), checked::sub(range.hi, 1));
}

IntegerSet::IntegerSet(isl_set* set) : set_(made(set)) {}
IntegerSet::IntegerSet(const IntegerSet& other) : set_(made(isl_set_copy(other.set_))) {}
IntegerSet::IntegerSet(IntegerSet&& other) noexcept : set_(std::exchange(other.set_, nullptr)) {}
IntegerSet& IntegerSet::operator=(IntegerSet other) noexcept {
  std::swap(set_, other.set_);
  return *this;
}
IntegerSet::~IntegerSet() { isl_set_free(set_); }

bool IntegerSet::is_empty() const {
  isl_bool empty = isl_set_is_empty(set_);
  TAP_CHECK(empty != isl_bool_error, "isl failed");
  return empty == isl_bool_true;
}
IntegerSet IntegerSet::unite(IntegerSet other) const {
  return IntegerSet(isl_set_coalesce(isl_set_union(isl_set_copy(set_), std::exchange(other.set_, nullptr))));
}
IntegerSet IntegerSet::intersect(IntegerSet other) const {
  return IntegerSet(isl_set_intersect(isl_set_copy(set_), std::exchange(other.set_, nullptr)));
}
IntegerSet IntegerSet::subtract(IntegerSet other) const {
  return IntegerSet(isl_set_subtract(isl_set_copy(set_), std::exchange(other.set_, nullptr)));
}
IntegerSet IntegerSet::project_out(std::size_t first, std::size_t count) const {
  return IntegerSet(isl_set_project_out(isl_set_copy(set_), isl_dim_set, static_cast<unsigned>(first),
                                        static_cast<unsigned>(count)));
}

// The smallest over the convex parts: cheaper than isl_set_lexmin, which orders the parts by cutting them up.
std::optional<ir::Point> IntegerSet::lexmin() const {
  std::optional<ir::Point> best;
  isl_basic_set_list* parts = made(isl_set_get_basic_set_list(set_));
  for (int i = 0; i < isl_basic_set_list_n_basic_set(parts); ++i) {
    isl_basic_set* part = isl_basic_set_list_get_basic_set(parts, i);
    std::optional<ir::Point> point = only_point(made(isl_basic_set_lexmin(part)));
    if (point && (!best || *point < *best)) best = std::move(point);
  }
  isl_basic_set_list_free(parts);
  return best;
}

IntegerSets::IntegerSets() : ctx_(made(isl_ctx_alloc())) { isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE); }
IntegerSets::~IntegerSets() { isl_ctx_free(ctx_); }

IntegerSet IntegerSets::of(const System& system) const {
  isl_mat* equalities = matrix_of(ctx_, system, ir::Comparison::equal_zero);
  isl_mat* inequalities = matrix_of(ctx_, system, ir::Comparison::at_least_zero);
  isl_basic_set* set = isl_basic_set_from_constraint_matrices(space_of(ctx_, system.dims), equalities, inequalities,
                                                              isl_dim_set, isl_dim_cst, isl_dim_param, isl_dim_div);
  return IntegerSet(isl_set_from_basic_set(made(set)));
}

IntegerSet IntegerSets::of(const ir::Domain& domain) const {
  System system{domain.box.rank(), domain.constraints};
  for (std::size_t d = 0; d < system.dims; ++d) system.inside(d, domain.box.dims[d]);
  return of(system);
}

IntegerSet IntegerSets::none(std::size_t dims) const { return IntegerSet(isl_set_empty(space_of(ctx_, dims))); }

}  // namespace tap
