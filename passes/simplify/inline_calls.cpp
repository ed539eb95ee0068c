#include "passes/simplify/inline_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"
#include "passes/operator_edit.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// Names of one graph's values, kept unique.
class Names {
 public:
  void take(const std::string& name) { taken_.insert(name); }
  std::string fresh(const std::string& base) {
    if (taken_.insert(base).second) return base;
    // Taken names stay taken, so the search continues where it last ended.
    int& number = numbers_.try_emplace(base, 2).first->second;
    while (true)
      if (auto [name, fresh] = taken_.insert(fmt::format("{}#{}", base, number++)); fresh) return *name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> numbers_;  // by the name that was expected: the next one to try
};

// Visits every reference to a value in a graph.
template <class Visit>
void for_each_value(Graph& graph, Visit visit) {
  for (ValueId& v : graph.inputs) visit(v);
  for (ValueId& v : graph.outputs) visit(v);
  for (Operation& operation : graph.operations) {
    for (ValueId& v : operation.operands) visit(v);
    for (ValueId& v : operation.results) visit(v);
  }
  for (ShardingGroup& group : graph.groups)
    for (ValueId& v : group.values) visit(v);
  for (Barrier& barrier : graph.barriers) visit(barrier.value);
}

// Rewrites one graph: appends operations to `out_`; for a call, those of its graph.
class Inliner {
 public:
  explicit Inliner(const Program& program) : program_(program) {}
  Graph run(GraphId graph);
  GraphClaim take_claim() { return std::move(claim_); }

 private:
  // The correspondence of values and operations of one (original) graph to `out_`.
  struct InlinedGraph {
    const Graph& graph;
    decltype(OperationRef::path) path;  // of enclosing calls
    std::vector<ValueId> values;
    std::vector<std::optional<Sharding>> input_use;  // by value: the sharding of this use, for a call's operand
    std::vector<std::size_t> begin;                  // by operation: the first one in `out_`
    std::string called = {};                         // the called operator; empty for the graph itself
  };

  void copy_operations(InlinedGraph& frame);
  void copy_operation(InlinedGraph& frame, OperationId id);
  void copy_call(InlinedGraph& frame, OperationId id, GraphId callee);
  void copy_notes(const InlinedGraph& frame);
  void copy_split(const InlinedGraph& frame, SplitRequest split);
  bool has_dim(const Operation& operation, const SplitRequest& split) const;
  std::string name_in_call(const InlinedGraph& frame, const Operation& operation) const;
  void drop_unused_values();
  bool has_notes(const InlinedGraph& frame, ValueId value) const;
  void bind_result(InlinedGraph& frame, ValueId result, ValueId source);
  OperatorId identity_operator(const TensorType& type);

  const Program& program_;
  Graph out_;
  GraphClaim claim_;
  Names names_;

 public:
  std::vector<Operator> added;  // operators that the program lacks
};

Graph Inliner::run(GraphId id) {
  const Graph& graph = program_[id];
  out_ = {};
  claim_ = {};
  claim_.before = id;
  names_ = {};
  out_.name = graph.name;
  out_.values = graph.values;
  out_.inputs = graph.inputs;
  for (const Value& v : graph.values) names_.take(v.name);
  InlinedGraph frame{graph, {}, {}, {}, {}};
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    frame.values.push_back(ValueId{v});
    claim_.values.push_back(ValueRef{{}, ValueId{v}});
  }
  frame.input_use.resize(graph.values.size());
  copy_operations(frame);
  for (ValueId v : graph.outputs) out_.outputs.push_back(frame.values[v.index()]);
  drop_unused_values();
  return std::move(out_);
}

// Removes aliases, and values without any use.
void Inliner::drop_unused_values() {
  std::vector<bool> used(out_.values.size(), false);
  for_each_value(out_, [&](ValueId& v) { used[v.index()] = true; });
  std::vector<ValueId> mapping(out_.values.size());
  std::vector<Value> kept;
  std::vector<std::optional<ValueRef>> claims;
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    mapping[v] = ValueId{kept.size()};
    kept.push_back(std::move(out_.values[v]));
    claims.push_back(std::move(claim_.values[v]));
  }
  out_.values = std::move(kept);
  claim_.values = std::move(claims);
  for_each_value(out_, [&](ValueId& v) { v = mapping[v.index()]; });
}

