#include "passes/fusion/unroll.h"

#include <fmt/format.h>

#include "ir/graph.h"
#include "passes/fusion/counter.h"
#include "passes/placed.h"
#include "support/check.h"
#include "support/plural.h"

namespace tap::passes {

using namespace ir;

namespace {

// T trips of a body, one after another.
class Unrolled {
 public:
  Unrolled(Program& program, GraphId body, std::size_t states, Range trips, std::int64_t steps)
      : program_(program), body_(program[body]), id_(body), states_(states), trips_(trips), steps_(steps) {}

  // The graph, without a number yet.
  Rebuilt run() {
    to_.name = body_.name;
    std::vector<ValueId> values(body_.values.size());
    for (ValueId v : body_.inputs) {
      values[v.index()] = add(body_[v], v, 0);
      to_.inputs.push_back(values[v.index()]);
    }
    for (std::int64_t s = 0; s < steps_; ++s) values = step(std::move(values), s);
    for (ValueId v : body_.outputs) to_.outputs.push_back(values[v.index()]);
    claim_.before = id_;
    claim_.steps = steps_;
    claim_.first = trips_.lo;
    return {std::move(to_), std::move(claim_)};
  }

 private:
  ValueId add(Value value, ValueId of, std::int64_t step) {
    to_.values.push_back(std::move(value));
    claim_.values.push_back(ValueRef{{}, of, step});
    return ValueId(to_.values.size() - 1);
  }

  std::vector<ValueId> step(std::vector<ValueId> values, std::int64_t s) {
    if (s > 0) {
      std::vector<ValueId> state;
      for (ValueId v : body_.outputs) state.push_back(values[v.index()]);
      for (std::size_t k = 0; k < states_; ++k) values[body_.inputs[k].index()] = state[k];
    }
    std::vector<bool> is_input(body_.values.size(), false);
    for (ValueId v : body_.inputs) is_input[v.index()] = true;
    for (std::size_t v = 0; v < body_.values.size(); ++v) {
      if (is_input[v]) continue;
      Value value = body_.values[v];
      value.name += fmt::format(".{}", s);
      values[v] = add(std::move(value), ValueId(v), s);
    }
    CounterReplacement counter(program_, {Range{0, trips_.size() / steps_}, steps_, trips_.lo + s});
    std::size_t first = to_.operations.size();
    for (std::size_t o = 0; o < body_.operations.size(); ++o) {
      Operation copy = body_.operations[o];
      counter.replace(copy);
      for (auto* list : {&copy.operands, &copy.results})
        for (ValueId& v : *list) v = values[v.index()];
      to_.operations.push_back(std::move(copy));
      claim_.operations.push_back(TripOf{{{}, OperationId(o)}, s});
    }
    annotate(values, first);
    return values;
  }

  void annotate(const std::vector<ValueId>& values, std::size_t first) {
    for (ShardingGroup group : body_.groups) {
      for (ValueId& v : group.values) v = values[v.index()];
      to_.groups.push_back(std::move(group));
    }
    for (const Barrier& b : body_.barriers) to_.barriers.push_back({values[b.value.index()], b.kind});
    for (SplitRequest split : body_.splits) {
      split.operation = OperationId(first + split.operation.index());
      if (split.value) split.value = values[split.value->index()];
      to_.splits.push_back(std::move(split));
    }
  }

  Program& program_;
  const Graph body_;
  GraphId id_;
  std::size_t states_;
  Range trips_;
  std::int64_t steps_;
  Graph to_;
  GraphClaim claim_;
};

// The graph around the iterate: with the iterate of fewer trips and the leftover trips; only these if `unrolled` is not
// valid.
class Around {
 public:
  Around(Program& program, const Program& before, OperationInGraph location)
      : program_(program),
        location_(location),
        operation_(before[location.graph][location.operation]),
        region_(*before[operation_.op].region()),
        body_(before[region_.graph]),
        to_(before, location.graph) {}

  Rebuilt run(std::int64_t steps, GraphId unrolled) {
    const std::int64_t whole = unrolled.valid() ? region_.trips.size() / steps : 0;
    for (std::size_t o = 0; o < to_.graph().operations.size(); ++o) {
      if (OperationId(o) == location_.operation) iterate(steps, whole, unrolled);
      else to_.copy(OperationId(o));
    }
    Rebuilt done = to_.finish();
    std::size_t next = 0;
    for (auto& is : done.claim.values)
      if (!is) is = added_.at(next++);
    TAP_CHECK(next == added_.size(), "a value of a single step that nothing uses");
    return done;
  }

 private:
  void iterate(std::int64_t steps, std::int64_t whole, GraphId unrolled) {
    const std::size_t states = operation_.results.size();
    std::int64_t left = region_.trips.lo + whole * steps;
    std::vector<ValueId> state(operation_.operands.begin(), operation_.operands.begin() + states);
    if (whole > 0) {
      Operator op = program_[operation_.op];
      auto& region = std::get<RegionBody>(op.body);
      region.graph = unrolled;
      region.trips = {0, whole};
      program_.operators.push_back(std::move(op));
      Operation now = operation_;
      now.op = OperatorId(program_.operators.size() - 1);
      if (left < region_.trips.hi)
        for (std::size_t k = 0; k < states; ++k) {
          Value state = to_.graph()[now.results[k]];
          state.name += fmt::format(".{}", left);
          now.results[k] = add(std::move(state), body_.inputs[k], left);
        }
      state = now.results;
      to_.add(std::move(now), Copied{{{}, location_.operation}}, location_.operation);
    }
    for (std::int64_t trip = left; trip < region_.trips.hi; ++trip) state = peel(trip, std::move(state));
    for (std::size_t k = 0; k < states; ++k)
      if (state[k] != operation_.results[k]) to_.forward(operation_.results[k], state[k]);
  }

