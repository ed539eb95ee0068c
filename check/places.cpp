#include "check/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/verdict.h"

namespace tap::check {

using ir::OperationId, ir::Path, ir::RegionKind, ir::ValueId, ir::ValueRef;

namespace {

bool before(const Path& a, const Path& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return std::pair(x.operation, x.alternative) < std::pair(y.operation, y.alternative);
  });
}
std::vector<OperationId> operations_of(const Path& path) {
  std::vector<OperationId> list;
  for (const ir::PathStep& step : path) list.push_back(step.operation);
  return list;
}

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal{Obligation::well_formed, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace

// Choices and steps that any claim leads through are looked at first: what a result of a choice or of a repetition is
// depends on it.
Places::Places(const ir::Program& program, const ir::GraphClaim& claim)
    : program_(program), claim_(claim), chosen_(&before) {
  if (claim.before.index() >= program.graphs.size()) refuse("there is no graph {} before", claim.before.index());
  for (const auto& value : claim.values)
    if (value) look_ahead(value->path, value->step.has_value());
  for (const ir::Justification& j : claim.operations) {
    if (auto* copied = std::get_if<ir::Copied>(&j)) look_ahead(copied->from.path, false);
    if (auto* step = std::get_if<ir::StepOf>(&j)) look_ahead(step->from.path, true);
  }
}

void Places::look_ahead(const Path& path, bool stepped) {
  const ir::Graph* graph = &program_[claim_.before];
  for (std::size_t k = 0; k < path.size(); ++k) {
    auto [id, alternative] = std::pair(path[k].operation, path[k].alternative);
    if (id.index() >= graph->operations.size())
      refuse("a path leads through operation {}, which is not there", id.index());
    const ir::RegionBody* region = program_[(*graph)[id].op].region();
    if (!region) refuse("a path leads through operation {}, which is no region", id.index());
    if (alternative > region->alternatives.size())
      refuse("a path leads through alternative {} of {}", alternative, region->alternatives.size());
    if (region->kind == RegionKind::choice) {
      Path here(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(k));
      here.push_back(id);
      if (chosen_.emplace(here, alternative).first->second != alternative)
        throw Refusal{Obligation::choice, "two alternatives of one choice are taken"};
    }
    if (region->kind == RegionKind::iterate && stepped)
      unrolled_.insert(operations_of(Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(k) + 1)));
    graph = &program_[alternative == 0 ? region->graph : region->alternatives[alternative - 1].graph];
  }
}

const ir::RegionBody* Places::region_at(const Trail& outer, OperationId operation) const {
  return program_[graph_at(outer)[operation].op].region();
}

const ir::Graph& Places::graph_at(const Trail& trail) const {
  const ir::Graph* graph = &program_[claim_.before];
  for (const At& at : trail) {
    if (!at.operation.valid()) continue;
    const ir::RegionBody* region = program_[(*graph)[at.operation].op].region();
    graph = &program_[at.alternative == 0 ? region->graph : region->alternatives[at.alternative - 1].graph];
  }
  return *graph;
}

// A path as it is followed, the step put to the innermost repetition on it.
Places::Trail Places::trail(const Path& path, std::optional<std::int64_t> step) const {
  Trail trail;
  bool several = claim_.steps != 1 || claim_.first != 0;
  if (several) trail.push_back({OperationId(), 0, 0});
  std::optional<std::size_t> innermost = several ? std::optional<std::size_t>(0) : std::nullopt;
  for (const ir::PathStep& p : path) {
    const ir::Graph& graph = graph_at(trail);
    const ir::RegionBody* region = p.operation.index() < graph.operations.size() ? region_at(trail, p.operation)
                                                                                 : nullptr;
    if (!region || p.alternative > region->alternatives.size())
      refuse("a path leads through operation {}, which is no such region", p.operation.index());
    if (region->kind == RegionKind::iterate) innermost = trail.size();
    trail.push_back({p.operation, p.alternative, region->kind == RegionKind::iterate ? region->trips.lo : 0});
  }
  if (!step && innermost && !(several && *innermost == 0)) refuse("a path leads into a repetition, of no step");
  if (step) {
    if (!innermost) refuse("step {} of no repetition", *step);
    ir::Range trips{0, claim_.steps};
    if (trail[*innermost].operation.valid()) {
      Trail outer(trail.begin(), trail.begin() + static_cast<std::ptrdiff_t>(*innermost));
      trips = region_at(outer, trail[*innermost].operation)->trips;
    }
    if (*step < trips.lo || *step > trips.hi) refuse("step {} of a repetition over {}..{}", *step, trips.lo, trips.hi);
    trail[*innermost].step = *step;
  }
  return trail;
}