void Inliner::copy_operations(InlinedGraph& frame) {
  for (std::size_t i = 0; i < frame.graph.operations.size(); ++i) {
    OperationId id{i};
    frame.begin.push_back(out_.operations.size());
    const RegionBody* region = program_[frame.graph[id].op].region();
    if (region && region->kind == RegionKind::call) {
      copy_call(frame, id, region->graph);
    } else {
      copy_operation(frame, id);
    }
  }
  frame.begin.push_back(out_.operations.size());
  copy_notes(frame);
}

void Inliner::copy_operation(InlinedGraph& frame, OperationId id) {
  const Operation& operation = frame.graph[id];
  Operation copy = operation;
  bool annotated = !operation.operand_shardings.empty();
  copy.operand_shardings.resize(operation.operands.size());
  for (std::size_t k = 0; k < operation.operands.size(); ++k) {
    ValueId v = operation.operands[k];
    copy.operands[k] = frame.values[v.index()];
    if (!copy.operand_shardings[k]) copy.operand_shardings[k] = frame.input_use[v.index()];
    annotated = annotated || copy.operand_shardings[k];
  }
  if (!annotated) copy.operand_shardings.clear();
  for (ValueId& v : copy.results) v = frame.values[v.index()];
  if (!frame.called.empty()) {
    OperationNames own = copy.names ? *copy.names : names_of(program_[copy.op]);
    own.name = name_in_call(frame, operation);
    copy.names = names_if_different(program_[copy.op], std::move(own));
  }
  out_.operations.push_back(std::move(copy));
  claim_.operations.push_back(Copied{{frame.path, id}});
}

// Operations of a call are named after it: `linear` for the one that computes its only result, `linear.sum` for the
// others.
std::string Inliner::name_in_call(const InlinedGraph& frame, const Operation& operation) const {
  const std::string& own = own_name(program_[operation.op], operation.names);
  if (frame.called.empty()) return own;
  const std::vector<ValueId>& outputs = frame.graph.outputs;
  bool is_result = outputs.size() == 1 && operation.results == outputs;
  return is_result ? frame.called : frame.called + "." + own;
}

void Inliner::copy_call(InlinedGraph& frame, OperationId id, GraphId callee) {
  const Operation& call = frame.graph[id];
  const Graph& graph = program_[callee];
  InlinedGraph inner{graph, frame.path, std::vector<ValueId>(graph.values.size()), {}, {}};
  inner.path.push_back(id);
  inner.called = name_in_call(frame, call);
  inner.input_use.resize(graph.values.size());
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    std::size_t v = graph.inputs[k].index();
    inner.values[v] = frame.values[call.operands[k].index()];
    if (!call.operand_shardings.empty()) inner.input_use[v] = call.operand_shardings[k];
    if (!inner.input_use[v]) inner.input_use[v] = frame.input_use[call.operands[k].index()];
  }
  // A result takes the place of the value at the call, unless that is taken: by an operand, or a second result.
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    ValueId& target = inner.values[graph.outputs[k].index()];
    if (target.valid()) continue;
    target = frame.values[call.results[k].index()];
    Value& value = out_.values[target.index()];
    if (!value.sharding) value.sharding = graph[graph.outputs[k]].sharding;
  }
  std::string prefix = call.results.empty() ? graph.name : frame.graph[call.results[0]].name;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (inner.values[v].valid()) continue;
    inner.values[v] = ValueId{out_.values.size()};
    Value copy = graph.values[v];
    copy.name = names_.fresh(prefix + "." + copy.name);
    out_.values.push_back(std::move(copy));
    claim_.values.push_back(ValueRef{inner.path, ValueId{v}});
  }
  copy_operations(inner);
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    ValueId source = inner.values[graph.outputs[k].index()];
    if (source != frame.values[call.results[k].index()]) bind_result(frame, call.results[k], source);
  }
}

// The result is an alias of the source. If only the result has annotations, it must stay a separate value: then the
// source is copied.
void Inliner::bind_result(InlinedGraph& frame, ValueId result, ValueId source) {
  ValueId own = frame.values[result.index()];
  if (!has_notes(frame, result)) {
    frame.values[result.index()] = source;
    return;
  }
  out_.operations.push_back({identity_operator(out_[own].type), {source}, {own}, {}});
  claim_.operations.push_back(WholeCopy{});
}

