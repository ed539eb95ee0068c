#include "compiler/frontend/proofs/legality_digits.h"

#include <algorithm>
#include <optional>

#include "support/checked.h"

namespace tap {
namespace {

// A dim of one writer as a digit of an axis.
struct DimDigit {
  std::int64_t stride = 1, count = 0;
  std::size_t dim = 0;
  bool reversed = false;
};
using DimDigits = std::vector<DimDigit>;  // most significant first

std::optional<DimDigits> digits_unless_overflow(const WriteMap& map, std::size_t axis, std::int64_t size) {
  const ir::AffineExpr& row = map.projection.start.rows[axis];
  if (map.projection.shape[axis] != 1) return {};
  DimDigits digits;
  std::int64_t least = row.offset;
  for (std::size_t d = 0; d < map.dims.size(); ++d) {
    std::int64_t c = row.coefficients[d];
    if (c == 0) continue;
    const ir::Range& range = map.domain.box.dims[d];
    if (range.empty() || map.dims[d].role == ir::DimRole::counter || map.dims[d].invariant) return {};
    least = checked::add(least, checked::mul(c, c < 0 ? range.hi - 1 : range.lo));
    if (range.size() > 1) digits.push_back({c < 0 ? checked::sub(0, c) : c, range.size(), d, c < 0});
  }
  std::sort(digits.begin(), digits.end(), [](const DimDigit& a, const DimDigit& b) { return a.stride > b.stride; });
  std::int64_t stride = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (digit->stride != stride) return {};
    stride = checked::mul(stride, digit->count);
  }
  if (least != 0 || stride != size) return {};
  return digits;
}

// The digits of the row, if it maps the dims that it uses bijectively to the whole axis.
std::optional<DimDigits> digits_of(const WriteMap& map, std::size_t axis, std::int64_t size) {
  try {
    return digits_unless_overflow(map, axis, size);
  } catch (const Overflow&) { return std::nullopt; }
}

bool same_digits(const DimDigits& a, const DimDigits& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DimDigit& x, const DimDigit& y) { return x.stride == y.stride && x.count == y.count; });
}

// The axis's digits, if all writers have the same ones.
std::optional<std::vector<DimDigits>> common_digits(const std::vector<WriteMap>& maps, std::size_t axis,
                                                    std::int64_t size) {
  std::vector<DimDigits> all;
  for (const WriteMap& map : maps) {
    auto digits = digits_of(map, axis, size);
    if (!digits || (!all.empty() && !same_digits(all.front(), *digits))) return {};
    all.push_back(std::move(*digits));
  }
  if (all.empty()) return {};
  return all;
}

// The digit's value, counted from 0 in the order of the axis.
ir::AffineExpr value_of(const DimDigit& digit, const WriteMap& map) {
  const ir::Range& range = map.domain.box.dims[digit.dim];
  ir::AffineExpr value = ir::AffineExpr::variable(map.dims.size(), digit.dim);
  if (digit.reversed) value = scale(value, -1);
  value.offset = digit.reversed ? range.hi - 1 : checked::sub(0, range.lo);
  return value;
}

// Whether the writer depends on the dim only through one row.
bool is_used_once(const WriteMap& map, std::size_t dim) {
  auto uses = [dim](const ir::AffineExpr& e) { return e.coefficients[dim] != 0; };
  const auto& rows = map.projection.start.rows;
  return std::count_if(rows.begin(), rows.end(), uses) == 1 &&
         std::none_of(map.domain.constraints.begin(), map.domain.constraints.end(),
                      [&](const ir::Constraint& c) { return uses(c.expr); });
}

void remove_dim(WriteMap& map, std::size_t dim) {
  auto at = static_cast<std::ptrdiff_t>(dim);
  auto narrow = [&](ir::AffineExpr& e) { e.coefficients.erase(e.coefficients.begin() + at); };
  map.dims.erase(map.dims.begin() + at);
  map.domain.box.dims.erase(map.domain.box.dims.begin() + at);
  for (ir::Constraint& c : map.domain.constraints) narrow(c.expr);
  for (ir::AffineExpr& row : map.projection.start.rows) narrow(row);
  --map.projection.start.inputs;
}

class DigitSplitter {
 public:
  DigitSplitter(const Shape& shape, const std::vector<WriteMap>& maps) : maps_(maps), removed_dims_(maps.size()) {
    result_.rank = shape.size();
    result_.maps = maps;
    for (WriteMap& map : result_.maps) map.projection = {{map.dims.size(), {}}, {}};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (auto digits = common_digits(maps, axis, shape[axis])) add_digits(axis, *digits);
      else keep(axis, shape[axis]);
    }
    for (std::size_t w = 0; w < maps.size(); ++w) {
      std::sort(removed_dims_[w].rbegin(), removed_dims_[w].rend());
      for (std::size_t dim : removed_dims_[w]) remove_dim(result_.maps[w], dim);
    }
  }
  SplitDigits result() && { return std::move(result_); }

 private:
  void keep(std::size_t axis, std::int64_t size) {
    result_.digits.push_back({axis});
    result_.shape.push_back(size);
    for (std::size_t w = 0; w < maps_.size(); ++w)
      add_row(w, maps_[w].projection.start.rows[axis], maps_[w].projection.shape[axis]);
  }

  void add_digits(std::size_t axis, const std::vector<DimDigits>& all) {
    for (std::size_t k = 0; k < all.front().size(); ++k) {
      const DimDigit& first = all.front()[k];
      bool kept = false;
      for (std::size_t w = 0; w < maps_.size(); ++w)
        kept = kept || all[w][k].reversed != first.reversed || !is_used_once(maps_[w], all[w][k].dim);
      result_.digits.push_back({axis, first.stride, kept, first.reversed ? first.count - 1 : 0});
      if (kept) result_.shape.push_back(first.count);
      for (std::size_t w = 0; w < maps_.size(); ++w) {
        if (kept) add_row(w, value_of(all[w][k], maps_[w]), 1);
        else removed_dims_[w].push_back(all[w][k].dim);
      }
    }
  }

  void add_row(std::size_t w, ir::AffineExpr row, std::int64_t extent) {
    result_.maps[w].projection.start.rows.push_back(std::move(row));
    result_.maps[w].projection.shape.push_back(extent);
  }

  const std::vector<WriteMap>& maps_;
  std::vector<std::vector<std::size_t>> removed_dims_;  // dims by writer
  SplitDigits result_;
};

}  // namespace

ir::Point SplitDigits::original(const ir::Point& cell, bool of_points) const {
  ir::Point result(rank, 0);
  std::size_t at = 0;
  for (const Digit& digit : digits)
    result[digit.axis] += digit.stride * (digit.kept ? cell[at++] : of_points ? digit.at_begin : 0);
  return result;
}

SplitDigits split_digits(const Shape& shape, const std::vector<WriteMap>& maps) {
  return DigitSplitter(shape, maps).result();
}

}  // namespace tap
