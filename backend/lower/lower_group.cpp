#include "backend/lower/lower_group.h"

#include <algorithm>
#include <cmath>

#include "backend/lower/direct_copies.h"
#include "backend/lower/reused_memory.h"
#include "backend/lower/tile_dim.h"
#include "backend/tiles/group_tiles.h"
#include "backend/tiles/overlapping_tiles.h"
#include "backend/tiles/point_work.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

std::vector<Statement> in_loop(For loop, std::vector<Statement> body) {
  append(loop.body, std::move(body));
  return {{std::move(loop)}};
}

std::vector<Statement> in_section(std::size_t number, std::vector<Statement> body) {
  return {{Section{static_cast<std::uint32_t>(number), std::move(body)}}};
}

// Operations whose points come in steps.
std::vector<bool> streamed_operations(const Operator& group, const GroupView& view) {
  std::vector<bool> result(view.graph.operations.size(), false);
  for (const GroupAnchor& a : view.anchors)
    if (group.dims[a.dim].role == DimRole::reduction) result[a.operation] = true;
  return result;
}

}  // namespace

GroupLowering::GroupLowering(const Program& program, const Operator& group, Kernel& kernel, std::vector<DimSpan> box,
                             std::vector<std::uint32_t> operands, std::vector<std::uint32_t> results,
                             const Machine& machine)
    : program_(program),
      group_(group),
      kernel_(kernel),
      machine_(machine),
      view_(view_of(program, group)),
      graph_(view_.graph),
      windows_(moving_demand(view_)),
      needed_(needed_ranges(view_, windows_)),
      streamed_(streamed_operations(group, view_)),
      epilogues_(find_epilogues(view_, windows_, streamed_)),
      ends_another_(graph_.operations.size(), false),
      is_direct_copy_(direct_copies(view_, windows_)),
      spans_(std::move(box)),
      levels_(1),
      tensors_(graph_.values.size(), none),
      regions_(graph_.values.size()) {
  std::vector<std::int64_t> most;
  for (DimSpan& span : spans_) {
    span.level = 0;
    most.push_back(span.most);
  }
  points_ = tile_points(program, group, most);
  for (const auto& maps : epilogues_)
    for (const EpilogueMap& map : maps) {
      ends_another_[map.operation] = true;
      is_direct_copy_[map.operation] = false;
    }
  for (std::size_t k = 0; k < graph_.inputs.size(); ++k) tensors_[graph_.inputs[k].index()] = operands[k];
  for (std::size_t k = 0; k < graph_.outputs.size(); ++k) tensors_[graph_.outputs[k].index()] = results[k];
}

AffineExpr GroupLowering::plus(AffineExpr a, AffineExpr b, std::int64_t factor) const {
  a.coefficients.resize(kernel_.variables.size());
  b.coefficients.resize(kernel_.variables.size());
  return a + scale(b, factor);
}

std::uint32_t GroupLowering::new_variable(std::string name) {
  kernel_.variables.push_back(std::move(name));
  return static_cast<std::uint32_t>(kernel_.variables.size() - 1);
}

std::uint32_t GroupLowering::define(std::vector<Statement>& into, const std::string& name, std::vector<Bound> bounds,
                                    bool greatest) {
  std::uint32_t v = new_variable(name);
  into.push_back({Define{v, std::move(bounds), greatest}});
  return v;
}

std::uint32_t GroupLowering::as_variable(std::size_t level, const std::string& name, const AffineExpr& e) {
  AffineExpr whole = e;
  whole.coefficients.resize(kernel_.variables.size());
  if (auto v = whole.as_variable()) return static_cast<std::uint32_t>(*v);
  return define(levels_[level].before, name, {bound(e)}, true);
}

