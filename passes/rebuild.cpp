#include "passes/rebuild.h"

#include <algorithm>
#include <unordered_map>

#include "ir/graph.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

Rebuild::Rebuild(const Program& before, GraphId graph) : from_(before[graph]), id_(graph), values_(from_.values) {
  for (std::size_t v = 0; v < values_.size(); ++v) forwards_.push_back(ValueId{v});
}

void Rebuild::copy(OperationId operation) { add(from_[operation], Copied{{{}, operation}}, operation); }

void Rebuild::add(Operation operation, Justification why, std::optional<OperationId> replaced) {
  if (replaced) became_.emplace_back(*replaced, OperationId{operations_.size()});
  operations_.push_back(std::move(operation));
  why_.push_back(std::move(why));
}

ValueId Rebuild::add_value(Value value) {
  ValueId id{values_.size()};
  values_.push_back(std::move(value));
  forwards_.push_back(id);
  return id;
}

void Rebuild::forward(ValueId removed, ValueId kept) {
  TAP_CHECK(now(kept) != removed, "a value that is forwarded to itself");
  forwards_[removed.index()] = kept;
}

ValueId Rebuild::now(ValueId value) const {
  while (forwards_[value.index()] != value) value = forwards_[value.index()];
  return value;
}

void Rebuild::annotate_like(const Graph& other, const std::vector<ValueId>& mapping) {
  const std::size_t first = operations_.size() - other.operations.size();
  for (ShardingGroup group : other.groups) {
    for (ValueId& v : group.values) v = mapping[v.index()];
    groups_.push_back(std::move(group));
  }
  for (const Barrier& barrier : other.barriers) barriers_.push_back({mapping[barrier.value.index()], barrier.kind});
  for (SplitRequest split : other.splits) {
    split.operation = OperationId{first + split.operation.index()};
    if (split.value) split.value = mapping[split.value->index()];
    splits_.push_back(std::move(split));
  }
}

Rebuilt Rebuild::finish() {
  std::vector<bool> mentioned(values_.size(), false);
  Rebuilt made;
  Graph& to = made.graph;
  to.name = from_.name;
  to.inputs = from_.inputs;
  to.outputs = from_.outputs;
  to.operations = std::move(operations_);
  auto each = [&](auto visit) {
    for (std::vector<ValueId>* list : {&to.inputs, &to.outputs})
      for (ValueId& v : *list) visit(v);
    for (Operation& operation : to.operations) {
      for (ValueId& v : operation.operands) visit(v);
      for (ValueId& v : operation.results) visit(v);
    }
  };
  each([&](ValueId& v) { mentioned[(v = now(v)).index()] = true; });
  copy_annotations(to, mentioned);

  std::vector<ValueId> mapping(values_.size());
  for (std::size_t v = 0; v < values_.size(); ++v) {
    if (!mentioned[v]) continue;
    mapping[v] = ValueId{to.values.size()};
    to.values.push_back(std::move(values_[v]));
    made.claim.values.push_back(v < from_.values.size() ? std::optional(ValueRef{{}, ValueId{v}}) : std::nullopt);
  }
  auto placed = [&](ValueId& v) { v = mapping[v.index()]; };
  each(placed);
  for (ShardingGroup& group : to.groups)
    for (ValueId& v : group.values) placed(v);
  for (Barrier& barrier : to.barriers) placed(barrier.value);
  for (SplitRequest& split : to.splits)
    if (split.value) placed(*split.value);
  made.claim.after = made.claim.before = id_;
  made.claim.operations = std::move(why_);
  made.claim.copies = std::move(copies_);
  return made;
}

// For values and operations that still exist.
void Rebuild::copy_annotations(Graph& to, const std::vector<bool>& mentioned) const {
  for (const auto* groups : {&from_.groups, &groups_})
    for (const ShardingGroup& group : *groups) {
      ShardingGroup left;
      for (ValueId v : group.values)
        if (mentioned[now(v).index()]) left.values.push_back(now(v));
      if (!left.values.empty()) to.groups.push_back(std::move(left));
    }
  for (const auto* barriers : {&from_.barriers, &barriers_})
    for (const Barrier& barrier : *barriers)
      if (mentioned[now(barrier.value).index()]) to.barriers.push_back({now(barrier.value), barrier.kind});
  for (const SplitRequest& split : from_.splits)
    for (auto [old, made] : became_) {
      if (old != split.operation) continue;
      to.splits.push_back(split);
      to.splits.back().operation = made;
      if (split.value) to.splits.back().value = now(*split.value);
    }
  for (SplitRequest split : splits_) {
    if (split.value) split.value = now(*split.value);
    to.splits.push_back(std::move(split));
  }
}

GraphClaim claim_of_part(GraphId graph, const Selection& selection) {
  GraphClaim claim;
  claim.after = claim.before = graph;
  for (std::size_t v = 0; v < selection.values.size(); ++v)
    if (selection.values[v]) claim.values.push_back(ValueRef{{}, ValueId{v}});
  for (std::size_t i = 0; i < selection.operations.size(); ++i)
    if (selection.operations[i]) claim.operations.push_back(Copied{{{}, OperationId{i}}});
  return claim;
}

