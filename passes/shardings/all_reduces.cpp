#include "passes/shardings/all_reduces.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/rounding.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/tensor_bytes.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

// Measured (docs/dev/results/2026-11-28-all-reduce-in-rounds.md): in jobs, rounds of smaller results mostly take 0.4 to 0.8
// of the time; from 48 KiB on slices are faster. On threads, rounds of more than this lose ever more.
constexpr double most_bytes = 8192;

}  // namespace

bool is_needed_again(const Program& program, const Graph& graph, ValueId value) {
  return &graph != &program[program.main] || std::ranges::any_of(graph.operations, [&](const Operation& operation) {
    return std::ranges::find(operation.operands, value) != operation.operands.end();
  });
}

Rounds rounds_of_all_reduce(std::int64_t devices, double bytes, bool in_order) {
  if (bytes > most_bytes) return {};
  Rounds rounds;
  for (std::int64_t group : {2, 3})
    for (; devices % group == 0; devices /= group) rounds.push_back(group);
  if (devices != 1 || (in_order && rounds.size() > 1)) return {};
  return rounds;
}

std::int64_t messages_of(const Rounds& rounds) {
  std::int64_t messages = 0;
  for (std::int64_t group : rounds) messages += group - 1;
  return messages;
}

bool combines_in_groups(const Program& program, const std::string& monoid, ElementType element,
                        const Caution& caution) {
  if (caution.fast_reduce) return true;
  auto is_meant = [&](const Monoid& one) {
    auto alike = [&](const MonoidComponent& component) { return is_float(component.type) == is_float(element); };
    return one.name == monoid && std::ranges::any_of(one.components, alike);
  };
  auto is_exact = [&](const Monoid& one) { return !is_meant(one) || !rounds(one); };
  return std::ranges::any_of(program.monoids, is_meant) && std::ranges::all_of(program.monoids, is_exact);
}

Rounds rounds_of_site(const Program& program, const Graph& graph, const SiteShardings& site, const AxisRef& over,
                      const Caution& caution) {
  const Operation& operation = graph[site.site.operations.front()];
  const Operator& op = program[operation.op];
  const Mesh& mesh = program[site.mesh];
  if (site.site.operations.size() > 1 || !op.reduce() || is_combined_at_once(op, site, mesh, over)) return {};
  if (std::ranges::find(site.factors, Axes{over}) == site.factors.end()) return {};
  Rounds rounds;
  for (std::size_t r = 0; r < site.results.size(); ++r) {
    const Sharding& computed = site.results[r];
    const ValueId value = site.site.results[r];
    const TensorType& type = graph[value].type;
    if (std::ranges::find(computed.unreduced, over) == computed.unreduced.end()) return {};
    if (!is_needed_again(program, graph, value)) return {};
    // With partials along several axes, each axis has its combination.
    const bool in_order = computed.unreduced.size() > 1 ||
                          !combines_in_groups(program, computed.unreduced_monoid, type.element, caution);
    Rounds own = rounds_of_all_reduce(size_of(mesh, over),
                                      total_bytes({type.element, local_shape(mesh, computed, type.shape)}), in_order);
    if (own.empty()) return {};
    rounds = std::move(own);
  }
  return rounds;
}

bool is_combined_at_once(const Operator& op, const SiteShardings& site, const Mesh& mesh, const AxisRef& over) {
  const std::vector<Factor>& factors = site.site.factors.factors;
  const auto f = static_cast<std::size_t>(std::ranges::find(site.factors, Axes{over}) - site.factors.begin());
  if (f == factors.size() || !factors[f].dim || factors[f].size > size_of(mesh, over)) return false;
  auto is_reduced = [](const IndexDim& dim) { return dim.role == DimRole::reduction; };
  if (!op.reduce() || std::ranges::count_if(op.dims, is_reduced) != 1 || !is_reduced(op.dims[*factors[f].dim]))
    return false;
  auto cells = [](const TensorType& type) { return static_cast<double>(element_count(type.shape)); };
  double moved = 0, combined = 0;
  for (const Access& read : op.reads) {
    auto runs_along = [&](const AffineExpr& row) { return row.coefficients[*factors[f].dim] != 0; };
    if (std::ranges::any_of(read.projection.start.rows, runs_along)) moved += cells(op.operands[read.tensor]);
  }
  for (const TensorType& type : op.results) combined += cells(type) * static_cast<double>(factors[f].size);
  return moved <= combined;
}

}  // namespace tap::passes
