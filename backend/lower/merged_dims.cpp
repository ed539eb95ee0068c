#include "backend/lower/merged_dims.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "backend/lower/merging.h"
#include "ir/graph.h"
#include "ir/graphs/demand.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

// New dims, and for each original dim the new one that it is in; none if it is left out.
struct DimMap {
  std::vector<std::vector<std::uint32_t>> dims;  // the original ones, outermost first
  std::vector<std::optional<std::uint32_t>> now;

  DimMap(const std::vector<std::optional<std::uint32_t>>& inner, const std::vector<std::optional<std::uint32_t>>& outer,
         const std::vector<bool>& is_point)
      : now(inner.size()) {
    for (std::uint32_t d = 0; d < inner.size(); ++d) {
      if (outer[d] || is_point[d]) continue;
      dims.emplace_back();
      for (std::optional<std::uint32_t> at = d; at; at = inner[*at]) {
        now[*at] = static_cast<std::uint32_t>(dims.size() - 1);
        dims.back().push_back(*at);
      }
    }
  }
  bool is_innermost(std::uint32_t d) const { return now[d] && dims[*now[d]].back() == d; }
};

std::int64_t size_inside(const Operator& op, const std::vector<std::uint32_t>& dims, std::size_t from) {
  std::int64_t size = 1;
  for (std::size_t k = from; k < dims.size(); ++k) size *= op.dims[dims[k]].range.size();
  return size;
}

// A dim that is left out has one value.
AffineExpr renumbered(const Operator& op, const DimMap& map, const AffineExpr& e) {
  AffineExpr result = AffineExpr::constant(map.dims.size(), e.offset);
  for (std::uint32_t d = 0; d < e.coefficients.size(); ++d) {
    if (!map.now[d]) result.offset += e.coefficients[d] * op.dims[d].range.lo;
    else if (map.is_innermost(d)) result.coefficients[*map.now[d]] = e.coefficients[d];
  }
  return result;
}

std::vector<IndexDim> merged_dims(const Operator& op, const DimMap& map) {
  std::vector<IndexDim> dims;
  for (const std::vector<std::uint32_t>& of : map.dims) {
    IndexDim dim = op.dims[of[0]];
    const std::int64_t inside = size_inside(op, of, 1);
    dim.range = {dim.range.lo * inside, dim.range.hi * inside};
    for (std::size_t k = 1; k < of.size(); ++k) dim.name += "_" + op.dims[of[k]].name;
    dims.push_back(std::move(dim));
  }
  return dims;
}

std::vector<Blocking> renumbered(const std::vector<Blocking>& blockings, const DimMap& map) {
  std::vector<Blocking> result = blockings;
  for (Blocking& b : result) b.dim = *map.now[b.dim], b.block_dim = *map.now[b.block_dim];
  return result;
}

CellExprs renumbered(const CellExprs& exprs, const DimMap& map) {
  CellExprs result;
  for (std::size_t c = 0; c < exprs.size(); ++c) {
    CellNode node = exprs[CellId(c)];
    if (node.op == CellOp::index) node.attribute = *map.now[node.attribute];
    result.add(std::move(node));
  }
  return result;
}

using Joined = std::map<std::size_t, std::size_t>;  // from an axis to the next outer one

// Of a joined axis and those outside it: the sum of their coordinates, in cells of this axis.
Projection merged_rows(const Operator& op, const DimMap& map, const Projection& projection, const Shape& shape,
                       const Joined& joined) {
  Projection result = projection;
  result.start.inputs = map.dims.size();
  for (AffineExpr& row : result.start.rows) row = renumbered(op, map, row);
  auto& rows = result.start.rows;
  std::map<std::size_t, std::int64_t> inside;  // by axis: the cells of the joined axes within one of its own
  for (auto pair = joined.rbegin(); pair != joined.rend(); ++pair) {
    const auto [axis, outer] = *pair;
    inside[outer] = shape[axis] * (inside.contains(axis) ? inside[axis] : 1);
  }
  for (auto pair = joined.rbegin(); pair != joined.rend(); ++pair) {
    std::size_t innermost = pair->first;
    for (const auto& [axis, outer] : joined)  // ascending, so it ends at the innermost one
      if (outer == innermost) innermost = axis;
    // With what else moves along the outer axis: a window's rows.
    rows[innermost] = rows[innermost] + scale(rows[pair->second], inside[pair->second]);
    rows[pair->second] = AffineExpr::constant(map.dims.size(), 0);
  }
  return result;
}

Shape merged_shape(Shape shape, const Joined& joined) {
  for (const auto& [axis, outer] : joined) {  // ascending: from the outermost one
    shape[axis] *= shape[outer];
    shape[outer] = 1;
  }
  return shape;
}

