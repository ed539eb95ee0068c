#include "passes/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "ir/operation_names.h"
#include "passes/plan_problem.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// The operations of a graph and the groups that some of them are in, in an order in which everything is written before it is
// read; the old order where that allows.
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
      place_.push_back(groups[g].operations.back().index());
    }
    for (std::size_t o = 0; o < grouped.size(); ++o) {
      if (grouped[o]) continue;
      node_[o] = place_.size();
      place_.push_back(o);
    }
    connect(graph);
  }

  // For each node in order: the number of its group, or its one operation.
  void each(const std::function<void(std::size_t)>& group, const std::function<void(OperationId)>& alone) {
    using Entry = std::pair<std::size_t, std::size_t>;  // place, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::size_t n = 0; n < place_.size(); ++n)
      if (waits_[n] == 0) ready.emplace(place_[n], n);
    std::size_t seen = 0;
    for (; !ready.empty(); ++seen) {
      auto [place, n] = ready.top();
      ready.pop();
      if (n < groups_.size()) group(n);
      else alone(OperationId(place));
      for (std::size_t next : after_[n])
        if (--waits_[next] == 0) ready.emplace(place_[next], next);
    }
    TAP_CHECK(seen == place_.size(), "groups wait for each other in a circle");
  }

 private:
  void connect(const Graph& graph) {
    DefUse uses = def_use(graph);
    waits_.assign(place_.size(), 0);
    after_.resize(place_.size());
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
  std::vector<std::size_t> node_;   // by operation: its group, or after the groups a node of its own
  std::vector<std::size_t> place_;  // by node: where it stood, a group where its last operation did
  std::vector<std::size_t> waits_;
  std::vector<std::vector<std::size_t>> after_;
};

class FusionApplier {
 public:
  FusionApplier(const Program& program, const Plan& plan, const Caution& caution)
      : plan_(plan), caution_(caution), result_{program, {}, {}, {}, {}} {}

  PlannedResult run() {
    for (std::size_t d = 0; d < plan_.decisions.size(); ++d)
      if (auto* fusion = std::get_if<PlannedFusion>(&plan_.decisions[d])) apply(d, *fusion);
    return std::move(result_);
  }

 private:
  void apply(std::size_t decision, const PlannedFusion& fusion) {
    auto problem = [&](std::string message) { result_.problems.push_back({decision, std::move(message)}); };
    Program& program = result_.program;
    OperationFinder finder(program);
    std::optional<GraphId> graph;
    std::vector<OperationId> operations;
    for (const std::string& name : fusion.operations) {
      auto place = finder.find(program.main, name);
      if (!place) return result_.problems.push_back(no_operation(program, decision, name));
      if (graph && *graph != place->graph)
        return problem(fmt::format("`{}` and `{}` are in different graphs", fusion.operations[0], name));
      graph = place->graph;
      operations.push_back(place->operation);
    }
    if (operations.empty()) return problem("a group of no operations");
    OperationId last = *std::max_element(operations.begin(), operations.end());
    const Operator op = in_own_words(program, program[*graph][last]);
    std::vector<std::uint32_t> over;
    for (const std::string& name : fusion.dims) {
      auto dim = find_dim(op, name);
      if (!dim)
        return result_.problems.push_back(
            no_dim(op, decision, program[*graph][program[*graph][last].results[0]].name, name));
      if (op.dims[*dim].keep || op.dims[*dim].role == DimRole::counter)
        return problem(fmt::format("`{}` cannot be shared by a group", name));
      if (std::find(over.begin(), over.end(), *dim) != over.end())
        return problem(fmt::format("`{}` is named twice", name));
      over.push_back(*dim);
    }
    if (fusion.dims.empty())
      for (std::uint32_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::parallel) over.push_back(d);
    GroupOutcome outcome = GroupMaker(program, program[*graph], caution_).make(std::move(operations), over);
    if (auto* refusal = std::get_if<Refusal>(&outcome)) return problem(refusal->reason);
    auto& made = std::get<MadeGroup>(outcome);
    remark(*graph, made);
    replace(*graph, std::move(made));
  }

