// iterate: a body that computes the next state from the current one, repeated trip count times. It is one operation for
// any trip count.
//
//   v = iterate 50 (w = v0) { step(w, a) }      operands: v0, then a, which the body captures
#include <algorithm>

#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "ir/graph.h"

namespace tap {

using Bound = BodyBuilder::Bound;

ir::Range BodyBuilder::trips_of(const ast::Iterate& node) {
  ir::Range trips{eval_size(elaboration_, env_, node.lo), eval_size(elaboration_, env_, node.hi)};
  if (!node.counter && trips.hi < 0)
    elaboration_.fail(Diagnostic(Code::bad_size, env_[node.hi].span,
                                 "the trip count is " + std::to_string(trips.hi) + "; expected 0 or more"));
  // `t in 1..n` with n = 0 has no trips, just as a reduction over it has no terms.
  trips.hi = std::max(trips.lo, trips.hi);
  countable(elaboration_, trips, join(env_[node.lo].span, env_[node.hi].span));
  return trips;
}

// The body with its outputs. Pre: this is the body, and its inputs so far are the states.
void BodyBuilder::build_trip(const ast::Iterate& node, const std::vector<Bound>& states) {
  std::size_t errors = elaboration_.diagnostics->error_count();
  build(node.body);
  std::vector<ir::ValueId> after;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const ast::Name& name = node.states[i].name;
    Bound value = one_tensor(node.results[i], {name.text}, "one tensor is expected here");
    if (value.type != states[i].type)
      elaboration_.fail(Diagnostic(Code::shape_mismatch, env_[node.results[i]].span,
                                   "the state " + quoted(name.text) + " starts as " + to_string(states[i].type) +
                                       " and becomes " + to_string(value.type) +
                                       "; a state must keep its type and shape")
                            .label(name.span, "it starts here"));
    after.push_back(value.value);
  }
  if (elaboration_.diagnostics->error_count() == errors) annotate({}, {}, node.body);
  if (elaboration_.diagnostics->error_count() > errors) throw Abandoned{};
  graph_.outputs = after;
}

std::vector<Bound> BodyBuilder::iterate(const ast::Iterate& node, ast::ExprId id,
                                        const std::vector<std::string>& names) {
  Span span = env_[id].span;
  ir::Range trips = trips_of(node);
  if (node.results.size() != node.states.size())
    elaboration_.fail(
        Diagnostic(Code::wrong_argument_count, span,
                   "the body of `iterate` must end with one result per state: " + std::to_string(node.states.size()) +
                       " expected; got " + std::to_string(node.results.size())));
  BodyBuilder inner(elaboration_, graph_.name + ".iterate", this);
  inner.env_ = Env::inside(env_);
  inner.counter_depth_ = counter_depth_ + 1;
  if (node.counter) inner.env_.names[node.counter->text] = CounterEntity{counter_depth_, trips, node.counter->span};
  std::vector<Bound> states;
  for (const auto& state : node.states) {
    states.push_back(one_tensor(state.initial, {state.name.text}, "the initial value of a state must be one tensor"));
    inner.declare_input(state.name, states.back().type, {}, false);
  }
  inner.build_trip(node, states);

  ir::Operator op;
  op.name = "iterate";
  std::vector<ir::ValueId> operands;
  for (const Bound& state : states) {
    operands.push_back(state.value);
    op.operands.push_back(state.type);
    op.results.push_back(state.type);
  }
  for (const auto& state : node.states) op.operand_names.push_back(state.name.text);
  op.result_names = op.operand_names;
  for (ir::ValueId outside : inner.captures_) {
    operands.push_back(outside);
    op.operands.push_back(graph_[outside].type);
    op.operand_names.push_back(graph_[outside].name);
  }
  elaboration_.program.graphs.push_back(inner.take_graph());
  elaboration_.provenance.graphs.push_back(std::move(inner.provenance_));
  op.body = ir::RegionBody{ir::RegionKind::iterate, ir::GraphId(elaboration_.program.graphs.size() - 1), trips};
  ir::OperatorId op_id = elaboration_.interner.add(std::move(op));

  std::vector<Bound> results;
  std::vector<ir::ValueId> values;
  for (std::size_t k = 0; k < states.size(); ++k) {
    values.push_back(add_value(k < names.size() ? names[k] : node.states[k].name.text, states[k].type, span));
    results.push_back({values.back(), states[k].type});
  }
  add_operation(op_id, std::move(operands), std::move(values), span);
  return results;
}

}  // namespace tap
