#include "backend/trial/reference.h"

#include <algorithm>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/graphs/demand.h"
#include "ir/interpret/interpret_operation.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

Box without_reductions(const Operator& op, Box box) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) box.dims[d] = {0, 1};
  return box;
}

bool runs_as_group(const Operator& op) { return op.region() && op.region()->kind == RegionKind::group; }

// By nesting depth, the value of each iterate's counter, innermost last.
std::vector<std::int64_t> counters_of(const Operator& op) {
  std::size_t levels = 0;
  for (const IndexDim& dim : op.dims)
    if (dim.role == DimRole::counter) levels = std::max<std::size_t>(levels, dim.level + 1);
  std::vector<std::int64_t> counters(levels, 0);
  for (const IndexDim& dim : op.dims)
    if (dim.role == DimRole::counter) counters[levels - 1 - dim.level] = dim.range.lo;
  return counters;
}

// Restricts the operator to tensors that have only these parts.
void keep_parts(std::vector<Access>& accesses, std::vector<TensorType>& types, const std::vector<const Box*>& boxes) {
  for (std::size_t k = 0; k < types.size(); ++k) types[k].shape = boxes[k]->shape();
  for (Access& access : accesses)
    for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
      const std::int64_t lo = boxes[access.tensor]->dims[axis].lo;
      const bool from_data = axis < access.coordinates.size() && access.coordinates[axis];
      TAP_CHECK(!from_data || lo == 0, "a coordinate from data reaches only a part of its axis");
      if (!from_data) access.projection.start.rows[axis].offset -= lo;
    }
}

class PartEvaluator {
 public:
  PartEvaluator(const Program& program, std::vector<std::int64_t> counters)
      : program_(program), counters_(std::move(counters)) {}

  void run(const Operator& op, const Box& box, const std::vector<const TensorPart*>& operands,
           const std::vector<TensorPart*>& results) const {
    runs_as_group(op) ? group(op, box, operands, results) : cells(op, box, operands, results);
  }

 private:
  void cells(const Operator& op, const Box& box, const std::vector<const TensorPart*>& operands,
             const std::vector<TensorPart*>& results) const {
    Operator narrowed_op = op;
    std::vector<const Box*> read, written;
    oracle::OperationInput input{program_, narrowed_op, options_, counters_, {}, {}, no_names_};
    std::vector<oracle::Datum*> into;
    for (const TensorPart* part : operands) {
      read.push_back(&part->box);
      input.operands.push_back(&part->cells);
    }
    for (TensorPart* part : results) {
      written.push_back(&part->box);
      into.push_back(&part->cells);
    }
    keep_parts(narrowed_op.reads, narrowed_op.operands, read);
    keep_parts(narrowed_op.writes, narrowed_op.results, written);
    input.operand_names.resize(operands.size());
    oracle::evaluate_operation(input, into, box);
  }

  // Runs every operation on the box that demand determines. A streamed reduction is one reduction here.
  void group(const Operator& op, const Box& box, const std::vector<const TensorPart*>& operands,
             const std::vector<TensorPart*>& results) const {
    const GroupView view = view_of(program_, op);
    const Graph& graph = view.graph;
    const Demand demanded = demand(view, narrowed(op, box));
    std::vector<TensorPart> values;
    for (std::size_t v = 0; v < graph.values.size(); ++v)
      values.push_back(blank_part(graph.values[v].type.element, demanded.values[v]));
    std::vector<const TensorPart*> known;
    for (const TensorPart& part : values) known.push_back(&part);
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) known[graph.inputs[k].index()] = operands[k];
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Operation& operation = graph.operations[o];
      const Operator& inner = program_[operation.op];
      if (!demanded.demanded[o] || without_reductions(inner, demanded.operations[o]).empty()) continue;
      std::vector<const TensorPart*> from;
      std::vector<TensorPart*> to;
      for (ValueId v : operation.operands) from.push_back(known[v.index()]);
      for (ValueId v : operation.results) to.push_back(&values[v.index()]);
      run(inner, demanded.operations[o], from, to);
    }
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) copy_written(values[graph.outputs[k].index()], *results[k]);
  }

  static InterpretOptions with_bounds() {
    InterpretOptions options;
    options.with_bounds = true;
    return options;
  }

  static void copy_written(const TensorPart& from, TensorPart& to) {
    const std::vector<std::int64_t> strides = row_major_strides(to.box.shape());
    std::int64_t at = 0;
    auto p = first_point(from.box);
    for (bool more = p.has_value(); more; more = next_point(from.box, *p), ++at) {
      if (from.cells.bound.load_f64(at) < 0 || !to.box.contains(*p)) continue;
      std::int64_t target = 0;
      for (std::size_t axis = 0; axis < strides.size(); ++axis)
        target += ((*p)[axis] - to.box.dims[axis].lo) * strides[axis];
      if (is_float(to.element)) to.cells.value.store_f64(target, from.cells.value.load_f64(at));
      else to.cells.value.store_i64(target, from.cells.value.load_i64(at));
      to.cells.bound.store_f64(target, from.cells.bound.load_f64(at));
    }
  }

  const Program& program_;
  const std::vector<std::int64_t> counters_;
  const InterpretOptions options_ = with_bounds();
  const std::optional<OperationNames> no_names_;
};

