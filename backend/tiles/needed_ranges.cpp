#include "backend/tiles/needed_ranges.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

using Ranges = std::vector<NeededRange>;

// The dim that a row consists of, plus a constant.
std::optional<std::size_t> only_dim(const AffineExpr& row) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < row.coefficients.size(); ++d) {
    if (row.coefficients[d] == 0) continue;
    if (found || row.coefficients[d] != 1) return {};
    found = d;
  }
  return found;
}

// The weaker of two bounds, if they differ by a constant.
std::optional<AffineExpr> weaker(const std::optional<AffineExpr>& a, const std::optional<AffineExpr>& b, bool upper) {
  if (!a || !b || a->coefficients != b->coefficients) return {};
  return (a->offset < b->offset) == upper ? b : a;
}
NeededRange hull(const NeededRange& a, const NeededRange& b) {
  return {weaker(a.lo, b.lo, false), weaker(a.hi, b.hi, true)};
}

std::optional<AffineExpr> shifted(std::optional<AffineExpr> e, std::int64_t by) {
  if (e) e->offset += by;
  return e;
}

class Backward {
 public:
  Backward(const GroupView& group, const MovingDemand& windows)
      : group_(group), windows_(windows), needed_(group.graph.values.size()) {}

  std::vector<Ranges> run() {
    const Graph& graph = group_.graph;
    std::vector<Ranges> result(graph.operations.size());
    for (ValueId v : graph.outputs) need_all(v);
    for (std::size_t o = graph.operations.size(); o-- > 0;) {
      const Operation& operation = graph.operations[o];
      const Operator& op = group_.program[operation.op];
      result[o].resize(op.dims.size());
      if (!windows_.demanded[o]) continue;
      if (op.region() || op.kernel()) {
        for (ValueId v : operation.operands) need_all(v);
        continue;
      }
      for (std::size_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::parallel) result[o][d] = by_results(operation, op, d);
      Ranges visited = result[o];
      for (const Constraint& constraint : op.constraints) restrict(visited, constraint, windows_.operations[o]);
      for (const Access& read : op.reads) add_read(operation.operands[read.tensor], read, visited);
    }
    return result;
  }

 private:
  void need_all(ValueId v) { needed_[v.index()] = Ranges(group_.graph[v].type.shape.size()); }

  NeededRange by_results(const Operation& operation, const Operator& op, std::size_t dim) const {
    std::optional<NeededRange> all;
    for (const Access& write : op.writes) {
      const auto& needed = needed_[operation.results[write.tensor].index()];
      if (!needed) continue;
      NeededRange one;
      for (std::size_t axis = 0; axis < needed->size(); ++axis) {
        const AffineExpr& row = write.projection.start.rows[axis];
        if (only_dim(row) != dim || write.projection.shape[axis] != 1) continue;
        one = {shifted((*needed)[axis].lo, -row.offset), shifted((*needed)[axis].hi, -row.offset)};
      }
      all = all ? hull(*all, one) : one;
    }
    return all.value_or(NeededRange{});
  }

  // A bound of a dim by others: these are windows of the group's point.
  void restrict(Ranges& ranges, const Constraint& constraint, const std::vector<Window>& windows) const {
    if (constraint.comparison == Comparison::equal_zero) return;
    const auto& c = constraint.expr.coefficients;
    AffineExpr most = AffineExpr::constant(group_.dims.size(), constraint.expr.offset);  // of all terms but one dim's
    for (std::size_t d = 0; d < c.size(); ++d) {
      if (c[d] != 1 && c[d] != -1) continue;
      AffineExpr rest = most;
      bool known = true;
      for (std::size_t e = 0; e < c.size(); ++e) {
        if (e == d || c[e] == 0) continue;
        known = known && windows[e].length > 0;
        rest = rest + scale(windows[e].start, c[e]);
        if (c[e] > 0) rest.offset += c[e] * (windows[e].length - 1);
      }
      if (!known || rest.is_constant() || uses_steps(rest)) continue;
      if (c[d] == 1) ranges[d].lo = scale(rest, -1);
      else ranges[d].hi = shifted(rest, 1);
    }
  }
  bool uses_steps(const AffineExpr& e) const {
    for (std::size_t g = 0; g < group_.dims.size(); ++g)
      if (e.coefficients[g] != 0 && group_.dims[g].role != DimRole::parallel) return true;
    return false;
  }

  void add_read(ValueId v, const Access& read, const Ranges& visited) {
    Ranges ranges(group_.graph[v].type.shape.size());
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
      const AffineExpr& row = read.projection.start.rows[axis];
      auto dim = only_dim(row);
      if (!dim || (axis < read.coordinates.size() && read.coordinates[axis])) continue;
      ranges[axis] = {shifted(visited[*dim].lo, row.offset),
                      shifted(visited[*dim].hi, row.offset + read.projection.shape[axis] - 1)};
    }
    auto& needed = needed_[v.index()];
    if (!needed) {
      needed = std::move(ranges);
      return;
    }
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) (*needed)[axis] = hull((*needed)[axis], ranges[axis]);
  }

  const GroupView& group_;
  const MovingDemand& windows_;
  std::vector<std::optional<Ranges>> needed_;  // by value, by axis; empty: not read so far
};

}  // namespace

std::vector<Ranges> needed_ranges(const GroupView& group, const MovingDemand& windows) {
  return Backward(group, windows).run();
}

}  // namespace tap::backend