  // That something is computed more often than before is worth a word.
  void remark(GraphId graph, const MadeGroup& made) {
    for (std::size_t k = 0; k < made.operations.size(); ++k)
      if (made.facts.recompute[k] > 1.005)
        result_.remarks.push_back({"fuse", result_.program[graph].name,
                                   name_of(result_.program[graph], made.operations[k]),
                                   fmt::format("is computed {:.2f} times over, in blocks of {} points per dim",
                                               made.facts.recompute[k], nominal_block)});
  }

  void replace(GraphId graph, MadeGroup made) {
    Program& program = result_.program;
    std::size_t graphs = program.graphs.size();
    Step step{"fuse", {}, {}, {}};
    std::vector<MadeGroup> groups;
    groups.push_back(std::move(made));
    Rebuilt rebuilt = with_groups(program, graph, std::move(groups));
    for (std::size_t g = 0; g < graphs; ++g)
      step.graphs.push_back(GraphId(g) == graph ? std::move(rebuilt.claim) : untouched(program, GraphId(g)));
    program.graphs[graph.index()] = std::move(rebuilt.graph);
    drop_unreached(program, step);
    result_.steps.push_back(std::move(step));
    result_.stages.push_back(program);
  }

  const Plan& plan_;
  const Caution caution_;
  PlannedResult result_;
};

}  // namespace

Rebuilt with_groups(Program& program, GraphId graph, std::vector<MadeGroup> groups) {
  program.graphs.reserve(program.graphs.size() + groups.size());  // what is rebuilt is referred to meanwhile
  const Graph& before = program[graph];
  Rebuild to(program, graph);
  GroupOrder order(before, groups);
  order.each(
      [&](std::size_t g) {
        MadeGroup& group = groups[g];
        GroupOf why;
        for (OperationId o : group.operations) why.from.push_back({{}, o});
        std::get<RegionBody>(group.op.body).graph = GraphId(program.graphs.size());
        program.graphs.push_back(std::move(group.inner));
        program.operators.push_back(std::move(group.op));
        to.add({OperatorId(program.operators.size() - 1), group.operands, group.results, {}}, std::move(why));
      },
      [&](OperationId o) { to.copy(o); });
  return to.finish();
}

GraphClaim untouched(const Program& program, GraphId graph) {
  return claim_of_part(graph, Selection(program[graph], true));
}

void drop_unreached(Program& program, Step& step) {
  std::vector<GraphId> place = drop_unreached(program);
  std::vector<GraphClaim> kept;
  for (GraphClaim& claim : step.graphs) {
    claim.after = place[claim.after.index()];
    if (claim.after.valid()) kept.push_back(std::move(claim));
  }
  step.graphs = std::move(kept);
}

PlannedResult apply_fusions(const Program& program, const Plan& plan, const Caution& caution) {
  return FusionApplier(program, plan, caution).run();
}

PassResult as_pass_result(const Program& before, PlannedResult planned) {
  PassResult result{std::move(planned.program), {}, std::move(planned.remarks), std::move(planned.problems)};
  if (planned.steps.empty()) {
    for (std::size_t g = 0; g < before.graphs.size(); ++g) result.step.graphs.push_back(untouched(before, GraphId(g)));
    return result;
  }
  for (std::size_t k = 0; k + 1 < planned.steps.size(); ++k)
    result.earlier.push_back({std::move(planned.stages[k]), std::move(planned.steps[k])});
  result.step = std::move(planned.steps.back());
  return result;
}

PassResult fuse(const Program& program, const PassContext& context) {
  return as_pass_result(program, apply_fusions(program, context.plan, caution_of(context)));
}

}  // namespace tap::passes
