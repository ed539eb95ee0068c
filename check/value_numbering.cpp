#include "check/value_numbering.h"

#include <algorithm>
#include <utility>

#include "check/verdict.h"

namespace tap::check {

using ir::OperationId, ir::Path, ir::RegionKind, ir::ValueId, ir::ValueRef;

Uses uses_of(const ir::Graph& graph, std::vector<ValueId> ir::Operation::*list) {
  Uses uses(graph.values.size());
  for (std::size_t o = 0; o < graph.operations.size(); ++o)
    for (std::size_t k = 0; k < (graph.operations[o].*list).size(); ++k)
      uses[(graph.operations[o].*list)[k].index()].emplace_back(OperationId(o), k);
  return uses;
}

// Picks choices and unrolls iterates that any claim refers to first, since their results depend on it.
ValueNumbering::ValueNumbering(const ir::Program& program, const ir::GraphClaim& claim, bool through_transfers)
    : program_(program), claim_(claim), through_transfers_(through_transfers) {
  expect(Obligation::well_formed, claim.before.index() < program.graphs.size(),
         "graph {} does not exist before the step", claim.before.index());
  for (const auto& value : claim.values)
    if (value) look_ahead(value->path, value->step.has_value());
  for (const ir::Justification& j : claim.operations) {
    if (auto* copied = std::get_if<ir::Copied>(&j)) look_ahead(copied->from.path, false);
    if (auto* step = std::get_if<ir::TripOf>(&j)) look_ahead(step->from.path, true);
  }
}

void ValueNumbering::look_ahead(const Path& path, bool stepped) {
  Trail all = without_steps(trail(path));
  for (std::size_t k = 0; k < all.size(); ++k) {
    Trail prefix(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    const ir::RegionBody* region = region_of(all, k);
    std::uint32_t alternative = std::exchange(prefix.back().alternative, 0);
    if (region->kind == RegionKind::iterate && stepped) unrolled_.insert(prefix);
    bool other = region->kind == RegionKind::choice &&
                 chosen_.emplace(prefix, alternative).first->second != alternative;
    expect(Obligation::choice, !other, "two alternatives of one choice are picked");
    if (alternative > 0) rules.insert(region->alternatives[alternative - 1].rule);
  }
}

const ir::Graph& ValueNumbering::graph_at(const Trail& trail, std::size_t steps) const {
  const ir::Graph* graph = &program_[claim_.before];
  for (std::size_t k = 0; k < steps; ++k) {
    if (!trail[k].operation.valid()) continue;
    const ir::RegionBody* region = program_[(*graph)[trail[k].operation].op].region();
    std::uint32_t alternative = trail[k].alternative;
    graph = &program_[alternative == 0 ? region->graph : region->alternatives[alternative - 1].graph];
  }
  return *graph;
}
const ir::RegionBody* ValueNumbering::region_of(const Trail& trail, std::size_t k) const {
  return trail[k].operation.valid() ? program_[graph_at(trail, k)[trail[k].operation].op].region() : nullptr;
}

ValueNumbering::Trail ValueNumbering::without_steps(const Trail& trail) {
  Trail result;
  for (const At& at : trail)
    if (at.operation.valid()) result.push_back({at.operation, at.alternative, 0});
  return result;
}

// A path as it is followed, each iterate in its first trip.
ValueNumbering::Trail ValueNumbering::trail(const Path& path) const {
  Trail trail;
  if (claim_.steps != 1 || claim_.first != 0) trail.push_back({OperationId(), 0, 0});
  for (const ir::PathStep& p : path) {
    const ir::Graph& graph = graph_at(trail, trail.size());
    bool exists = p.operation.index() < graph.operations.size();
    const ir::RegionBody* region = exists ? program_[graph[p.operation].op].region() : nullptr;
    bool leads = region && p.alternative <= region->alternatives.size();
    expect(Obligation::well_formed, leads, "a path leads through operation {}, which has no such region or alternative",
           p.operation.index());
    trail.push_back({p.operation, p.alternative, region->kind == RegionKind::iterate ? region->trips.lo : 0});
  }
  return trail;
}

// `step` is the trip of the innermost iterate, which may be the one whose body the whole claim is about.
ValueNumbering::Trail ValueNumbering::trail(const Path& path, std::optional<std::int64_t> step) const {
  Trail trail = this->trail(path);
  for (std::size_t k = trail.size(); k-- > 0;) {
    const ir::RegionBody* region = region_of(trail, k);
    if (region && region->kind != RegionKind::iterate) continue;
    expect(Obligation::well_formed, step || !region, "a path leads into an iterate, but names no trip");
    if (!step) return trail;
    ir::Range trips = region ? region->trips : ir::Range{0, claim_.steps};
    expect(Obligation::well_formed, *step >= trips.lo && *step <= trips.hi,
           "trip {} is out of range for an iterate over {}..{}", *step, trips.lo, trips.hi);
    trail[k].step = *step;
    return trail;
  }
  expect(Obligation::well_formed, !step, "a trip outside an iterate");
  return trail;
}

// The source of an inner graph's input: an operand of the region, or the state that the previous trip left.
bool ValueNumbering::follow_input(Trail& trail, ValueId& value) const {
  if (trail.empty()) return false;
  const ir::Graph& graph = graph_at(trail, trail.size());
  auto input = std::find(graph.inputs.begin(), graph.inputs.end(), value);
  if (input == graph.inputs.end()) return false;
  auto k = static_cast<std::size_t>(input - graph.inputs.begin());
  At last = trail.back();
  const ir::RegionBody* region = region_of(trail, trail.size() - 1);
  bool repeated = !region || region->kind == RegionKind::iterate;
  if (repeated && k < graph.outputs.size() && is_unknown_trip(last.step)) return false;
  if (repeated && k < graph.outputs.size() && last.step > (region ? region->trips.lo : 0)) {
    --trail.back().step;
    value = graph.outputs[k];
    return true;
  }
  trail.pop_back();
  if (region) value = graph_at(trail, trail.size())[last.operation].operands[k];
  return region != nullptr;
}

// The inner value of a region's result; an iterate stays whole unless it is unrolled.
bool ValueNumbering::follow_result(Trail& trail, ValueId& value) const {
  const ir::Graph& graph = graph_at(trail, trail.size());
  const auto& writers = writers_in(graph)[value.index()];
  if (writers.empty()) return false;
  auto [id, k] = writers[0];
  const ir::RegionBody* region = program_[graph[id].op].region();
  if (!region) return false;
  At at{id, 0, 0};
  Trail key = without_steps(trail);
  key.push_back(at);
  if (auto chosen = chosen_.find(key); chosen != chosen_.end()) at.alternative = chosen->second;
  if (region->kind == RegionKind::iterate) {
    if (region->trips.empty()) {
      value = graph[id].operands[k];
      return true;
    }
    if (unrolled_.count(key) == 0) return false;
    at.step = region->trips.hi - 1;
  }
  trail.push_back(at);
  value = graph_at(trail, trail.size()).outputs[k];
  return true;
}

bool ValueNumbering::follow_transfer(const Trail& trail, ValueId& value) const {
  const ir::Graph& graph = graph_at(trail, trail.size());
  const auto& writers = writers_in(graph)[value.index()];
  bool moved = through_transfers_ && !writers.empty() && program_[graph[writers[0].first].op].transfer();
  if (moved) value = graph[writers[0].first].operands[0];
  return moved;
}

Class ValueNumbering::class_of(const ValueRef& ref) {
  this->value(ref);  // throws Refusal
  return class_of(trail(ref.path, ref.step), ref.value);
}
Class ValueNumbering::class_of(const Path& path, ValueId value, const std::vector<std::int64_t>& steps) {
  Trail trail = this->trail(path);
  for (std::size_t k = 0, loop = 0; k < trail.size(); ++k)
    if (region_of(trail, k)->kind == RegionKind::iterate) trail[k].step = steps.at(loop++);
  return class_of(std::move(trail), value);
}
Class ValueNumbering::class_of(Trail trail, ValueId value) {
  auto [named, fresh_name] = known_.try_emplace({trail, value}, 0);
  if (!fresh_name) return find(named->second);
  while (follow_input(trail, value) || follow_result(trail, value) || follow_transfer(trail, value)) continue;
  auto [origin, fresh_origin] = known_.try_emplace({trail, value}, 0);
  if (origin == named || fresh_origin) origin->second = fresh();
  return find(named->second = origin->second);
}

Class ValueNumbering::fresh() {
  parent_.push_back(static_cast<Class>(parent_.size()));
  return parent_.back();
}
Class ValueNumbering::find(Class c) const {
  while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
  return c;
}

const ir::Graph& ValueNumbering::graph(const Path& path) const {
  Trail trail = this->trail(path);
  return graph_at(trail, trail.size());
}
const ir::Value& ValueNumbering::value(const ValueRef& ref) const {
  const ir::Graph& in = graph(ref.path);
  expect(Obligation::well_formed, ref.value.index() < in.values.size(), "value {} does not exist before the step",
         ref.value.index());
  return in[ref.value];
}
const ir::Operation& ValueNumbering::operation(const ir::OperationRef& ref) const {
  const ir::Graph& in = graph(ref.path);
  expect(Obligation::well_formed, ref.operation.index() < in.operations.size(),
         "operation {} does not exist before the step", ref.operation.index());
  return in[ref.operation];
}
Side ValueNumbering::side(const ir::OperationRef& ref, std::optional<std::int64_t> step) {
  return side_of(program_, operation(ref), [&](ValueId v) { return class_of({ref.path, v, step}); });
}
Side ValueNumbering::side(const ir::OperationRef& ref, const std::vector<std::int64_t>& steps) {
  return side_of(program_, operation(ref), [&](ValueId v) { return class_of(ref.path, v, steps); });
}
const Uses& ValueNumbering::writers_in(const ir::Graph& graph) const {
  auto [at, fresh] = writers_.try_emplace(&graph);
  if (fresh) at->second = writers_of(graph);
  return at->second;
}

}  // namespace tap::check
