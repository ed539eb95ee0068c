// isl propagates errors as null objects through further calls. A chain of calls is therefore checked once, at its end,
// by `made`; objects that are kept across a check are owned.
#include "compiler/frontend/proofs/legality_set.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <new>
#include <utility>

#include "compiler/frontend/proofs/isl_memory.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {
namespace {

[[noreturn]] void fail(isl_ctx* ctx) {
  bool out_of_budget = isl_ctx_last_error(ctx) == isl_error_quota;
  isl_ctx_reset_error(ctx);
  isl_ctx_reset_operations(ctx);
  if (out_of_budget) throw OutOfBudget{};
  TAP_UNREACHABLE("isl failed");
}
template <class T>
T* made(isl_ctx* ctx, T* object) {
  if (object == nullptr) fail(ctx);
  return object;
}

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, Freed<free>>;

isl_val* value_of(isl_ctx* ctx, std::int64_t value) { return made(ctx, isl_val_int_from_si(ctx, value)); }

// One row per constraint of the given comparison: the coefficients, then the constant.
isl_mat* matrix_of(isl_ctx* ctx, const System& system, ir::Comparison comparison) {
  int rows = 0;
  for (const ir::Constraint& c : system.constraints) rows += c.comparison == comparison;
  isl_mat* matrix = made(ctx, isl_mat_alloc(ctx, rows, static_cast<int>(system.dims) + 1));
  int row = 0;
  for (const ir::Constraint& c : system.constraints) {
    if (c.comparison != comparison) continue;
    for (std::size_t d = 0; d < system.dims; ++d) {
      matrix = isl_mat_set_element_val(matrix, row, static_cast<int>(d), value_of(ctx, c.expr.coefficients[d]));
    }
    matrix = isl_mat_set_element_val(matrix, row, static_cast<int>(system.dims), value_of(ctx, c.expr.offset));
    ++row;
  }
  return made(ctx, matrix);
}

isl_space* space_of(isl_ctx* ctx, std::size_t dims) {
  return made(ctx, isl_space_set_alloc(ctx, 0, static_cast<unsigned>(dims)));
}

std::int64_t int64_of(isl_val* value) {  // takes `value`
  bool fits = isl_val_is_int(value) == isl_bool_true && isl_val_n_abs_num_chunks(value, sizeof(std::int64_t)) <= 1;
  std::int64_t result = fits ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  if (!fits) throw Overflow();
  return result;
}

// Coordinate by coordinate: the least value, then all points with that value. isl's own lexmin is for parametric
// problems and may take minutes for ten variables with irregular coefficients; emptiness and minima by basis reduction
// do not.
std::optional<ir::Point> lexmin_of(isl_ctx* ctx, isl_basic_set* taken) {
  Owned<isl_basic_set, isl_basic_set_free> part(made(ctx, taken));
  isl_bool empty = isl_basic_set_is_empty(part.get());
  if (empty == isl_bool_error) fail(ctx);
  if (empty == isl_bool_true) return std::nullopt;
  Owned<isl_local_space, isl_local_space_free> space(isl_local_space_from_space(isl_basic_set_get_space(part.get())));
  int dims = isl_basic_set_dim(part.get(), isl_dim_set);
  ir::Point point;
  for (int d = 0; d < dims; ++d) {
    auto number = static_cast<unsigned>(d);
    isl_aff* x = isl_aff_var_on_domain(isl_local_space_copy(space.get()), isl_dim_set, number);
    Owned<isl_aff, isl_aff_free> minus_x(made(ctx, isl_aff_neg(x)));
    point.push_back(int64_of(made(ctx, isl_val_neg(isl_basic_set_max_val(part.get(), minus_x.get())))));
    part.reset(made(ctx, isl_basic_set_fix_val(part.release(), isl_dim_set, number, value_of(ctx, point.back()))));
  }
  return point;
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

IntegerSet::IntegerSet(isl_ctx* ctx, isl_set* set) : ctx_(ctx), set_(made(ctx, set)) {}
IntegerSet::IntegerSet(const IntegerSet& other) : IntegerSet(other.ctx_, isl_set_copy(other.set_)) {}
IntegerSet::IntegerSet(IntegerSet&& other) noexcept : ctx_(other.ctx_), set_(std::exchange(other.set_, nullptr)) {}
IntegerSet& IntegerSet::operator=(IntegerSet other) noexcept {
  std::swap(ctx_, other.ctx_);
  std::swap(set_, other.set_);
  return *this;
}
IntegerSet::~IntegerSet() { isl_set_free(set_); }

bool IntegerSet::is_empty() const {
  InIsl isl_guard;
  isl_bool empty = isl_set_is_empty(set_);
  if (empty == isl_bool_error) fail(ctx_);
  return empty == isl_bool_true;
}
IntegerSet IntegerSet::unite(const IntegerSet& other) const {
  InIsl isl_guard;
  return {ctx_, isl_set_coalesce(isl_set_union(isl_set_copy(set_), isl_set_copy(other.set_)))};
}
IntegerSet IntegerSet::intersect(const IntegerSet& other) const {
  InIsl isl_guard;
  return {ctx_, isl_set_intersect(isl_set_copy(set_), isl_set_copy(other.set_))};
}
IntegerSet IntegerSet::subtract(const IntegerSet& other) const {
  InIsl isl_guard;
  return {ctx_, isl_set_subtract(isl_set_copy(set_), isl_set_copy(other.set_))};
}
IntegerSet IntegerSet::project_out(std::size_t first, std::size_t count) const {
  InIsl isl_guard;
  return {ctx_, isl_set_project_out(isl_set_copy(set_), isl_dim_set, static_cast<unsigned>(first),
                                    static_cast<unsigned>(count))};
}

std::optional<ir::Point> IntegerSet::lexmin() const {
  InIsl isl_guard;
  std::optional<ir::Point> best;
  Owned<isl_basic_set_list, isl_basic_set_list_free> parts(made(ctx_, isl_set_get_basic_set_list(set_)));
  for (int i = 0; i < isl_basic_set_list_n_basic_set(parts.get()); ++i) {
    std::optional<ir::Point> point = lexmin_of(ctx_, isl_basic_set_list_get_basic_set(parts.get(), i));
    if (point && (!best || *point < *best)) best = std::move(point);
  }
  return best;
}

IntegerSets::IntegerSets() {
  InIsl isl_guard;
  ctx_ = isl_ctx_alloc();
  if (!ctx_) throw std::bad_alloc();
  isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
}
IntegerSets::~IntegerSets() { isl_ctx_free(ctx_); }

void IntegerSets::set_budget(unsigned long operations) const {
  isl_ctx_set_max_operations(ctx_, operations);
  isl_ctx_reset_operations(ctx_);
}

IntegerSet IntegerSets::of(const System& system) const {
  InIsl isl_guard;
  isl_mat* equalities = matrix_of(ctx_, system, ir::Comparison::equal_zero);
  isl_mat* inequalities = matrix_of(ctx_, system, ir::Comparison::at_least_zero);
  isl_basic_set* set = isl_basic_set_from_constraint_matrices(space_of(ctx_, system.dims), equalities, inequalities,
                                                              isl_dim_set, isl_dim_cst, isl_dim_param, isl_dim_div);
  return {ctx_, isl_set_from_basic_set(set)};
}

IntegerSet IntegerSets::of(const ir::Domain& domain) const {
  System system{domain.box.rank(), domain.constraints};
  for (std::size_t d = 0; d < system.dims; ++d) system.inside(d, domain.box.dims[d]);
  return of(system);
}

IntegerSet IntegerSets::none(std::size_t dims) const {
  InIsl isl_guard;
  return {ctx_, isl_set_empty(space_of(ctx_, dims))};
}

}  // namespace tap