// The innermost axis of several cells comes last: those after it have one cell, so it has the same stride there.
template <class List>
void put_last(List& by_axis, std::optional<std::size_t> axis) {
  if (axis && *axis < by_axis.size()) std::swap(by_axis[*axis], by_axis.back());
}

Operator merged_member(const Merging& merging, const Merging::Member& member, const DimMap& map) {
  const Operator& original = *member.op;
  Operator op = original;
  op.dims = merged_dims(original, map);
  op.blockings = renumbered(op.blockings, map);
  op.exprs = renumbered(op.exprs, map);
  for (Constraint& c : op.constraints) c.expr = renumbered(original, map, c.expr);
  auto types = [&](std::vector<TensorType>& own, const std::vector<std::size_t>& tensors) {
    for (std::size_t k = 0; k < own.size(); ++k) {
      own[k].shape = merged_shape(own[k].shape, merging.joined[tensors[k]]);
      put_last(own[k].shape, merging.last[tensors[k]]);
    }
  };
  auto accesses = [&](std::vector<Access>& own, const std::vector<std::size_t>& tensors) {
    for (Access& access : own) {
      const std::size_t tensor = tensors[access.tensor];
      access.projection =
          merged_rows(original, map, access.projection, merging.types[tensor].shape, merging.joined[tensor]);
      put_last(access.projection.start.rows, merging.last[tensor]);
      put_last(access.projection.shape, merging.last[tensor]);
      if (!access.coordinates.empty()) put_last(access.coordinates, merging.last[tensor]);
      for (std::uint32_t& d : access.invariant_dims) d = *map.now[d];
    }
  };
  types(op.operands, member.operands), types(op.results, member.results);
  accesses(op.reads, member.operands), accesses(op.writes, member.results);
  return op;
}

Graph merged_graph(Graph graph, const Merging& merging) {
  graph.groups.clear(), graph.barriers.clear(), graph.splits.clear();
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    graph.values[v].type.shape = merged_shape(graph.values[v].type.shape, merging.joined[v]);
    put_last(graph.values[v].type.shape, merging.last[v]);
    graph.values[v].sharding.reset();
  }
  for (std::size_t o = 0; o < graph.operations.size(); ++o)
    graph.operations[o] = {OperatorId(o), graph.operations[o].operands, graph.operations[o].results, {}};
  return graph;
}

// The group over `merged.program`, whose first graph is the group's. `maps`: of its operations.
void merge_group(MergedOperator& merged, const Operator& group, const Merging& merging,
                 const std::vector<DimMap>& maps) {
  std::vector<std::optional<std::uint32_t>> inner(group.dims.size()), outer(group.dims.size());
  for (std::size_t o = 0; o < merging.members.size(); ++o)
    for (std::uint32_t d = 0; d < merging.members[o].inner.size(); ++d) {
      const auto within = merging.members[o].inner[d], own = group_dim(group, o, d);
      if (!within || !own) continue;
      inner[*own] = group_dim(group, o, *within);
      outer[*inner[*own]] = own;
    }
  const DimMap map(inner, outer, std::vector<bool>(group.dims.size(), false));
  const Graph& graph = merged.program.graphs[0];
  RegionBody region = *group.region();
  region.graph = GraphId(0);
  std::erase_if(region.anchors, [&](const GroupAnchor& a) { return outer[a.dim].has_value(); });
  for (GroupAnchor& a : region.anchors) {
    a.inner_dim = *maps[a.operation].now[a.inner_dim];
    a.dim = *map.now[a.dim];
  }
  Operator& op = merged.op = group;
  op.dims = merged_dims(group, map);
  op.blockings = renumbered(op.blockings, map);
  for (Constraint& c : op.constraints) c.expr = renumbered(group, map, c.expr);
  for (std::size_t k = 0; k < op.operands.size(); ++k) op.operands[k] = graph[graph.inputs[k]].type;
  for (std::size_t k = 0; k < op.results.size(); ++k) op.results[k] = graph[graph.outputs[k]].type;
  op.body = std::move(region);
  const GroupView view = view_of(merged.program, op);
  const MovingDemand windows = moving_demand(view);
  op.reads = group_reads(view, windows);
  op.writes = group_writes(view, windows);
  merged.dims = map.dims;
}