bool Inliner::has_notes(const InlinedGraph& frame, ValueId value) const {
  const Graph& graph = frame.graph;
  auto is_value = [&](ValueId v) { return v == value; };
  if (out_[frame.values[value.index()]].sharding) return true;
  for (const Barrier& b : graph.barriers)
    if (is_value(b.value)) return true;
  for (const ShardingGroup& g : graph.groups)
    if (std::any_of(g.values.begin(), g.values.end(), is_value)) return true;
  return false;
}

OperatorId Inliner::identity_operator(const TensorType& type) {
  added.push_back(copy_operator(type));
  return OperatorId{program_.operators.size() + added.size() - 1};
}

// Copies the graph's annotations of values and operations to those of `out_`.
void Inliner::copy_notes(const InlinedGraph& frame) {
  auto mapped = [&](ValueId v) { return frame.values[v.index()]; };
  for (ShardingGroup group : frame.graph.groups) {
    for (ValueId& v : group.values) v = mapped(v);
    out_.groups.push_back(std::move(group));
  }
  for (const Barrier& b : frame.graph.barriers) out_.barriers.push_back({mapped(b.value), b.kind});
  for (const SplitRequest& split : frame.graph.splits) copy_split(frame, split);
}

// A split of a call becomes one of each inner operation that writes the value, or has the dim, that it names.
void Inliner::copy_split(const InlinedGraph& frame, SplitRequest split) {
  const std::size_t of = split.operation.index();
  if (split.value) split.value = frame.values[split.value->index()];
  for (std::size_t o = frame.begin[of]; o < frame.begin[of + 1]; ++o) {
    const Operation& operation = out_.operations[o];
    const auto& results = operation.results;
    bool meant = split.value ? std::find(results.begin(), results.end(), *split.value) != results.end()
                             : has_dim(operation, split);
    if (!meant) continue;
    split.operation = OperationId{o};
    out_.splits.push_back(split);
  }
}

// A dim of that name whose range the blocks tile.
bool Inliner::has_dim(const Operation& operation, const SplitRequest& split) const {
  const OperatorId id = operation.op;
  const std::size_t own = program_.operators.size();
  const Operator& op = id.index() < own ? program_[id] : added[id.index() - own];
  Range whole{};
  for (Range block : split.blocks) whole = hull(whole, block);
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (own_dim_name(op, operation.names, d) == split.dim && (op.dims[d].range == whole || op.dims[d].range.empty()))
      return true;
  return false;
}

// Keeps the graphs and operators that main reaches, in the order in which it does.
class Gatherer {
 public:
  explicit Gatherer(const Program& program) : program_(program), inliner_(program) {}

  PassResult run() {
    result_.monoids = program_.monoids;
    result_.meshes = program_.meshes;
    result_.rewrites = program_.rewrites;
    result_.main = add(program_.main);
    return {std::move(result_), std::move(step_)};
  }

 private:
  GraphId add(GraphId id) {
    if (auto it = graphs_.find(id); it != graphs_.end()) return it->second;
    GraphId new_id{result_.graphs.size()};
    graphs_.emplace(id, new_id);
    result_.graphs.emplace_back();
    step_.graphs.emplace_back();
    Graph graph = inliner_.run(id);
    step_.graphs[new_id.index()] = inliner_.take_claim();
    step_.graphs[new_id.index()].after = new_id;
    for (Operation& operation : graph.operations) operation.op = add(operation.op);
    result_.graphs[new_id.index()] = std::move(graph);
    return new_id;
  }

  OperatorId add(OperatorId id) {
    if (auto it = operators_.find(id); it != operators_.end()) return it->second;
    const std::size_t own = program_.operators.size();
    Operator op = id.index() < own ? program_[id] : inliner_.added[id.index() - own];
    if (auto* region = std::get_if<RegionBody>(&op.body)) {
      region->graph = add(region->graph);
      for (Alternative& a : region->alternatives) a.graph = add(a.graph);
    }
    OperatorId new_id{result_.operators.size()};
    operators_.emplace(id, new_id);
    result_.operators.push_back(std::move(op));
    return new_id;
  }

  const Program& program_;
  Inliner inliner_;
  Program result_;
  Step step_;
  std::unordered_map<GraphId, GraphId> graphs_;
  std::unordered_map<OperatorId, OperatorId> operators_;
};

}  // namespace

PassResult inline_calls(const Program& program, const PassContext&) { return Gatherer(program).run(); }

}  // namespace tap::passes
