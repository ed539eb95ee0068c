#include "passes/fusion/fuse_auto.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "passes/fusion/fuse.h"
#include "support/byte_size.h"

namespace tap::passes {

using namespace ir;

namespace {

// Graphs whose operations run one after another: main, and the bodies of iterates.
std::vector<bool> sequential_graphs(const Program& program) {
  std::vector<bool> found(program.graphs.size(), false);
  std::vector<GraphId> open{program.main};
  found[program.main.index()] = true;
  while (!open.empty()) {
    GraphId at = open.back();
    open.pop_back();
    for (const Operation& operation : program[at].operations) {
      const RegionBody* region = program[operation.op].region();
      if (!region || region->kind != RegionKind::iterate || found[region->graph.index()]) continue;
      found[region->graph.index()] = true;
      open.push_back(region->graph);
    }
  }
  return found;
}

// Why the value's writers and readers are not in one group.
std::string why_not_fused(const GroupMaker& maker, ValueId value, const FusionLimits& limits) {
  std::vector<OperationId> around = maker.uses().writers[value.index()];
  const auto& readers = maker.uses().readers[value.index()];
  around.insert(around.end(), readers.begin(), readers.end());
  for (OperationId o : around)
    if (maker.program()[maker.graph()[o].op].region()) return "an iterate or a group cannot be part of another group";
  GroupOutcome outcome = maker.make(around, limits.recompute);
  if (auto* refusal = std::get_if<Refusal>(&outcome)) return refusal->reason;
  const GroupFacts& facts = std::get<MadeGroup>(outcome).facts;
  if (facts.inner_bytes > limits.inner_bytes)
    return fmt::format("a point of the group would hold {}, more than {}", byte_size(facts.inner_bytes),
                       byte_size(limits.inner_bytes));
  if (facts.operand_bytes > limits.operand_bytes)
    return fmt::format("a point of the group would read {}, more than {}", byte_size(facts.operand_bytes),
                       byte_size(limits.operand_bytes));
  const Operator last = maker.last_of(around);
  std::vector<std::uint32_t> over;
  for (std::uint32_t d = 0; d < last.dims.size(); ++d)
    if (last.dims[d].role == DimRole::parallel && !last.dims[d].keep) over.push_back(d);
  outcome = maker.make(around, over);
  if (auto* refusal = std::get_if<Refusal>(&outcome)) return refusal->reason;
  return "other groups of its operations move fewer bytes";
}

void remark_unfused(const GroupMaker& maker, const std::vector<std::vector<OperationId>>& groups,
                    const FusionLimits& limits, std::vector<Remark>& remarks) {
  const Graph& graph = maker.graph();
  std::vector<std::size_t> group_of(graph.operations.size(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (OperationId o : groups[g]) group_of[o.index()] = g;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const auto &writers = maker.uses().writers[v], &readers = maker.uses().readers[v];
    if (writers.empty() || readers.empty()) continue;
    std::size_t own = group_of[writers[0].index()];
    auto with_it = [&](OperationId o) { return own < groups.size() && group_of[o.index()] == own; };
    if (std::all_of(writers.begin(), writers.end(), with_it) && std::all_of(readers.begin(), readers.end(), with_it))
      continue;
    remarks.push_back({"", graph.name, graph.values[v].name, why_not_fused(maker, ValueId(v), limits)});
  }
}

}  // namespace

PassResult fuse_auto(const Program& program, const FusionLimits& limits, const Caution& caution) {
  PassResult result{program, {}};
  std::vector<bool> sequential = sequential_graphs(program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    std::vector<MadeGroup> groups;
    if (sequential[g]) {
      GroupMaker maker(program, program.graphs[g], caution);
      std::vector<std::vector<OperationId>> chosen = choose_groups(maker, limits);
      for (const auto& members : chosen) groups.push_back(*group_within(maker, members, limits));
      remark_unfused(maker, chosen, limits, result.remarks);
    }
    if (groups.empty()) {
      result.step.graphs.push_back(untouched(program, GraphId(g)));
      continue;
    }
    Rebuilt rebuilt = with_groups(result.program, GraphId(g), std::move(groups));
    result.program.graphs[g] = std::move(rebuilt.graph);
    result.step.graphs.push_back(std::move(rebuilt.claim));
  }
  remove_unreachable(result.program, result.step);
  return result;
}

PassResult fuse_auto(const Program& program, const PassContext& context) {
  return fuse_auto(program, FusionLimits{}, caution_of(context));
}

}  // namespace tap::passes