MergedOperator build(const Program& program, const Operator& op, const Merging& merging) {
  MergedOperator merged;
  merged.program.monoids = program.monoids;
  std::vector<DimMap> maps;
  for (const Merging::Member& member : merging.members) {
    const DimMap& map = maps.emplace_back(member.inner, member.outer, member.is_point);
    merged.inner_dims.push_back(map.dims);
    merged.program.operators.push_back(merged_member(merging, member, map));
  }
  if (op.region()) {
    merged.program.graphs.push_back(merged_graph(program[op.region()->graph], merging));
    merge_group(merged, op, merging, maps);
  } else {
    merged.op = merged.program.operators[0];
    merged.dims = merged.inner_dims[0];
  }
  return merged;
}

}  // namespace

std::optional<MergedOperator> merge_dims(const Program& program, const Operator& op, const Extents& extents,
                                         const std::vector<bool>& constant, bool through_windows) {
  const auto merging = find_merging(program, op, extents, constant, through_windows);
  if (!merging) return std::nullopt;
  try {
    return build(program, op, *merging);
  } catch (const Overflow&) { return std::nullopt; }  // a coordinate counted in cells
}

OperatorInKernel merged_frame(const MergedOperator& merged, const Operator& op, Kernel& kernel,
                              const OperatorInKernel& frame, std::vector<Statement>& definitions) {
  OperatorInKernel result;
  result.operands = frame.operands;
  result.results = frame.results;
  auto variable = [&](const std::string& name) {
    kernel.variables.push_back(name);
    return static_cast<std::uint32_t>(kernel.variables.size() - 1);
  };
  for (std::size_t d = 0; d < merged.dims.size(); ++d) {
    const std::vector<std::uint32_t>& of = merged.dims[d];
    if (of.size() == 1) {
      result.lo.push_back(frame.lo[of[0]]);
      result.hi.push_back(frame.hi[of[0]]);
      result.at.push_back(frame.at[of[0]]);
      continue;
    }
    // The first cell of the box, and the one after its last cell.
    AffineExpr first = AffineExpr::constant(kernel.variables.size(), 0), end = first;
    end.offset = 1;
    for (std::size_t k = 0; k < of.size(); ++k) {
      const std::int64_t inside = size_inside(op, of, k + 1);
      first.coefficients[frame.lo[of[k]]] = end.coefficients[frame.hi[of[k]]] = inside;
      end.offset -= inside;
    }
    const std::string& name = merged.op.dims[d].name;
    result.lo.push_back(variable("lo." + name));
    definitions.push_back({Define{result.lo.back(), {{first, 1}}, true}});
    result.hi.push_back(variable("hi." + name));
    definitions.push_back({Define{result.hi.back(), {{end, 1}}, true}});
    result.at.push_back(variable(name));
  }
  return result;
}

bool split_original_dim(Kernel& kernel, const MergedOperator& merged, const Operator& op, SplitAt at) {
  constexpr std::int64_t enough = 16;
  if (!kernel.tile_dim) return true;
  const std::vector<std::uint32_t>& of = merged.dims[*kernel.tile_dim];
  const std::int64_t extent = op.dims[of[0]].range.size(), inside = size_inside(op, of, 1), points = kernel.grain;
  const std::int64_t worthwhile = extent * inside / (points * std::max<std::int64_t>(kernel.worth, 1));
  kernel.tile_dim = of[0];
  if (of.size() == 1) return true;
  const std::int64_t whole_tiles = points / std::gcd(points, inside);
  kernel.grain = at == SplitAt::whole_tiles ? whole_tiles : (points + inside - 1) / inside;
  kernel.worth = (kernel.worth * points + kernel.grain * inside - 1) / (kernel.grain * inside);
  return extent / kernel.grain >= std::min({enough, worthwhile, extent});
}

std::vector<BoxStep> steps_of_original_dims(const std::vector<BoxStep>& steps, const MergedOperator& merged,
                                            const Operator& op) {
  std::vector<BoxStep> result(op.dims.size());
  for (std::size_t d = 0; d < merged.dims.size(); ++d) {
    const std::vector<std::uint32_t>& of = merged.dims[d];
    result[of.back()] = steps[d];
    for (std::size_t k = 1; k < of.size(); ++k) result[of[k]].within = of[k - 1];
  }
  return result;
}

void over_original_dims(std::vector<PreparedOperand>& prepared, const MergedOperator& merged) {
  for (PreparedOperand& p : prepared) {
    std::size_t reader = 0;
    if (const RegionBody* region = merged.op.region()) {
      const Graph& graph = merged.program[region->graph];
      auto reads = [&](const Operation& o) { return std::ranges::count(o.operands, graph.inputs[p.operand]) > 0; };
      reader = static_cast<std::size_t>(std::ranges::find_if(graph.operations, reads) - graph.operations.begin());
    }
    for (std::uint32_t& d : p.dims) d = merged.inner_dims[reader][d][0];
    p.along = merged.inner_dims[reader][p.along][0];
  }
}

}  // namespace tap::backend