// For an output, the writes of its operations at the points that correspond to the box.
Box own_part(const Program& program, const GroupView& view, const Box& box, ValueId output) {
  Box all;
  for (std::size_t o = 0; o < view.graph.operations.size(); ++o) {
    const Operation& operation = view.graph.operations[o];
    const Operator& op = program[operation.op];
    Box points = op.box();
    for (const GroupAnchor& a : view.anchors)
      if (a.operation == o) points.dims[a.inner_dim] = intersect(points.dims[a.inner_dim], box.dims[a.dim]);
    for (std::uint32_t r = 0; r < operation.results.size(); ++r) {
      if (operation.results[r] != output) continue;
      const Box part = written_region(op, r, points);
      all = all.rank() == 0 ? part : hull(all, part);
    }
  }
  return all;
}

}  // namespace

TensorPart blank_part(ElementType element, Box box) {
  for (Range& range : box.dims)
    if (range.empty()) range = {0, 0};
  TensorPart part{element, std::move(box), {}};
  const Shape shape = part.box.shape();
  part.cells = {Tensor(element, shape), Tensor(ElementType::f64, shape)};
  for (double& bound : part.cells.bound.as_mutable<double>()) bound = -1;
  return part;
}

TouchedParts touched_parts(const Program& program, const Operator& op, const Box& box) {
  TouchedParts result;
  if (runs_as_group(op)) {
    const GroupView view = view_of(program, op);
    const Demand demanded = demand(view, narrowed(op, box));
    // A kernel also reads cells that no result depends on: they are in the schedule's part, beside the demanded ones.
    for (std::uint32_t k = 0; k < view.graph.inputs.size(); ++k) {
      const Box& part = demanded.values[view.graph.inputs[k].index()];
      result.operands.push_back(part.empty() ? read_region(op, k, narrowed(op, box)) : part);
    }
    for (ValueId v : view.graph.outputs) {
      result.results.push_back(demanded.values[v.index()]);
      result.own.push_back(own_part(program, view, narrowed(op, box), v));
    }
    return result;
  }
  const Box narrowed_box = narrowed(op, box);
  for (std::uint32_t k = 0; k < op.operands.size(); ++k) result.operands.push_back(read_region(op, k, narrowed_box));
  for (std::uint32_t k = 0; k < op.results.size(); ++k) result.results.push_back(written_region(op, k, narrowed_box));
  result.own = result.results;
  return result;
}

double points_of(const Program& program, const Operator& op, const Box& box) {
  if (runs_as_group(op)) {
    const GroupView view = view_of(program, op);
    const Demand demanded = demand(view, narrowed(op, box));
    double points = 0;
    for (std::size_t o = 0; o < view.graph.operations.size(); ++o)
      if (demanded.demanded[o])
        points += points_of(program, program[view.graph.operations[o].op], demanded.operations[o]);
    return points;
  }
  const Box narrowed_box = narrowed(op, box);
  double points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role != DimRole::counter) points *= static_cast<double>(narrowed_box.dims[d].size());
  return points;
}

void evaluate_reference(const Program& program, const Operator& op, const Box& box,
                        const std::vector<const TensorPart*>& operands, const std::vector<TensorPart*>& results) {
  PartEvaluator(program, counters_of(op)).run(op, box, operands, results);
}

}  // namespace tap::backend
