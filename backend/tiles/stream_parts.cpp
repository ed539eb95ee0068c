#include "backend/tiles/stream_parts.h"

#include <algorithm>
#include <map>

#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// A map with only some writes. Dims that none of them uses have one point.
Operator restricted(const Operator& map, const std::vector<std::uint32_t>& writes) {
  Operator part = map;
  MapBody body;
  part.writes.clear();
  for (std::uint32_t w : writes) {
    part.writes.push_back(map.writes[w]);
    body.values.push_back(map.map()->values[w]);
  }
  part.body = std::move(body);
  for (std::uint32_t d : part.writes[0].invariant_dims) part.dims[d].range = {0, 1};
  return part;
}

// Groups writes by the dims that they do not use, those with the most indices first, since operations with fewer
// indices must not read them later.
std::vector<std::vector<std::uint32_t>> by_indices(const Operator& map) {
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::vector<std::uint32_t>> sorted;
  for (std::uint32_t w = 0; w < map.writes.size(); ++w) {
    std::vector<std::uint32_t> without = map.writes[w].invariant_dims;
    std::sort(without.begin(), without.end());
    sorted[{without.size(), without}].push_back(w);
  }
  std::vector<std::vector<std::uint32_t>> classes;
  for (auto& [key, writes] : sorted) classes.push_back(std::move(writes));
  return classes;
}

Operator identities(const Operator& combine, const Monoid& monoid) {
  Operator map = combine;
  map.operands.clear();
  map.reads.clear();
  map.exprs = {};
  MapBody body;
  for (CellId id : monoid.identity) body.values.push_back(map.exprs.add(monoid.exprs[id]));
  map.body = std::move(body);
  return map;
}

bool can_accumulate_into_result(const Program& program, const Operator& op) {
  if (native_scan(op) || native_scatter(program, op)) return false;
  return std::all_of(op.writes.begin(), op.writes.end(), [](const Access& w) { return w.invariant_dims.empty(); });
}

}  // namespace

StreamParts stream_parts(const Program& program, const Operator& op, const std::vector<bool>& written) {
  StreamedReduction whole = streamed(program, op);
  StreamParts parts;
  parts.accumulates_into_result = can_accumulate_into_result(program, op);
  const Operator begin = identities(whole.combine, program[op.reduce()->monoid]);
  for (const auto& writes : by_indices(whole.combine)) {
    parts.begin.push_back(restricted(begin, writes));
    parts.combine.push_back(restricted(whole.combine, writes));
    for (std::uint32_t w : writes) {
      std::uint32_t result = op.writes[w].tensor;
      bool same = whole.partial.results[result] == op.results[result];
      if (written[result] && !same) parts.finish.push_back(restricted(whole.finish, {w}));
    }
  }
  parts.partial = std::move(whole.partial);
  return parts;
}

}  // namespace tap::backend
