#include "backend/check_data.h"

#include <algorithm>

namespace tap::backend {

using namespace ir;

namespace {

// Multiply and shift: neighbours get numbers that have nothing in common.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

void store_number(Tensor& cells, std::int64_t at, std::uint64_t hash, CheckNumbers which, std::int64_t below) {
  const ElementType type = cells.type();
  auto pick = [&](std::uint64_t count) { return static_cast<std::int64_t>((hash >> 8) % count); };
  const bool negative = which == CheckNumbers::mixed && (hash & 1) != 0 && below == 0;
  if (is_float(type)) {
    constexpr double step = 1.0 / 64;
    double number = below > 0 ? static_cast<double>(pick(static_cast<std::uint64_t>(below)))
                              : step * static_cast<double>(1 + pick(255));
    cells.store_f64(at, negative ? -number : number);
  } else if (is_bool(type)) {
    cells.store_i64(at, pick(2));
  } else {
    const std::uint64_t count = below > 0 ? static_cast<std::uint64_t>(below) : which == CheckNumbers::mixed ? 101 : 7;
    std::int64_t number = pick(count) + (below > 0 ? 0 : 1);
    if (negative && info(type).is_signed) number = -number;
    cells.store_i64(at, number);
  }
}

// The operands whose cells the coordinates of this operator's reads are made of.
void note_coordinates(const Operator& op, std::vector<std::int64_t>& found) {
  for (const Access& access : op.reads)
    for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis) {
      if (!access.coordinates[axis]) continue;
      const std::int64_t extent = op.operands[access.tensor].shape[axis];
      for (CellId id : reachable_from(op.exprs, {*access.coordinates[axis]})) {
        if (op.exprs[id].op != CellOp::read) continue;
        std::int64_t& known = found[op.reads[op.exprs[id].attribute].tensor];
        known = known == 0 ? extent : std::min(known, extent);
      }
    }
}

}  // namespace

TensorPart numbered_part(ElementType element, Box box, std::size_t tensor, CheckNumbers which, std::int64_t below) {
  TensorPart part = blank_part(element, std::move(box));
  part.cells.bound = Tensor();  // exact
  std::int64_t at = 0;
  auto p = first_point(part.box);
  for (bool more = p.has_value(); more; more = next_point(part.box, *p), ++at) {
    std::uint64_t hash = mixed(tensor * 2 + (which == CheckNumbers::mixed ? 1 : 0) + 1);
    for (std::int64_t x : *p) hash = mixed(hash + static_cast<std::uint64_t>(x));
    store_number(part.cells.value, at, hash, which, below);
  }
  return part;
}

std::vector<std::int64_t> coordinate_operands(const Program& program, const Operator& op) {
  std::vector<std::int64_t> found(op.operands.size(), 0);
  if (!op.region()) {
    note_coordinates(op, found);
    return found;
  }
  const Graph& graph = program[op.region()->graph];
  for (const Operation& operation : graph.operations) {
    const std::vector<std::int64_t> inner = coordinate_operands(program, program[operation.op]);
    for (std::size_t k = 0; k < inner.size(); ++k) {
      auto input = static_cast<std::size_t>(std::find(graph.inputs.begin(), graph.inputs.end(), operation.operands[k]) -
                                            graph.inputs.begin());
      if (inner[k] == 0 || input == found.size()) continue;
      found[input] = found[input] == 0 ? inner[k] : std::min(found[input], inner[k]);
    }
  }
  return found;
}

}  // namespace tap::backend