// What an inner graph is given: an operand of the region, or the state that the step before left.
bool Places::follow_input(Trail& trail, ValueId& value) const {
  if (trail.empty()) return false;
  const ir::Graph& graph = graph_at(trail);
  auto input = std::find(graph.inputs.begin(), graph.inputs.end(), value);
  if (input == graph.inputs.end()) return false;
  auto k = static_cast<std::size_t>(input - graph.inputs.begin());
  At last = trail.back();
  Trail outer(trail.begin(), trail.end() - 1);
  const ir::RegionBody* region = last.operation.valid() ? region_at(outer, last.operation) : nullptr;
  bool repeated = !region || region->kind == RegionKind::iterate;
  if (repeated && k < graph.outputs.size() && last.step > (region ? region->trips.lo : 0)) {
    --trail.back().step;
    value = graph.outputs[k];
    return true;
  }
  trail = std::move(outer);
  if (region) value = graph_at(trail)[last.operation].operands[k];
  return region != nullptr;
}

// What a region's result is inside of it; a repetition stays whole unless it is written out.
bool Places::follow_result(Trail& trail, ValueId& value) const {
  const ir::Graph& graph = graph_at(trail);
  const std::vector<OperationId>& writers = writers_in(graph)[value.index()];
  if (writers.empty()) return false;
  const ir::Operation& operation = graph[writers[0]];
  const ir::RegionBody* region = program_[operation.op].region();
  if (!region) return false;
  auto result = std::find(operation.results.begin(), operation.results.end(), value);
  auto k = static_cast<std::size_t>(result - operation.results.begin());
  At at{writers[0], 0, 0};
  std::vector<OperationId> here;
  Path path;
  for (const At& a : trail)
    if (a.operation.valid()) here.push_back(a.operation), path.push_back({a.operation, a.alternative});
  here.push_back(at.operation), path.push_back(at.operation);
  if (auto chosen = chosen_.find(path); chosen != chosen_.end()) at.alternative = chosen->second;
  if (region->kind == RegionKind::iterate) {
    if (unrolled_.count(here) == 0) return false;
    if (region->trips.empty()) {
      value = operation.operands[k];
      return true;
    }
    at.step = region->trips.hi - 1;
  }
  trail.push_back(at);
  value = graph_at(trail).outputs[k];
  return true;
}

Class Places::class_of(const ValueRef& ref) {
  Trail trail = this->trail(ref.path, ref.step);
  ValueId value = ref.value;
  if (value.index() >= graph_at(trail).values.size()) refuse("there is no value {} before", value.index());
  auto [named, fresh_name] = known_.try_emplace({trail, value}, 0);
  if (!fresh_name) return find(named->second);
  while (follow_input(trail, value) || follow_result(trail, value)) continue;
  auto [origin, fresh_origin] = known_.try_emplace({trail, value}, 0);
  if (origin == named || fresh_origin) origin->second = fresh();
  return find(named->second = origin->second);
}

Class Places::fresh() {
  parent_.push_back(static_cast<Class>(parent_.size()));
  return parent_.back();
}
Class Places::find(Class c) const {
  while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
  return c;
}

const ir::Graph& Places::graph(const Path& path) const {
  Trail trail;
  for (const ir::PathStep& p : path) {
    const ir::Graph& graph = graph_at(trail);
    const ir::RegionBody* region = p.operation.index() < graph.operations.size() ? region_at(trail, p.operation)
                                                                                 : nullptr;
    if (!region || p.alternative > region->alternatives.size())
      refuse("a path leads through operation {}, which is no such region", p.operation.index());
    trail.push_back({p.operation, p.alternative, 0});
  }
  return graph_at(trail);
}
const ir::Value& Places::value(const ValueRef& ref) const {
  const ir::Graph& in = graph(ref.path);
  if (ref.value.index() >= in.values.size()) refuse("there is no value {} before", ref.value.index());
  return in[ref.value];
}
const ir::Operation& Places::operation(const ir::OperationRef& ref) const {
  const ir::Graph& in = graph(ref.path);
  if (ref.operation.index() >= in.operations.size()) refuse("there is no operation {} before", ref.operation.index());
  return in[ref.operation];
}
Side Places::side(const ir::OperationRef& ref, std::optional<std::int64_t> step) {
  const ir::Operation& op = operation(ref);
  Side side{&program_, &op, &program_[op.op]};
  for (ValueId v : op.operands) side.operands.push_back(class_of({ref.path, v, step}));
  for (ValueId v : op.results) side.results.push_back(class_of({ref.path, v, step}));
  return side;
}
const std::vector<std::vector<OperationId>>& Places::writers_in(const ir::Graph& graph) const {
  auto [at, fresh] = writers_.try_emplace(&graph, graph.values.size());
  for (std::size_t o = 0; o < graph.operations.size() && fresh; ++o)
    for (ValueId v : graph.operations[o].results) at->second[v.index()].push_back(OperationId(o));
  return at->second;
}

}  // namespace tap::check
