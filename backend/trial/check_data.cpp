#include "backend/trial/check_data.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// Multiply and shift: makes the numbers of neighbours unrelated.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

constexpr std::int64_t most_coordinates = 37;

void store_number(Tensor& cells, std::int64_t at, std::uint64_t hash, CheckNumbers which,
                  const CoordinateRange& range) {
  const ElementType type = cells.type();
  auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>((hash >> 8) % static_cast<std::uint64_t>(count));
  };
  const bool has_sign = is_float(type) || info(type).is_signed;
  const bool negative = which == CheckNumbers::mixed && (hash & 1) != 0 && has_sign;
  if (range.below > 0) {
    const bool outside = range.filled && has_sign && !is_bool(type) && (hash & 15) == 0;
    const std::int64_t number = is_bool(type) ? pick(2) : outside ? -1 : pick(range.below);
    if (is_float(type)) cells.store_f64(at, static_cast<double>(number));
    else cells.store_i64(at, number);
  } else if (is_float(type)) {
    constexpr double step = 1.0 / 1024;
    const double number = step * static_cast<double>(1 + pick(4095));
    cells.store_f64(at, negative ? -number : number);
  } else if (is_bool(type)) {
    cells.store_i64(at, pick(2));
  } else {
    const std::int64_t number = 1 + pick(which == CheckNumbers::mixed ? 100 : 7);
    cells.store_i64(at, negative ? -number : number);
  }
}

void narrow(CoordinateRange& known, std::int64_t extent, bool filled) {
  extent = std::max<std::int64_t>(std::min(extent, most_coordinates), 1);
  known.below = known.below == 0 ? extent : std::min(known.below, extent);
  known.filled = known.filled && filled;
}

// The operands whose cells determine coordinates of this operator's reads.
void note_coordinates(const Operator& op, std::vector<CoordinateRange>& found) {
  for (const Access& access : op.reads)
    for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis) {
      if (!access.coordinates[axis]) continue;
      for (CellId id : reachable_from(op.exprs, {*access.coordinates[axis]}))
        if (op.exprs[id].op == CellOp::read)
          narrow(found[op.reads[op.exprs[id].attribute].tensor], op.operands[access.tensor].shape[axis],
                 access.fill.has_value());
    }
}

}  // namespace

TensorPart numbered_part(ElementType element, Box box, std::size_t tensor, CheckNumbers which,
                         const CoordinateRange& range) {
  TensorPart part = blank_part(element, std::move(box));
  part.cells.bound = Tensor();  // exact
  std::int64_t at = 0;
  auto p = first_point(part.box);
  for (bool more = p.has_value(); more; more = next_point(part.box, *p), ++at) {
    std::uint64_t hash = mixed(tensor * 2 + (which == CheckNumbers::mixed ? 1 : 0) + 1);
    for (std::int64_t x : *p) hash = mixed(hash + static_cast<std::uint64_t>(x));
    store_number(part.cells.value, at, hash, which, range);
  }
  return part;
}

std::vector<CoordinateRange> coordinate_ranges(const Program& program, const Operator& op) {
  std::vector<CoordinateRange> found(op.operands.size());
  if (!op.region()) {
    note_coordinates(op, found);
    return found;
  }
  const Graph& graph = program[op.region()->graph];
  for (const Operation& operation : graph.operations) {
    const std::vector<CoordinateRange> inner = coordinate_ranges(program, program[operation.op]);
    for (std::size_t k = 0; k < inner.size(); ++k) {
      auto input = static_cast<std::size_t>(std::find(graph.inputs.begin(), graph.inputs.end(), operation.operands[k]) -
                                            graph.inputs.begin());
      if (inner[k].below > 0 && input < found.size()) narrow(found[input], inner[k].below, inner[k].filled);
    }
  }
  return found;
}

std::int64_t reached_part(const Operator& op, std::uint32_t operand, std::size_t axis) {
  const std::int64_t whole = op.operands[operand].shape[axis];
  if (op.region()) return whole;
  for (const Access& access : op.reads) {
    if (access.tensor != operand) continue;
    if (axis >= access.coordinates.size() || !access.coordinates[axis]) return whole;
    CellId cell = *access.coordinates[axis];
    while (op.exprs[cell].op == CellOp::cast) cell = op.exprs[cell].args[0];
    if (op.exprs[cell].op != CellOp::read) return whole;
  }
  return std::min(whole, most_coordinates);
}

}  // namespace tap::backend