  // A value that stands for the body's value, in that trip.
  ValueId add(Value value, ValueId of, std::int64_t step) {
    added_.push_back({{location_.operation}, of, step});
    return to_.add_value(std::move(value));
  }

  // One trip; the last one writes the iterate's results.
  std::vector<ValueId> peel(std::int64_t trip, std::vector<ValueId> state) {
    std::vector<ValueId> values(body_.values.size());
    for (std::size_t k = 0; k < body_.inputs.size(); ++k)
      values[body_.inputs[k].index()] = k < state.size() ? state[k] : operation_.operands[k];
    if (trip + 1 == region_.trips.hi)
      for (std::size_t k = 0; k < state.size(); ++k) {
        ValueId& v = values[body_.outputs[k].index()];
        if (!v.valid()) v = operation_.results[k];
      }
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (values[v].valid()) continue;
      Value local = body_.values[v];
      local.name = fmt::format("{}.{}.{}", to_.graph()[operation_.results[0]].name, local.name, trip);
      values[v] = add(std::move(local), ValueId(v), trip);
    }
    CounterReplacement counter(program_, {std::nullopt, 1, trip});
    for (std::size_t o = 0; o < body_.operations.size(); ++o) {
      Operation copy = body_.operations[o];
      counter.replace(copy);
      for (auto* list : {&copy.operands, &copy.results})
        for (ValueId& v : *list) v = values[v.index()];
      to_.add(std::move(copy), TripOf{{{location_.operation}, OperationId(o)}, trip});
    }
    to_.annotate_like(body_, values);
    std::vector<ValueId> next;
    for (ValueId v : body_.outputs) next.push_back(values[v.index()]);
    return next;
  }

  Program& program_;
  OperationInGraph location_;
  const Operation operation_;
  const RegionBody region_;
  const Graph body_;
  Rebuild to_;
  std::vector<ValueRef> added_;  // the new values, in order
};

class UnrollApplier : PlanApplier {
 public:
  explicit UnrollApplier(const Program& program) : PlanApplier(program, "unroll") {}

  PlannedResult run(const Plan& plan) {
    return each<PlannedUnroll>(plan, [this](const PlannedUnroll& unroll) { apply(unroll); });
  }

 private:
  void apply(const PlannedUnroll& unroll) {
    auto location = find(unroll.operation);
    if (!location) return;
    const Program before = program();
    const RegionBody* region = before[before[location->graph][location->operation].op].region();
    if (!region || region->kind != RegionKind::iterate)
      return problem(fmt::format("`{}` is not an iterate, so it cannot be unrolled", unroll.operation));
    if (unroll.steps < 1 || unroll.steps > region->trips.size())
      return problem(fmt::format("`{}` has {}; cannot unroll by {}", unroll.operation,
                                 plural(region->trips.size(), "step"), unroll.steps));
    if (is_placed(before, region->graph))
      return problem(fmt::format("the trips of `{}` are already placed on devices", unroll.operation));
    std::size_t each = std::max<std::size_t>(before[region->graph].operations.size(), 1);
    if (static_cast<std::size_t>(unroll.steps) > max_unrolled_operations / each)
      return problem(fmt::format("{} of {} would be more than the limit of {} operations", plural(unroll.steps, "trip"),
                                 plural(each, "operation"), max_unrolled_operations));
    if (unroll.steps == region->trips.size()) write_out(before, *location, unroll);
    else if (unroll.steps > 1) replace(before, *location, *region, unroll);
  }

  // All trips, in place of the iterate.
  void write_out(const Program& before, OperationInGraph location, const PlannedUnroll& unroll) {
    Rebuilt around = Around(program(), before, location).run(unroll.steps, {});
    if (program().graphs.size() != before.graphs.size()) return not_inside(before, unroll);
    step(before, location.graph, std::move(around));
  }

  void replace(const Program& before, OperationInGraph location, const RegionBody& region,
               const PlannedUnroll& unroll) {
    const std::size_t states = before[location.graph][location.operation].results.size();
    Rebuilt body = Unrolled(program(), region.graph, states, region.trips, unroll.steps).run();
    body.claim.after = GraphId(program().graphs.size());
    program().graphs.push_back(std::move(body.graph));
    Rebuilt around = Around(program(), before, location).run(unroll.steps, body.claim.after);
    if (program().graphs.size() != before.graphs.size() + 1) return not_inside(before, unroll);
    step(before, location.graph, std::move(around), {std::move(body.claim)});
  }

  // There are no claims for graphs inside the body, so they must stay as they are.
  void not_inside(const Program& before, const PlannedUnroll& unroll) {
    program() = before;
    problem(PlanProblem{
        0,
        fmt::format(
            "`{}` cannot be unrolled: an iterate or a group inside it uses its counter or that of an enclosing iterate",
            unroll.operation),
        PlanPart::whole, "", "unroll the inner iterates fully first, and fuse afterwards"});
  }
};

}  // namespace

PlannedResult apply_unrolls(const Program& program, const Plan& plan) { return UnrollApplier(program).run(plan); }

PassResult unroll(const Program& program, const PassContext& context) {
  return as_pass_result(program, apply_unrolls(program, context.plan));
}

}  // namespace tap::passes
