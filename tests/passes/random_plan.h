// Random splits of a program's operations: even, uneven, nested, empty; over threads, loops and a mesh; reductions too.
#pragma once

#include <algorithm>

#include "ir/author_names.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/interpret/linear_reductions.h"
#include "ir/plan.h"
#include "ir/shardings/mesh_position.h"
#include "passes/shardings/plan_listed.h"
#include "passes/splits/split_operator.h"

namespace tap::passes::test {

using namespace tap::ir;

inline std::vector<Mesh> random_meshes() { return {{"m", {{"x", 2}, {"y", 3}, {"z", 4}}, {}}}; }

// `Choose` gives one of 0 … n-1.
template <class Choose>
class RandomPlan {
 public:
  RandomPlan(Choose& choose, const Program& program) : choose_(choose), program_(program) {}

  Plan run() {
    const Graph& graph = program_[program_.main];
    std::vector<std::string> names = operation_names(graph);
    for (std::size_t o = 0; o < names.size(); ++o) {
      // The program's own splits come first, and a mesh before all others.
      if (std::any_of(graph.splits.begin(), graph.splits.end(),
                      [o](const SplitRequest& split) { return split.operation == OperationId(o); }))
        continue;
      alone_ = names[o].find('@') == std::string::npos;
      const std::size_t before = plan_.decisions.size();
      add_split(names[o], with_author_names(program_, graph.operations[o]));
      if (choose_(4) == 0) list_devices(before);
    }
    for (ValueId v : graph.inputs)
      if (choose_(4) == 0 && is_read(graph, v)) divide_input(graph[v]);
    return std::move(plan_);
  }

  // By its number where its name does not tell.
  static std::string dim_name(const Operator& op, std::uint32_t d) {
    return find_dim(op, op.dims[d].name) == d ? op.dims[d].name : "#" + std::to_string(d);
  }

 private:
  static bool is_read(const Graph& graph, ValueId v) {
    return std::any_of(graph.operations.begin(), graph.operations.end(), [v](const Operation& operation) {
      return std::count(operation.operands.begin(), operation.operands.end(), v) > 0;
    });
  }

  // Some axes of the input over some of the mesh's.
  void divide_input(const Value& input) {
    const std::size_t before = plan_.decisions.size();
    std::vector<std::string> free = {"x", "y", "z", "z:(2)2"};
    for (std::size_t axis = 0; axis < input.type.shape.size() && !free.empty(); ++axis)
      if (choose_(2)) on_mesh(input.name, "axis " + std::to_string(axis), {0, input.type.shape[axis]}, free);
    if (choose_(4) == 0) list_devices(before);
  }

  // The same blocks on devices that no mesh has: 1, 4, 7, …
  void list_devices(std::size_t from) {
    for (std::size_t k = from; k < plan_.decisions.size(); ++k) {
      auto* split = std::get_if<PlannedSplit>(&plan_.decisions[k]);
      if (!split || !split->axis) continue;
      *split = passes::listed(*split, program_);
      for (auto& set : split->devices)
        for (std::int64_t& device : set) device = 3 * device + 1;
    }
  }

