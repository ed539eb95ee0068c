#include "passes/shardings/moves_of_iterates.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "ir/graphs/iterate_state.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/cells_by_device.h"
#include "passes/shardings/collectives.h"
#include "passes/shardings/reads.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

const RegionBody* iterate_of(const Program& program, const Operation& operation) {
  const RegionBody* region = program[operation.op].region();
  return region && region->kind == RegionKind::iterate ? region : nullptr;
}

}  // namespace

bool is_given_to_trips(const Program& program, GraphId id, ValueId value) {
  const Graph& graph = program[id];
  const auto input = std::ranges::find(graph.inputs, value) - graph.inputs.begin();
  return id != program.main && input < std::ssize(graph.inputs) && input >= std::ssize(graph.outputs) &&
         !is_inside_of_a_group(program, id);
}

bool is_left_by_iterate(const Program& program, GraphId id, ValueId value) {
  const Graph& graph = program[id];
  const auto input = std::ranges::find(graph.inputs, value) - graph.inputs.begin();
  if (id != program.main && input < std::ssize(graph.outputs)) value = graph.outputs[static_cast<std::size_t>(input)];
  return std::ranges::any_of(graph.operations, [&](const Operation& operation) {
    return iterate_of(program, operation) && std::ranges::count(operation.results, value) > 0;
  });
}

bool is_held_whole(const std::optional<Sharding>& held) {
  return !held || std::ranges::all_of(held->dims, [](const DimSharding& dim) { return dim.axes.empty(); });
}

namespace {

// Whether devices hold parts of it, of which each is complete.
bool is_in_parts(const Program& program, const Value& value) {
  return !is_held_whole(value.sharding) && !is_maximal(program[value.sharding->mesh]) &&
         value.sharding->unreduced.empty();
}

// The value as some device holds it, for all devices.
struct Gathered {
  const Value& value;
  Sharding whole;
  std::vector<Collective> steps;
  // Of each step, what is received at each position that is looked at. Blocks may differ in size: where the own one is small,
  // more is received.
  std::vector<std::vector<std::int64_t>> cells;
};
Gathered gathered(const Program& program, const Value& value) {
  Sharding whole{value.sharding->mesh, std::vector<DimSharding>(value.type.shape.size()), {}, {}, ""};
  const Mesh& mesh = program[whole.mesh];
  std::vector<Collective> steps = reshard({mesh, *value.sharding}, {mesh, whole}, value.type.shape);
  std::vector<std::int64_t> left;
  for (std::int64_t position : positions_of(mesh))
    left.push_back(element_count(value.type.shape) - box_at(mesh, *value.sharding, value.type.shape, position).size());
  std::vector<std::vector<std::int64_t>> cells;
  for (const Collective& step : steps)
    cells.push_back(taken(left, &step == &steps.back() ? std::numeric_limits<std::int64_t>::max() : step.moved));
  return {value, std::move(whole), std::move(steps), std::move(cells)};
}

// `reader`: none for a result.
void add(const Program& program, const Gathered& all, const std::string& name, const std::string& reader,
         const std::string& operation, const std::string& moved_for, std::vector<Move>& list) {
  for (std::size_t s = 0; s < all.steps.size(); ++s) {
    const Collective& step = all.steps[s];
    Move move{.what = reader.empty() ? name : fmt::format("{} for {}", name, reader)};
    move.step = to_string(program.meshes, step);
    if (moved_for.empty()) {
      const ElementType element = all.value.type.element;
      move.bytes = std::ranges::max(all.cells[s]) * static_cast<std::int64_t>(size_of(element));
      move.of_devices = by_device(program[all.whole.mesh], all.cells[s], element);
    }
    move.value = name;
    move.reader = reader;
    move.operation = operation;
    move.collective = tap::passes::name(step.kind);
    move.to = to_string(program.meshes, all.whole);
    move.moved_for = moved_for;
    list.push_back(std::move(move));
  }
}

}  // namespace

void add_moves_of_iterates(const Program& program, GraphId id, const std::string& path, const std::set<ValueId>& copied,
                           std::vector<Move>& list) {
  const Graph& graph = program[id];
  const std::vector<std::string> names = operation_names(graph);
  std::map<ValueId, std::string> known;  // what is gathered, and for which iterate
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    const RegionBody* region = iterate_of(program, graph.operations[o]);
    if (!region) continue;
    const std::set<ValueId> operands(graph.operations[o].operands.begin(), graph.operations[o].operands.end());
    for (ValueId v : operands) {
      const bool is_input = id == program.main && std::ranges::count(graph.inputs, v) > 0 && !copied.contains(v);
      if (is_input || is_given_to_trips(program, id, v) || is_left_by_iterate(program, id, v)) continue;
      if (!is_in_parts(program, graph[v])) continue;
      const auto [before, fresh] = known.emplace(v, names[o]);
      const bool is_shared = !fresh && !copied.contains(v);
      add(program, gathered(program, graph[v]), path + graph[v].name, names[o], path + names[o],
          is_shared ? before->second : "", list);
    }
    const Graph& body = program[region->graph];
    for (std::size_t k = 0; k < body.outputs.size() && !region->trips.empty(); ++k) {
      const ValueId result = graph.operations[o].results[k];
      const Value& left = body[body.outputs[k]];
      if (!is_in_parts(program, left) || is_left_by_iterate(program, region->graph, body.outputs[k])) continue;
      if (is_gathered_after_trips(program, id, result))
        add(program, gathered(program, left), path + graph[result].name, "", path + names[o], "", list);
    }
  }
}

std::map<GraphId, double> times_of_graphs(const Program& program) {
  std::map<GraphId, double> times{{program.main, 1}};
  for (const auto& [id, path] : graph_paths(program))
    for (const Operation& operation : program[id].operations)
      if (const RegionBody* region = program[operation.op].region())
        times.try_emplace(
            region->graph,
            times[id] * (region->kind == RegionKind::iterate ? static_cast<double>(region->trips.size()) : 1));
  return times;
}

}  // namespace tap::passes