namespace {

// Merges equal operators that a pass added, so that operations that shared one still do.
void share_added_operators(Program& program, std::size_t first) {
  std::unordered_multimap<std::size_t, OperatorId> by_hash;
  std::vector<OperatorId> mapping;
  for (std::size_t k = 0; k < program.operators.size(); ++k) {
    mapping.push_back(OperatorId{k});
    if (k < first) continue;
    std::size_t hash = structural_hash(program.operators[k]);
    auto [begin, end] = by_hash.equal_range(hash);
    auto same = std::find_if(begin, end, [&](const auto& at) { return program[at.second] == program.operators[k]; });
    if (same != end) mapping[k] = same->second;
    else by_hash.emplace(hash, OperatorId{k});
  }
  for (Graph& graph : program.graphs)
    for (Operation& operation : graph.operations) operation.op = mapping[operation.op.index()];
}

}  // namespace

std::vector<bool> bodies_of_groups(const Program& program) {
  std::vector<bool> bodies(program.graphs.size(), false);
  for (const Operator& op : program.operators)
    if (const RegionBody* region = op.region(); region && region->kind == RegionKind::group)
      bodies[region->graph.index()] = true;
  return bodies;
}

PassResult rewrite_graphs(const Program& program, const RewriteGraph& rewrite) {
  PassResult result{program, {}, {}};
  std::vector<Graph> graphs;
  const std::vector<bool> bodies = bodies_of_groups(program);
  auto untouched = [&](GraphId id) {
    Rebuild to(program, id);
    for (std::size_t o = 0; o < program[id].operations.size(); ++o) to.copy(OperationId{o});
    return to.finish();
  };
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    Rebuilt made = bodies[g] ? untouched(GraphId{g}) : rewrite(result.program, GraphId{g}, result.remarks);
    graphs.push_back(std::move(made.graph));
    result.step.graphs.push_back(std::move(made.claim));
  }
  result.program.graphs = std::move(graphs);
  share_added_operators(result.program, program.operators.size());
  std::vector<GraphId> mapping = remove_unreachable(result.program);
  std::vector<GraphClaim> claims;
  for (GraphClaim& claim : result.step.graphs) {
    claim.after = mapping[claim.after.index()];
    if (claim.after.valid()) claims.push_back(std::move(claim));
  }
  result.step.graphs = std::move(claims);
  return result;
}

namespace {

struct Reached {
  std::vector<bool> graphs, operators;
};
Reached reached_from_main(const Program& program) {
  Reached reached{std::vector<bool>(program.graphs.size(), false), std::vector<bool>(program.operators.size(), false)};
  std::vector<GraphId> open;
  auto reach = [&](GraphId graph) {
    if (!reached.graphs[graph.index()]) open.push_back(graph);
    reached.graphs[graph.index()] = true;
  };
  reach(program.main);
  while (!open.empty()) {
    GraphId graph = open.back();
    open.pop_back();
    for (const Operation& operation : program[graph].operations) {
      reached.operators[operation.op.index()] = true;
      const RegionBody* region = program[operation.op].region();
      if (!region) continue;
      reach(region->graph);
      for (const Alternative& alternative : region->alternatives) reach(alternative.graph);
    }
  }
  return reached;
}

// Keeps the reached entries of a table; returns the new id by old number.
template <class Id, class T>
std::vector<Id> keep(std::vector<T>& table, const std::vector<bool>& reached) {
  std::vector<Id> mapping(table.size());
  std::vector<T> kept;
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (!reached[k]) continue;
    mapping[k] = Id{kept.size()};
    kept.push_back(std::move(table[k]));
  }
  table = std::move(kept);
  return mapping;
}

}  // namespace

std::vector<GraphId> remove_unreachable(Program& program) {
  Reached reached = reached_from_main(program);
  std::vector<GraphId> graphs = keep<GraphId>(program.graphs, reached.graphs);
  std::vector<OperatorId> operators = keep<OperatorId>(program.operators, reached.operators);
  program.main = graphs[program.main.index()];
  for (Graph& graph : program.graphs)
    for (Operation& operation : graph.operations) operation.op = operators[operation.op.index()];
  for (Operator& op : program.operators) {
    auto* region = std::get_if<RegionBody>(&op.body);
    if (!region) continue;
    region->graph = graphs[region->graph.index()];
    for (Alternative& alternative : region->alternatives) alternative.graph = graphs[alternative.graph.index()];
  }
  return graphs;
}

std::vector<bool> annotated_values(const Graph& graph) {
  std::vector<bool> annotated(graph.values.size(), false);
  for (const ShardingGroup& group : graph.groups)
    for (ValueId v : group.values) annotated[v.index()] = true;
  for (const Barrier& barrier : graph.barriers) annotated[barrier.value.index()] = true;
  for (const SplitRequest& split : graph.splits)
    for (ValueId v : graph[split.operation].results) annotated[v.index()] = true;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].sharding) annotated[v] = true;
  return annotated;
}

std::string name_of(const Graph& graph, OperationId operation) {
  const std::vector<ValueId>& results = graph[operation].results;
  return results.empty() ? "an operation without results" : graph[results[0]].name;
}

}  // namespace tap::passes