std::uint32_t GroupLowering::new_local(ValueId value, ElementType type) {
  TensorArgument memory;
  memory.name = graph_[value].name;
  memory.type = {type, graph_[value].type.shape};
  memory.local.emplace();
  for (const DimSpan& span : regions_[value.index()]) {
    memory.local->extents.push_back(span.most);
    memory.local->origin.push_back(span.lo);
  }
  // Rows begin at whole cache lines, so that no vector crosses one.
  const std::int64_t line = machine_.line_bytes / static_cast<std::int64_t>(size_of(type));
  if (auto& extents = memory.local->extents; extents.size() > 1 && extents.back() > line) {
    const DimSpan& row = regions_[value.index()].back();
    if (overlaps(windows_.values[value.index()].back())) {
      // Of all values at the same coordinates: what is read at a distance of whole lines does not cross one, either.
      const std::uint32_t lines =
          define(levels_[row.level].before, "line." + memory.name, {bound(row.lo, line)}, false);
      memory.local->origin.back() = plus(number(0), variable(lines), line);
      extents.back() += line - 1;
    }
    extents.back() = (extents.back() + line - 1) / line * line;
  }
  kernel_.tensors.push_back(std::move(memory));
  return static_cast<std::uint32_t>(kernel_.tensors.size() - 1);
}

// Local memory for the parts of inner values that a tile and step needs.
void GroupLowering::place_values() {
  for (std::size_t v = 0; v < graph_.values.size(); ++v) {
    const Shape& shape = graph_.values[v].type.shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      regions_[v].push_back(span_of(windows_.values[v][axis], {0, shape[axis]}, graph_.values[v].name));
  }
  for (std::size_t o = 0; o < graph_.operations.size(); ++o)
    if (is_direct_copy_[o])
      tensors_[graph_.operations[o].operands[0].index()] = tensors_[graph_.operations[o].results[0].index()];
  std::vector<bool> in_registers = values_in_registers(view_, epilogues_);
  for (std::size_t o = 0; o < graph_.operations.size(); ++o)
    if (streamed_[o])
      for (ValueId v : graph_.operations[o].results) in_registers[v.index()] = true;
  std::vector<ValueId> local;
  for (std::size_t v = 0; v < graph_.values.size(); ++v)
    if (tensors_[v] == none && !in_registers[v]) local.emplace_back(v);
  place_in_local_memory(std::move(local));
}

// One after another in the same memory, where their lifetimes allow it. In a loop over steps, every value has its own: it
// may be kept from one step to the next.
void GroupLowering::place_in_local_memory(std::vector<ValueId> values) {
  std::vector<std::optional<std::size_t>> runs_at(graph_.operations.size());
  for (std::size_t o = 0; o < runs_at.size(); ++o) {
    if (!windows_.demanded[o] || is_direct_copy_[o] || ends_another_[o]) continue;
    runs_at[o] = o;
    for (const EpilogueMap& map : epilogues_[o]) runs_at[map.operation] = o;
  }
  const auto needed = lifetimes(graph_, runs_at);
  std::ranges::stable_sort(values, {}, [&](ValueId v) { return needed[v.index()] ? needed[v.index()]->first : 0; });
  const bool has_steps = levels_.size() > 1;
  ReusedMemory memory;
  std::vector<std::uint32_t> block;  // by number: the first tensor in it
  for (ValueId v : values) {
    const std::uint32_t tensor = tensors_[v.index()] = new_local(v, graph_[v].type.element);
    if (has_steps || !needed[v.index()]) continue;
    Local& own = *kernel_.tensors[tensor].local;
    const double cells = static_cast<double>(element_count(own.extents));
    const std::size_t number =
        memory.block_for(*needed[v.index()], cells * static_cast<double>(size_of(graph_[v].type.element)));
    if (number < block.size()) own.reuses = block[number];
    else block.push_back(tensor);
  }
}

std::vector<std::uint32_t> GroupLowering::tensors_of(const std::vector<ValueId>& values) const {
  std::vector<std::uint32_t> result;
  for (ValueId v : values) result.push_back(tensors_[v.index()]);
  return result;
}

// The loop that contains an operation: the innermost one that its box, its regions and its operands depend on.
std::size_t GroupLowering::level_of(std::size_t number, const std::vector<DimSpan>& box,
                                    std::vector<std::size_t>& level_of_value) const {
  const Operation& operation = graph_.operations[number];
  std::size_t level = 0;
  for (const DimSpan& span : box) level = std::max(level, span.level);
  for (const auto* list : {&operation.operands, &operation.results})
    for (ValueId v : *list) {
      if (list == &operation.operands) level = std::max(level, level_of_value[v.index()]);
      for (const DimSpan& span : regions_[v.index()]) level = std::max(level, span.level);
    }
  for (ValueId v : operation.results) level_of_value[v.index()] = std::max(level_of_value[v.index()], level);
  return level;
}

