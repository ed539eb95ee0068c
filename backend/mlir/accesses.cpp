#include "backend/mlir/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backend/mlir/arithmetic.h"
#include "support/checked.h"

namespace tap::backend::mlir {
namespace {

std::string row_text(const Row& row) {
  std::string text;
  for (std::size_t k = 0; k < row.coefficients.size(); ++k) {
    const std::int64_t c = row.coefficients[k];
    if (c == 0) continue;
    text += text.empty() ? "" : " + ";
    text += c == 1 ? fmt::format("d{}", k) : fmt::format("d{} * {}", k, c);
  }
  if (text.empty()) return std::to_string(row.offset);
  return row.offset == 0 ? text : fmt::format("{} + {}", text, row.offset);
}

// The offsets of a slice as text: numbers, or values if they contain a counter.
std::string offsets_text(Text& text, const Slice& slice) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < slice.offsets.size(); ++k) {
    if (slice.counters[k].empty()) {
      parts.push_back(std::to_string(slice.offsets[k]));
      continue;
    }
    std::string sum;
    for (const auto& [counter, times] : slice.counters[k]) {
      std::string term = counter;
      if (times != 1) {
        const std::string factor = index_constant(text, times);
        term = define(text, "i", fmt::format("arith.muli {}, {} : index", counter, factor));
      }
      sum = sum.empty() ? term : define(text, "i", fmt::format("arith.addi {}, {} : index", sum, term));
    }
    if (slice.offsets[k] != 0) {
      const std::string offset = index_constant(text, slice.offsets[k]);
      sum = define(text, "i", fmt::format("arith.addi {}, {} : index", sum, offset));
    }
    parts.push_back(sum);
  }
  return "[" + joined(parts) + "]" + list(slice.sizes) + list(std::vector<std::int64_t>(slice.sizes.size(), 1));
}

}  // namespace

Loops loops_of(const ir::Operator& op, const std::vector<std::string>& counters) {
  Loops loops;
  loops.counters.resize(op.dims.size());
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role == ir::DimRole::counter) {
      loops.counters[d] = counters.at(counters.size() - 1 - op.dims[d].level);
      continue;
    }
    loops.dims.push_back(d);
    loops.sizes.push_back(op.dims[d].range.size());
  }
  return loops;
}

std::optional<std::size_t> Row::loop() const {
  if (offset != 0) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0) continue;
    if (found || coefficients[k] != 1) return std::nullopt;
    found = k;
  }
  return found;
}

bool Row::is_constant() const {
  return std::all_of(coefficients.begin(), coefficients.end(), [](std::int64_t c) { return c == 0; });
}

std::vector<Row> rows_of(const ir::Operator& op, const ir::Access& access, const Loops& loops) {
  std::vector<Row> rows;
  for (const ir::AffineExpr& expr : access.projection.start.rows) {
    Row row{{}, expr.offset, {}, {}, {}};
    ir::AffineExpr own = ir::AffineExpr::constant(op.dims.size(), expr.offset);
    for (std::uint32_t d : loops.dims) {
      row.coefficients.push_back(expr.coefficients[d]);
      row.offset = checked::add(row.offset, checked::mul(expr.coefficients[d], op.dims[d].range.lo));
      own.coefficients[d] = expr.coefficients[d];
    }
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (!loops.counters[d].empty() && expr.coefficients[d] != 0)
        row.counters.emplace_back(loops.counters[d], expr.coefficients[d]);
    row.bounds = expr.bounds(op.box());
    row.own_bounds = own.bounds(op.box());
    rows.push_back(std::move(row));
  }
  return rows;
}

// Reduces an axis with a single loop to the part that it covers, since linalg requires equal sizes; likewise an axis
// with a counter.
Slice slice_of(std::vector<Row> rows, const Shape& shape) {
  Slice slice;
  std::set<std::size_t> seen;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Row& row = rows[k];
    const std::int64_t least = row.own_bounds.lo, size = row.own_bounds.size();
    Row moved = row;
    moved.offset -= least;
    const bool alone = moved.loop().has_value();
    const bool narrowed = (alone && size != shape[k]) || !row.counters.empty();
    slice.dense = slice.dense && (alone ? seen.insert(*moved.loop()).second : row.is_constant());
    if (narrowed || row.is_constant()) {
      slice.whole = slice.whole && !narrowed && shape[k] == 1;
      slice.offsets.push_back(least);
      slice.counters.push_back(row.counters);
      slice.sizes.push_back(size);
      row = std::move(moved);
    } else {
      slice.offsets.push_back(0);
      slice.counters.emplace_back();
      slice.sizes.push_back(shape[k]);
    }
  }
  slice.rows = std::move(rows);
  return slice;
}

std::string map_text(const std::vector<Row>& rows, std::size_t loops) {
  std::vector<std::string> names, parts;
  for (std::size_t k = 0; k < loops; ++k) names.push_back(fmt::format("d{}", k));
  for (const Row& row : rows) parts.push_back(row_text(row));
  return fmt::format("affine_map<({}) -> ({})>", joined(names), joined(parts));
}

std::string take_slice(Text& text, const std::string& tensor, const ir::TensorType& type, const Slice& slice) {
  if (slice.whole) return tensor;
  const std::string where = offsets_text(text, slice);
  return define(text, tensor.substr(1),
                fmt::format("tensor.extract_slice {}{} : {} to {}", tensor, where, tensor_type(type),
                            tensor_type(type.element, slice.sizes)));
}

std::string put_slice(Text& text, const std::string& part, const std::string& tensor, const ir::TensorType& type,
                      const Slice& slice) {
  if (slice.whole) return part;
  const std::string where = offsets_text(text, slice);
  return define(text, tensor.substr(1),
                fmt::format("tensor.insert_slice {} into {}{} : {} into {}", part, tensor, where,
                            tensor_type(type.element, slice.sizes), tensor_type(type)));
}

}  // namespace tap::backend::mlir
