#include "passes/fusion/group_legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ir/graph.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

std::string name(const GroupView& group, std::size_t operation) {
  return "`" + group.graph[group.graph.operations[operation].results[0]].name + "`";
}
Operator operator_of(const GroupView& group, std::size_t operation) {
  return with_author_names(group.program, group.graph.operations[operation]);
}

bool uses(const Projection& projection, std::size_t dim) {
  const auto& rows = projection.start.rows;
  return std::any_of(rows.begin(), rows.end(), [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
}

std::optional<Refusal> why_not_streamed(const GroupView& group, const GroupAnchor& a, const Caution& caution) {
  const Operator op = operator_of(group, a.operation);
  const std::string &dim = op.dims[a.inner_dim].name, own = name(group, a.operation);
  if (!op.reduce()) return Refusal{fmt::format("{} is a group itself and cannot be streamed over {}", own, dim), a.dim};
  if (std::string why = why_not_reassociated(group.program, op, caution); !why.empty())
    return Refusal{fmt::format("{} cannot be streamed over {}: {}", own, dim, why), a.dim};
  if (op.dims[a.inner_dim].range.empty()) return Refusal{fmt::format("{} is empty", dim), a.dim};
  for (const Operation& reader : group.graph.operations)
    for (ValueId v : reader.operands)
      for (ValueId result : group.graph.operations[a.operation].results)
        if (v == result)
          return Refusal{fmt::format("`{}` reads the final value of {} inside the loop over {} that computes {}",
                                     group.graph[reader.results[0]].name, own, dim, own),
                         a.dim};
  Law commutes = group.program[op.reduce()->monoid].laws.commutative;
  for (std::uint32_t d = 0; d < a.inner_dim; ++d)
    if (op.dims[d].role == DimRole::reduction && commutes != Law::proved && commutes != Law::assumed)
      return Refusal{fmt::format("streaming would change the order of the reduction {}, which reduces over `{}` first, "
                                 "and its monoid is not commutative",
                                 own, op.dims[d].name),
                     a.dim};
  return std::nullopt;
}

// A region extends from the first point's writes to the last one's. Without points, the last point would be one before
// the first: t[2*i + j] = x[i, j] at a point j, with i over an empty range, would extend from cell j to cell j - 1.
std::optional<Refusal> why_not_over_empty(const GroupView& group, std::size_t operation, const Access& write,
                                          const std::vector<Range>& spans) {
  for (std::size_t axis = 0; axis < write.projection.rank(); ++axis) {
    const AffineExpr& row = write.projection.start.rows[axis];
    std::int64_t reach = write.projection.shape[axis];
    std::size_t empty = spans.size();
    for (std::size_t d = 0; d < spans.size(); ++d) {
      reach = checked::add(reach, checked::mul(std::abs(row.coefficients[d]), spans[d].size() - 1));
      if (row.coefficients[d] != 0 && spans[d].empty()) empty = d;
    }
    if (reach >= 0 || empty == spans.size()) continue;
    return Refusal{fmt::format("{} is empty at a point of the loop: its dim {} has no points", name(group, operation),
                               operator_of(group, operation).dims[empty].name)};
  }
  return std::nullopt;
}

// A point's region has as many cells as its points write.
std::optional<Refusal> why_not_dense(const GroupView& group, const MovingDemand& windows, std::size_t operation,
                                     const Access& write) {
  const Operator op = operator_of(group, operation);
  std::vector<Range> spans;
  for (const Window& w : windows.operations[operation]) spans.push_back({0, w.length});
  std::int64_t points = 1;
  for (std::size_t d = 0; d < spans.size(); ++d) {
    bool used = uses(write.projection, d);
    if (used) points *= spans[d].size();
    for (const GroupAnchor& a : group.anchors) {
      bool parallel = a.operation == operation && a.inner_dim == d && group.dims[a.dim].role == DimRole::parallel;
      if (parallel && !used && std::count(write.invariant_dims.begin(), write.invariant_dims.end(), d) == 0)
        return Refusal{fmt::format("the writes of {} do not depend on {}", name(group, operation), op.dims[d].name),
                       a.dim};
    }
    if (op.dims[d].role == DimRole::reduction) spans[d] = {0, 1};
  }
  if (auto refusal = why_not_over_empty(group, operation, write, spans)) return refusal;
  for (std::int64_t extent : write.projection.shape) points *= extent;
  if (write.projection.bounds(Box{spans}).size() == points) return std::nullopt;
  return Refusal{fmt::format("the cells of {} that one point writes have gaps", name(group, operation))};
}

std::optional<Refusal> why_not_writable_by_points(const GroupView& group, const MovingDemand& windows,
                                                  std::size_t operation) {
  const Operator op = operator_of(group, operation);
  for (const Constraint& c : op.constraints) {
    bool reduced = false;
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      reduced |= op.dims[d].role == DimRole::reduction && c.expr.coefficients[d] != 0;
    if (!reduced) return Refusal{name(group, operation) + " writes only under a condition"};
  }
  for (const GroupAnchor& a : group.anchors) {
    Window point{AffineExpr::variable(group.dims.size(), a.dim), 1};
    if (a.operation != operation || windows.operations[operation][a.inner_dim] == point) continue;
    return Refusal{fmt::format("{} is read outside the group, and inside it at different points of {}",
                               name(group, operation), group.dims[a.dim].name),
                   a.dim};
  }
  for (const Access& write : op.writes)
    if (auto refusal = why_not_dense(group, windows, operation, write)) return refusal;
  return std::nullopt;
}

}  // namespace

bool writes_result(const Graph& inner, std::size_t operation) {
  const auto& written = inner.operations[operation].results;
  return std::any_of(written.begin(), written.end(), [&](ValueId v) {
    return std::find(inner.outputs.begin(), inner.outputs.end(), v) != inner.outputs.end();
  });
}

std::optional<Refusal> why_not_streamed(const GroupView& group, const Caution& caution) {
  for (const GroupAnchor& a : group.anchors)
    if (group.dims[a.dim].role == DimRole::reduction)
      if (auto refusal = why_not_streamed(group, a, caution)) return refusal;
  return std::nullopt;
}

std::optional<Refusal> why_not_writable_by_points(const GroupView& group, const MovingDemand& windows) {
  std::map<ValueId, std::size_t> writes;
  for (const Operation& operation : group.graph.operations)
    for (const Access& write : group.program[operation.op].writes) ++writes[operation.results[write.tensor]];
  for (ValueId v : group.graph.outputs)
    if (writes[v] > 1)
      return Refusal{
          fmt::format("`{}` is written in {} parts that do not form one region", group.graph[v].name, writes[v])};
  for (std::size_t k = 0; k < group.graph.operations.size(); ++k)
    if (writes_result(group.graph, k))
      if (auto refusal = why_not_writable_by_points(group, windows, k)) return refusal;
  return std::nullopt;
}

std::optional<Refusal> why_not_once(const GroupView& group, const MovingDemand& windows) {
  for (std::size_t k = 0; k < group.graph.operations.size(); ++k) {
    const Operator op = operator_of(group, k);
    if (op.map() || writes_result(group.graph, k)) continue;
    for (std::uint32_t g = 0; g < group.dims.size(); ++g) {
      if (group.dims[g].role != DimRole::parallel || group.dims[g].range.size() <= 1) continue;
      const auto& spans = windows.operations[k];
      bool follows =
          std::any_of(spans.begin(), spans.end(), [&](const Window& w) { return w.start.coefficients[g] != 0; });
      if (follows) continue;
      std::string reduced;
      for (const IndexDim& d : op.dims)
        if (d.role == DimRole::reduction) reduced += (reduced.empty() ? "" : ", ") + d.name;
      const std::string& dim = group.dims[g].name;
      return Refusal{
          fmt::format("every point of {} reads the final {}, whose loop over {} cannot be nested in the loop over {}",
                      dim, name(group, k), reduced.empty() ? "its dims" : reduced, dim),
          g};
    }
  }
  return std::nullopt;
}

}  // namespace tap::passes
