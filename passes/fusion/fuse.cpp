#include "passes/fusion/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "ir/graph.h"
#include "ir/text_names.h"
#include "passes/plan_problem.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// The operations and groups of a graph, in an order in which everything is written before it is read; as close to the
// old order as possible.
class GroupOrder {
 public:
  GroupOrder(const Graph& graph, const std::vector<MadeGroup>& groups)
      : groups_(groups), node_(graph.operations.size(), 0), waits_(0) {
    std::vector<bool> grouped(graph.operations.size(), false);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (OperationId o : groups[g].operations) {
        TAP_CHECK(!grouped[o.index()], "an operation in two groups");
        grouped[o.index()] = true;
        node_[o.index()] = g;
      }
      position_.push_back(groups[g].operations.back().index());
    }
    for (std::size_t o = 0; o < grouped.size(); ++o) {
      if (grouped[o]) continue;
      node_[o] = position_.size();
      position_.push_back(o);
    }
    connect(graph);
  }

  // For each node in order: its group's number, or its single operation.
  void each(const std::function<void(std::size_t)>& group, const std::function<void(OperationId)>& alone) {
    using Entry = std::pair<std::size_t, std::size_t>;  // place, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::size_t n = 0; n < position_.size(); ++n)
      if (waits_[n] == 0) ready.emplace(position_[n], n);
    std::size_t seen = 0;
    for (; !ready.empty(); ++seen) {
      auto [position, n] = ready.top();
      ready.pop();
      if (n < groups_.size()) group(n);
      else alone(OperationId(position));
      for (std::size_t next : after_[n])
        if (--waits_[next] == 0) ready.emplace(position_[next], next);
    }
    TAP_CHECK(seen == position_.size(), "groups depend on each other in a cycle");
  }

 private:
  void connect(const Graph& graph) {
    DefUse uses = def_use(graph);
    waits_.assign(position_.size(), 0);
    after_.resize(position_.size());
    for (std::size_t v = 0; v < graph.values.size(); ++v)
      for (OperationId from : uses.writers[v])
        for (OperationId to : uses.readers[v]) {
          std::size_t a = node_[from.index()], b = node_[to.index()];
          if (a == b) continue;
          after_[a].push_back(b);
          ++waits_[b];
        }
  }

  const std::vector<MadeGroup>& groups_;
  std::vector<std::size_t> node_;      // by operation: its group, or, after the groups, a node of its own
  std::vector<std::size_t> position_;  // by node: its old position; for a group, that of its last operation
  std::vector<std::size_t> waits_;
  std::vector<std::vector<std::size_t>> after_;
};

class FusionApplier : PlanApplier {
 public:
  FusionApplier(const Program& program, const Caution& caution) : PlanApplier(program, "fuse"), caution_(caution) {}

  PlannedResult run(const Plan& plan) {
    return each<PlannedFusion>(plan, [this](const PlannedFusion& fusion) { apply(fusion); });
  }

 private:
  void apply(const PlannedFusion& fusion) {
    std::optional<GraphId> graph;
    std::vector<OperationId> operations;
    for (const std::string& name : fusion.operations) {
      auto location = find(name);
      if (!location) return;
      if (graph && *graph != location->graph)
        return problem(fmt::format("`{}` and `{}` are in different graphs", fusion.operations[0], name));
      graph = location->graph;
      operations.push_back(location->operation);
    }
    if (operations.empty()) return problem("a group without operations");
    const GroupMaker maker(program(), program()[*graph], caution_);
    auto over = dims_of(fusion, *graph, operations, maker);
    if (!over) return;
    GroupOutcome outcome = maker.make(std::move(operations), *over);
    if (auto* refusal = std::get_if<Refusal>(&outcome)) return problem(refusal->reason);
    auto& made = std::get<MadeGroup>(outcome);
    remark_recomputation(*graph, made);
    const Program before = program();
    std::vector<MadeGroup> groups;
    groups.push_back(std::move(made));
    step(before, *graph, with_groups(program(), *graph, std::move(groups)));
  }

  // The group's dims in its last operation. Reports unknown ones.
  std::optional<std::vector<std::uint32_t>> dims_of(const PlannedFusion& fusion, GraphId graph,
                                                    std::vector<OperationId> operations, const GroupMaker& maker) {
    std::sort(operations.begin(), operations.end());
    const OperationId last = operations.back();
    const bool is_copy = !maker.copied_results(operations).empty();
    const Operator op = maker.last_of(operations);
    std::vector<std::uint32_t> over;
    auto refuse = [&](auto found) {
      problem(std::move(found));
      return std::nullopt;
    };
    for (const std::string& name : fusion.dims) {
      auto dim = find_dim(op, name);
      if (!dim && is_copy)
        return refuse(
            fmt::format("the group has no dim `{}`: several operations write `{}`, so its dims are the axes "
                        "of `{}`, {}",
                        name, op.name, op.name, joined(op.dim_names())));
      if (!dim) return refuse(no_dim(program(), {graph, last}, 0, name_of(program()[graph], last), name));
      if (op.dims[*dim].keep)
        return refuse(fmt::format("`{}` cannot be a dim of the group: it is declared `keep`", name));
      if (op.dims[*dim].role == DimRole::counter)
        return refuse(fmt::format("`{}` cannot be a dim of the group: it is the counter of an iterate", name));
      if (std::find(over.begin(), over.end(), *dim) != over.end())
        return refuse(fmt::format("`{}` is named twice", name));
      over.push_back(*dim);
    }
    if (fusion.dims.empty())
      for (std::uint32_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::parallel) over.push_back(d);
    return over;
  }

  // Remarks if something is computed more often than before.
  void remark_recomputation(GraphId graph, const MadeGroup& made) {
    for (std::size_t k = 0; k < made.operations.size(); ++k)
      if (made.facts.recompute[k] > 1.005)
        remark({"fuse", program()[graph].name, name_of(program()[graph], made.operations[k]),
                fmt::format("is computed {:.2f} times per cell, in blocks of {} points per dim",
                            made.facts.recompute[k], nominal_block)});
  }

  const Caution caution_;
};

}  // namespace

Rebuilt with_groups(Program& program, GraphId graph, std::vector<MadeGroup> groups) {
  program.graphs.reserve(program.graphs.size() + groups.size());  // references to rebuilt graphs must stay valid
  const Graph& before = program[graph];
  Rebuild to(program, graph);
  GroupOrder order(before, groups);
  order.each(
      [&](std::size_t g) {
        MadeGroup& group = groups[g];
        GroupOf why;
        for (OperationId o : group.operations) why.from.push_back({{}, o});
        for (std::size_t k = 0; k < group.copies.size(); ++k) {
          group.inner.operations[group.operations.size() + k].op = OperatorId(program.operators.size());
          program.operators.push_back(std::move(group.copies[k]));
        }
        std::get<RegionBody>(group.op.body).graph = GraphId(program.graphs.size());
        program.graphs.push_back(std::move(group.inner));
        program.operators.push_back(std::move(group.op));
        to.add({OperatorId(program.operators.size() - 1), group.operands, group.results, {}}, std::move(why));
      },
      [&](OperationId o) { to.copy(o); });
  return to.finish();
}

PlannedResult apply_fusions(const Program& program, const Plan& plan, const Caution& caution) {
  return FusionApplier(program, caution).run(plan);
}

PassResult fuse(const Program& program, const PassContext& context) {
  return as_pass_result(program, apply_fusions(program, context.plan, caution_of(context)));
}

}  // namespace tap::passes