void GroupLowering::add_operation(std::size_t number, std::vector<std::size_t>& level_of_value) {
  const Operation& operation = graph_.operations[number];
  const Operator& op = program_[operation.op];
  TAP_CHECK(op.region() || op.blockings.empty(), "`" + op.name + "` is split inside a group");
  OperatorInKernel frame;
  std::vector<DimSpan> box;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const std::string& name = op.dims[d].name;
    box.push_back(span_of(windows_.operations[number][d], op.dims[d].range, name));
    if (!streamed_[number]) box.back() = needed_part(std::move(box.back()), needed_[number][d], name);
    frame.lo.push_back(as_variable(box[d].level, "lo." + name, box[d].lo));
    frame.hi.push_back(as_variable(box[d].level, "hi." + name, box[d].hi));
    auto own = as_one_nest_ ? own_dim(number, d) : std::nullopt;
    frame.at.push_back(own ? at_[*own] : new_variable(name));
  }
  frame.operands = tensors_of(operation.operands);
  const std::size_t section = kernel_.sections.size(), level = level_with_endings(number, box, level_of_value);
  kernel_.sections.push_back({frame.lo, frame.at, frame.operands});
  if (streamed_[number]) return add_stream(number, level, frame, box);
  frame.results = tensors_of(operation.results);
  std::vector<Statement> body;
  if (op.region()) {
    GroupLowering inner(program_, op, kernel_, box, frame.operands, frame.results, machine_);
    inner.note_steps(steps_);
    body = inner.run();
  } else {
    body = lowered_with_endings(number, frame, box);
  }
  append(levels_[level].before, in_section(section, std::move(body)));
}

Extents GroupLowering::extents_of_box(const std::vector<DimSpan>& box) const {
  Extents extents;
  for (const DimSpan& span : box) {
    extents.sizes.push_back(span.most);
    extents.exact.push_back(span.exact);
    extents.follows.push_back(span.follows);
  }
  extents.bounded = true;
  return extents;
}

std::vector<Statement> GroupLowering::lowered(const Operator& op, const OperatorInKernel& frame,
                                              const std::vector<DimSpan>& box, bool accumulates_into_result) {
  Lowering lowering(program_, op, kernel_, frame, machine_);
  lowering.note_steps(steps_);
  return lowering.run(extents_of_box(box), kernel_.exact_arithmetic, accumulates_into_result);
}

// One of the maps that make up a streamed reduction.
std::vector<Statement> GroupLowering::lowered_part(const Operator& part, OperatorInKernel frame,
                                                   std::vector<DimSpan> box) {
  for (std::uint32_t d : part.writes[0].invariant_dims) {
    frame.lo[d] = zero_;
    frame.hi[d] = one_;
    box[d] = {number(0), number(1), 1, true, 0};
  }
  return lowered(part, frame, box);
}

void GroupLowering::add_stream(std::size_t number, std::size_t level, OperatorInKernel frame,
                               const std::vector<DimSpan>& box) {
  const Operation& operation = graph_.operations[number];
  std::vector<bool> written;
  for (ValueId v : operation.results) written.push_back(tensors_[v.index()] != none);
  StreamParts parts = stream_parts(program_, program_[operation.op], written);
  std::vector<std::uint32_t> results = tensors_of(operation.results), so_far, block;
  const std::size_t section = kernel_.sections.size() - 1;
  for (std::size_t r = 0; r < results.size(); ++r) {
    ValueId v = operation.results[r];
    const TensorType& kept = parts.partial.results[r];
    bool own = written[r] && kept == graph_[v].type;
    so_far.push_back(own ? results[r] : new_local(v, kept.element));
    if (!parts.accumulates_into_result) block.push_back(new_local(v, kept.element));
  }
  auto add_parts = [&](std::vector<Statement>& into, const std::vector<Operator>& maps) {
    for (const Operator& map : maps) append(into, lowered_part(map, frame, box));
  };
  frame.results = so_far;
  add_parts(levels_[0].before, parts.begin);
  std::vector<Statement> step;
  if (parts.accumulates_into_result) {
    step = lowered(parts.partial, frame, box, true);
  } else {
    frame.results = block;
    step = lowered(parts.partial, frame, box);
    frame.operands = so_far;
    frame.operands.insert(frame.operands.end(), block.begin(), block.end());
    frame.results = so_far;
    add_parts(step, parts.combine);
  }
  append(levels_[level].before, in_section(section, std::move(step)));
  frame.operands = so_far;
  frame.results = results;
  add_parts(levels_[0].after, parts.finish);
}

