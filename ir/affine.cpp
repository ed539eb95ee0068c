#include "ir/affine.h"

#include <algorithm>

#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {
namespace {

// Sums of products in 128 bits: only the result has to fit, not every intermediate. Each product is below 2^126 and an
// index space has far fewer than 2^63 dims, but two full-size products may already sum to 2^127, so each addition is
// checked.
using Wide = __int128;

Wide add_product(Wide sum, std::int64_t a, std::int64_t b) {
  Wide r;
  if (__builtin_add_overflow(sum, static_cast<Wide>(a) * b, &r)) throw Overflow();
  return r;
}

std::int64_t narrow(Wide value) {
  auto result = static_cast<std::int64_t>(value);
  if (result != value) throw Overflow();
  return result;
}

template <class Combine>
AffineExpr combine(const AffineExpr& a, const AffineExpr& b, Combine f) {
  TAP_CHECK(a.coefficients.size() == b.coefficients.size(), "affine expressions over different index spaces");
  AffineExpr r = a;
  for (std::size_t d = 0; d < r.coefficients.size(); ++d) r.coefficients[d] = f(a.coefficients[d], b.coefficients[d]);
  r.offset = f(a.offset, b.offset);
  return r;
}

}  // namespace

AffineExpr AffineExpr::constant(std::size_t inputs, std::int64_t value) {
  return {std::vector<std::int64_t>(inputs, 0), value};
}

AffineExpr AffineExpr::variable(std::size_t inputs, std::size_t dim) {
  TAP_CHECK(dim < inputs, "an affine variable outside its index space");
  AffineExpr e = constant(inputs, 0);
  e.coefficients[dim] = 1;
  return e;
}

bool AffineExpr::is_constant() const {
  return std::all_of(coefficients.begin(), coefficients.end(), [](std::int64_t c) { return c == 0; });
}

std::optional<std::size_t> AffineExpr::as_variable() const {
  if (offset != 0) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < coefficients.size(); ++d) {
    if (coefficients[d] == 0) continue;
    if (coefficients[d] != 1 || found) return std::nullopt;
    found = d;
  }
  return found;
}

std::int64_t AffineExpr::operator()(const Point& p) const {
  TAP_CHECK(p.size() == coefficients.size(), "a point and an affine expression of different ranks");
  Wide sum = offset;
  for (std::size_t d = 0; d < p.size(); ++d) sum = add_product(sum, coefficients[d], p[d]);
  return narrow(sum);
}

// The least value takes a dim's low end if its coefficient is positive, and its last point if it is negative.
Range AffineExpr::bounds(const Box& box) const {
  TAP_CHECK(box.rank() == coefficients.size(), "a box and an affine expression of different ranks");
  if (box.empty()) return {0, 0};
  Wide least = offset, greatest = offset;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    std::int64_t c = coefficients[d], first = box.dims[d].lo, last = box.dims[d].hi - 1;
    least = add_product(least, c, c >= 0 ? first : last);
    greatest = add_product(greatest, c, c >= 0 ? last : first);
  }
  return {narrow(least), checked::add(narrow(greatest), 1)};
}

AffineExpr operator+(const AffineExpr& a, const AffineExpr& b) { return combine(a, b, checked::add); }
AffineExpr operator-(const AffineExpr& a, const AffineExpr& b) { return combine(a, b, checked::sub); }

AffineExpr scale(const AffineExpr& a, std::int64_t factor) {
  AffineExpr r = a;
  for (std::int64_t& c : r.coefficients) c = checked::mul(c, factor);
  r.offset = checked::mul(r.offset, factor);
  return r;
}

AffineMap AffineMap::identity(std::size_t n) {
  AffineMap map{n, {}};
  for (std::size_t d = 0; d < n; ++d) map.rows.push_back(AffineExpr::variable(n, d));
  return map;
}

Point AffineMap::operator()(const Point& p) const {
  Point result;
  result.reserve(rows.size());
  for (const AffineExpr& row : rows) result.push_back(row(p));
  return result;
}

AffineExpr compose(const AffineExpr& outer, const AffineMap& inner) {
  TAP_CHECK(outer.coefficients.size() == inner.rows.size(), "affine maps of different ranks");
  AffineExpr result;
  result.coefficients.reserve(inner.inputs);
  for (std::size_t d = 0; d < inner.inputs; ++d) {
    Wide sum = 0;
    for (std::size_t r = 0; r < inner.rows.size(); ++r)
      sum = add_product(sum, outer.coefficients[r], inner.rows[r].coefficients[d]);
    result.coefficients.push_back(narrow(sum));
  }
  Wide offset = outer.offset;
  for (std::size_t r = 0; r < inner.rows.size(); ++r)
    offset = add_product(offset, outer.coefficients[r], inner.rows[r].offset);
  result.offset = narrow(offset);
  return result;
}

AffineMap compose(const AffineMap& outer, const AffineMap& inner) {
  TAP_CHECK(outer.inputs == inner.rows.size(), "affine maps of different ranks");
  AffineMap result{inner.inputs, {}};
  result.rows.reserve(outer.rows.size());
  for (const AffineExpr& row : outer.rows) result.rows.push_back(compose(row, inner));
  return result;
}

bool Constraint::holds(const Point& p) const {
  std::int64_t value = expr(p);
  return comparison == Comparison::at_least_zero ? value >= 0 : value == 0;
}

bool Domain::contains(const Point& p) const {
  return box.contains(p) &&
         std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& c) { return c.holds(p); });
}

std::string to_string(const AffineExpr& e, const std::vector<std::string>& names) {
  TAP_CHECK(e.coefficients.size() == names.size(), "an affine expression with different numbers of names and dims");
  std::string text;
  // The magnitude as unsigned: the least integer has no positive counterpart.
  auto term = [&](bool negative, const std::string& magnitude) {
    if (text.empty()) text = (negative ? "-" : "") + magnitude;
    else text += (negative ? " - " : " + ") + magnitude;
  };
  auto magnitude = [](std::int64_t v) {
    return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  };
  for (std::size_t d = 0; d < names.size(); ++d) {
    std::int64_t c = e.coefficients[d];
    if (c == 0) continue;
    term(c < 0, magnitude(c) == 1 ? names[d] : std::to_string(magnitude(c)) + "*" + names[d]);
  }
  if (e.offset != 0 || text.empty()) term(e.offset < 0, std::to_string(magnitude(e.offset)));
  return text;
}

std::string to_string(const Constraint& c, const std::vector<std::string>& names) {
  return to_string(c.expr, names) + (c.comparison == Comparison::at_least_zero ? " >= 0" : " == 0");
}

}  // namespace tap::ir