  // The mesh first, as plans must; reduction dims last, since a cut makes two operations of one.
  void add_split(const std::string& name, const Operator& op) {
    const std::size_t before = plan_.decisions.size();
    std::vector<std::string> free = {"x", "y", "z", "z:(2)2"};
    for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
      if (op.dims[d].role != DimRole::parallel || !why_not_split(program_, op, d, false).empty()) continue;
      bool again = false;
      const bool boxes = alone_ && !interleaves(op, d);
      if (choose_(6) && (boxes || (writes_everywhere(op) && choose_(2))) && !free.empty())
        again = on_mesh(name, op, d, free);
      if (choose_(3) == 0) local(name, op, d, again);
      if (choose_(6) == 0) local(name, op, d, true);
    }
    // A scan that is split where it runs is not a reduction any more.
    if (find_scan(op) && plan_.decisions.size() != before) return;
    for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
      if (op.dims[d].role != DimRole::reduction || choose_(2) == 0) continue;
      bool streamed = choose_(3) == 0;
      if (!why_not_split(program_, op, d, streamed).empty()) continue;
      if (streamed) {
        plan_.decisions.push_back(PlannedSplit{name, dim_name(op, d), blocks(op.dims[d].range), Placement::sequential});
        continue;
      }
      bool again = (alone_ || writes_everywhere(op)) && !free.empty() && choose_(3) == 0 && on_mesh(name, op, d, free);
      // Partials of partials: of the same dim, by their number, or of the next one.
      if (!again || choose_(3) == 0) into_partials(name, op, d, again);
      if (choose_(3)) return;
    }
  }

  void into_partials(const std::string& name, const Operator& op, std::uint32_t d, bool again) {
    PlannedSplit split{name, dim_name(op, d), again ? Blocks{1 + choose_(4)} : blocks(op.dims[d].range),
                       choose_(2) ? Placement::threads : Placement::unspecified};
    if (choose_(3) == 0) split.tree = 2;
    plan_.decisions.push_back(split);
  }

  bool on_mesh(const std::string& name, const Operator& op, std::uint32_t d, std::vector<std::string>& free) {
    return on_mesh(name, dim_name(op, d), op.dims[d].range, free);
  }
  bool on_mesh(const std::string& name, const std::string& dim, Range range, std::vector<std::string>& free) {
    std::size_t k = static_cast<std::size_t>(choose_(static_cast<std::int64_t>(free.size())));
    std::string axis = free[k];
    // A whole axis and its part do not go together in one tensor.
    std::erase_if(free, [&](const std::string& other) { return other[0] == axis[0]; });
    AxisName named{axis.substr(0, 1), {}};
    if (axis.size() > 1) named.sub = SubAxis{2, 2};
    std::int64_t count = size_of(program_.meshes[0], {find_axis(program_.meshes[0], named.name).value(), named.sub});
    Blocks even{count};
    plan_.decisions.push_back(
        PlannedSplit{name, dim, choose_(3) ? even : uneven(range, count), Placement::mesh_axis, "m", named});
    return true;
  }

  void local(const std::string& name, const Operator& op, std::uint32_t d, bool again) {
    Placement over[] = {Placement::threads, Placement::sequential, Placement::unspecified};
    Blocks b = again ? Blocks{1 + choose_(4)} : blocks(op.dims[d].range);
    // Cut before, if the dice said so above: then only by number.
    for (const Decision& other : plan_.decisions)
      if (auto* split = std::get_if<PlannedSplit>(&other))
        if (split->operation == name && split->dim == dim_name(op, d)) b = Blocks{1 + choose_(4)};
    plan_.decisions.push_back(PlannedSplit{name, dim_name(op, d), b, over[choose_(3)]});
  }

  Blocks blocks(Range range) { return choose_(2) ? Blocks{1 + choose_(5)} : uneven(range, 1 + choose_(4)); }

  // Boundaries anywhere, in order; blocks may be empty.
  Blocks uneven(Range range, std::int64_t count) {
    Blocks b{count, {range.lo, range.hi}};
    while (static_cast<std::int64_t>(b.boundaries.size()) <= count)
      b.boundaries.push_back(range.lo + choose_(range.size() + 1));
    std::sort(b.boundaries.begin(), b.boundaries.end());
    return b;
  }

  static bool interleaves(const Operator& op, std::uint32_t d) {
    for (const Access& write : op.writes)
      for (const AffineExpr& row : write.projection.start.rows) {
        bool alone = std::abs(row.coefficients[d]) == 1;
        for (std::uint32_t e = 0; e < op.dims.size(); ++e) alone &= e == d || row.coefficients[e] == 0;
        if (row.coefficients[d] != 0 && !alone) return true;
      }
    return false;
  }

  // What it writes can be written apart.
  static bool writes_everywhere(const Operator& op) {
    auto of_cells = [&](const Constraint& c) {
      for (std::uint32_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::reduction && c.expr.coefficients[d] != 0) return false;
      return true;
    };
    return (op.map() || op.reduce()) && std::none_of(op.constraints.begin(), op.constraints.end(), of_cells);
  }

  Choose& choose_;
  const Program& program_;
  bool alone_ = true;  // the only writer of its value: a mesh holds few boxes of one that several write
  Plan plan_;
};

// Something for some of the choices of the main graph. `program` is what offer_choices made.
template <class Choose>
Plan random_choices(Choose& choose, const Program& program) {
  Plan plan;
  const Graph& graph = program[program.main];
  std::vector<std::string> names = operation_names(graph);
  for (std::size_t o = 0; o < names.size(); ++o) {
    const RegionBody* region = program[graph.operations[o].op].region();
    if (!region || region->kind != RegionKind::choice || choose(3) == 0) continue;
    auto picked = static_cast<std::uint32_t>(choose(static_cast<std::int64_t>(region->alternatives.size()) + 1));
    plan.decisions.push_back(PlannedChoice{names[o], picked});
  }
  return plan;
}

template <class Choose>
Plan random_splits(Choose& choose, const Program& program) {
  return RandomPlan(choose, program).run();
}

}  // namespace tap::passes::test