std::vector<Statement> GroupLowering::run() {
  std::vector<Statement> outside;
  zero_ = define(outside, "none", {bound(number(0))}, true);
  one_ = define(outside, "one", {bound(number(1))}, true);
  open_tiles();
  open_steps();
  place_values();
  std::vector<std::size_t> level_of_value(graph_.values.size(), 0);
  for (std::size_t o = 0; o < graph_.operations.size(); ++o)
    if (!ends_another_[o] && !is_direct_copy_[o] && windows_.demanded[o]) add_operation(o, level_of_value);
  std::vector<Statement> body;
  for (std::size_t k = levels_.size(); k-- > 0;) {
    Level& level = levels_[k];
    append(level.before, std::move(body));
    append(level.before, std::move(level.after));
    body = k == 0 ? std::move(level.before) : in_loop(std::move(level.loop), std::move(level.before));
  }
  for (std::size_t t = tiles_.size(); t-- > 0;) {
    append(tiles_[t].before, std::move(body));
    body = in_loop(std::move(tiles_[t].loop), std::move(tiles_[t].before));
  }
  append(outside, std::move(body));
  return outside;
}

namespace {

// Points of the inner operations; one of many instructions counts as several.
double work_inside(const Program& program, const Operator& group) {
  double all = 0;
  for (const Operation& operation : program[group.region()->graph].operations) {
    const Operator& op = program[operation.op];
    if (op.region()) {
      all += work_inside(program, op);
      continue;
    }
    double points = 1;
    for (const IndexDim& dim : op.dims)
      if (dim.role != DimRole::counter) points *= static_cast<double>(std::max<std::int64_t>(dim.range.size(), 1));
    all += points * usual_points(op);
  }
  return all;
}

// Calls split the dim with the most tiles (the outermost of equal ones).
void split_by_tiles(Kernel& kernel, const Program& program, const Operator& group, const Extents& extents,
                    const std::vector<std::int64_t>& points) {
  constexpr double worth = usual_points_of_call;
  double each = work_inside(program, group);
  std::int64_t most = 1;
  for (std::size_t d = 0; d < points.size(); ++d) {
    if (group.dims[d].role != DimRole::parallel) continue;
    std::int64_t tiles = (extents.sizes[d] + points[d] - 1) / points[d];
    if (tiles <= most) continue;
    most = tiles;
    kernel.tile_dim = d;
  }
  if (!kernel.tile_dim) return;
  kernel.grain = points[*kernel.tile_dim];
  each /= static_cast<double>(most);
  kernel.worth = each >= worth ? 1 : static_cast<std::int64_t>(std::ceil(worth / each));
}

}  // namespace

Extents extents_of_group(const Operator& group) {
  Operator whole = group;
  std::erase_if(whole.blockings, [&](const Blocking& b) { return group.dims[b.block_dim].role == DimRole::reduction; });
  Extents extents = extents_of(whole);
  for (std::size_t d = 0; d < extents.sizes.size(); ++d)
    if (!extents.exact[d]) extents.sizes[d] = extents.most(whole, d);
  return extents;
}

void lower_group(const Program& program, const Operator& group, Kernel& kernel, const OperatorInKernel& frame,
                 const Extents& extents, const LowerOptions& options) {
  std::vector<DimSpan> box;
  for (std::uint32_t d = 0; d < group.dims.size(); ++d)
    box.push_back({AffineExpr::variable(kernel.variables.size(), frame.lo[d]),
                   AffineExpr::variable(kernel.variables.size(), frame.hi[d]),
                   extents.sizes[d],
                   extents.exact[d],
                   0,
                   {d}});
  GroupLowering lowering(program, group, kernel, std::move(box), frame.operands, frame.results, options.machine);
  if (options.prepared && !options.any_box) lowering.may_prepare(options.constant);
  lowering.note_steps(options.steps);
  lowering.is_outermost(frame.at);
  kernel.body = lowering.run();
  if (options.prepared) *options.prepared = lowering.take_prepared();
  if (!lowering.is_one_nest()) split_by_tiles(kernel, program, group, extents, lowering.points());
}

}  // namespace tap::backend
