#include "ir/interpret/interpret_group.h"

#include <algorithm>
#include <limits>
#include <map>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/graphs/demand.h"
#include "ir/graphs/streamed_reduction.h"
#include "ir/interpret/interpret_operation.h"
#include "support/check.h"

namespace tap::ir::oracle {
namespace {

void fill_with_noise(Tensor& tensor) {
  for (std::int64_t at = 0; at < tensor.size(); ++at) {
    if (is_float(tensor.type())) tensor.store_f64(at, std::numeric_limits<double>::quiet_NaN());
    else tensor.store_i64(at, 0x5a5a5a5a5a5a5a5b);
  }
}

Datum poisoned(const TensorType& type, bool with_bounds) {
  Datum datum{Tensor(type.element, type.shape), {}};
  fill_with_noise(datum.value);
  if (with_bounds) datum.bound = Tensor(ElementType::f64, type.shape);
  return datum;
}

void copy_cell(Tensor& to, const Tensor& from, std::int64_t at) {
  if (is_float(to.type())) to.store_f64(at, from.load_f64(at));
  else to.store_i64(at, from.load_i64(at));
}

// Between tensors of one shape.
void copy_region(Datum& to, const Datum& from, const Box& region) {
  std::vector<std::int64_t> strides = row_major_strides(to.value.shape());
  auto p = first_point(region);
  for (bool more = p.has_value(); more; more = next_point(region, *p)) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) at += strides[axis] * (*p)[axis];
    copy_cell(to.value, from.value, at);
    if (to.has_bound() && from.has_bound()) copy_cell(to.bound, from.bound, at);
  }
}

// The parts of a box with at most this many points per dim of that kind; 0: the whole box.
std::vector<Box> parts_of(const Operator& group, const Box& box, bool reduction, std::int64_t points) {
  Box numbers;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    bool is_split = points > 0 && (group.dims[d].role == DimRole::reduction) == reduction;
    numbers.dims.push_back({0, is_split ? (box.dims[d].size() + points - 1) / points : 1});
  }
  std::vector<Box> parts;
  auto number = first_point(numbers);
  for (bool more = number.has_value(); more; more = next_point(numbers, *number)) {
    Box part = box;
    for (std::size_t d = 0; d < box.rank(); ++d) {
      std::int64_t lo = box.dims[d].lo + (*number)[d] * points;
      if (numbers.dims[d].size() > 1) part.dims[d] = intersect(Range{lo, lo + points}, box.dims[d]);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// The graph of one group, on boxes of its dims.
class GroupInBlocks {
 public:
  GroupInBlocks(const GroupInput& input, const Operator& group)
      : in_(input), group_(group), view_(view_of(input.program, group)), graph_(view_.graph) {
    for (const GroupAnchor& a : view_.anchors)
      if (group_.dims[a.dim].role == DimRole::reduction)
        streamed_.try_emplace(a.operation,
                              Streamed{streamed(in_.program, in_.program[graph_.operations[a.operation].op]), {}});
  }

  void run(Box box, const std::vector<const Datum*>& operands, const std::vector<Datum*>& results) {
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (group_.dims[d].role == DimRole::counter) box.dims[d] = current(group_.dims[d]);
    for (const Box& part : parts_of(group_, box, false, in_.options.group_block)) {
      for (auto& [operation, stream] : streamed_) stream.so_far.clear();
      for (const Box& streamed : application_boxes(group_, walked_dims(), part))
        for (const Box& block : parts_of(group_, streamed, true, in_.options.group_block))
          run_block(block, operands, results);
      for (auto& [operation, stream] : streamed_) finish(operation, stream, part, results);
    }
  }

 private:
  struct Streamed {
    StreamedReduction operators;
    std::vector<Datum> so_far;  // by result of the operation: the accumulator
  };

  Range current(const IndexDim& counter) const {
    std::int64_t trip = in_.counters.at(in_.counters.size() - 1 - counter.level);
    return {trip, trip + 1};
  }
  // The block dims of streamed reductions.
  std::vector<std::uint32_t> walked_dims() const {
    std::vector<std::uint32_t> dims;
    for (std::uint32_t d = 0; d < group_.dims.size(); ++d)
      if (group_.dims[d].role == DimRole::reduction && is_block_dim(group_, d)) dims.push_back(d);
    return dims;
  }
  Datum blank(const TensorType& type) const { return poisoned(type, in_.options.with_bounds); }

  void run_block(const Box& block, const std::vector<const Datum*>& operands, const std::vector<Datum*>& results) {
    Demand block_demand = demand(view_, block);
    std::vector<Datum> values;
    for (const Value& value : graph_.values) values.push_back(blank(value.type));
    for (std::size_t k = 0; k < graph_.inputs.size(); ++k) {
      std::size_t v = graph_.inputs[k].index();
      copy_region(values[v], *operands[k], block_demand.values[v]);
    }
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      const Operation& operation = graph_.operations[o];
      const Operator& op = in_.program[operation.op];
      const Box& box = block_demand.operations[o];
      if (!block_demand.demanded[o] || without_reduction(op, box).empty()) continue;
      std::vector<const Datum*> read;
      for (ValueId v : operation.operands) read.push_back(&values[v.index()]);
      if (auto it = streamed_.find(o); it != streamed_.end()) {
        stream(it->second, operation, op, box, read);
        continue;
      }
      std::vector<Datum*> written;
      for (ValueId v : operation.results) written.push_back(&values[v.index()]);
      if (op.region()) GroupInBlocks(in_, op).run(box, read, written);
      else evaluate(operation, op, box, std::move(read), written);
      hand_out(operation, op, box, {written.begin(), written.end()}, results);
    }
  }

  void evaluate(const Operation& operation, const Operator& op, const Box& box, std::vector<const Datum*> operands,
                const std::vector<Datum*>& results) {
    OperationInput input{in_.program, op, in_.options, in_.counters, std::move(operands), {}, operation.names};
    for (ValueId v : operation.operands) input.operand_names.push_back(graph_[v].name);
    input.operand_names.resize(input.operands.size());  // intermediate values have no names
    if (!operation.results.empty()) input.result = graph_[operation.results[0]].name;
    evaluate_operation(input, results, box);
  }

  // Copies results of the group out: only the cells that the points of the box write, since these may be interleaved
  // with others.
  void hand_out(const Operation& operation, const Operator& op, const Box& box, const std::vector<const Datum*>& from,
                const std::vector<Datum*>& results) const {
    Box points = without_reduction(op, box);
    for (const Access& write : op.writes)
      for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
        if (graph_.outputs[k] != operation.results[write.tensor]) continue;
        Box whole = Box::of_shape(op.results[write.tensor].shape);
        auto p = first_point(points);
        for (bool more = p.has_value(); more; more = next_point(points, *p))
          copy_region(*results[k], *from[write.tensor], intersect(write.projection.image(*p), whole));
      }
  }

  std::vector<Datum> evaluated(const Operation& operation, const Operator& op, const Box& box,
                               std::vector<const Datum*> operands) {
    std::vector<Datum> made;
    std::vector<Datum*> to;
    for (const TensorType& type : op.results) made.push_back(blank(type));
    for (Datum& datum : made) to.push_back(&datum);
    evaluate(operation, op, box, std::move(operands), to);
    return made;
  }

  // Adds one block to a streamed reduction.
  void stream(Streamed& streamed, const Operation& operation, const Operator& op, const Box& box,
              std::vector<const Datum*> operands) {
    std::vector<Datum> partial = evaluated(operation, streamed.operators.partial, box, std::move(operands));
    if (!streamed.so_far.empty()) {
      std::vector<const Datum*> both;
      for (const auto* list : {&streamed.so_far, &partial})
        for (const Datum& datum : *list) both.push_back(&datum);
      partial = evaluated(operation, streamed.operators.combine, without_reduction(op, box), std::move(both));
    }
    streamed.so_far = std::move(partial);
  }

  void finish(std::size_t number, Streamed& streamed, const Box& part, const std::vector<Datum*>& results) {
    if (streamed.so_far.empty()) return;
    const Operation& operation = graph_.operations[number];
    const Operator& op = in_.program[operation.op];
    Box box = without_reduction(op, demand(view_, part).operations[number]);
    std::vector<const Datum*> kept;
    for (const Datum& datum : streamed.so_far) kept.push_back(&datum);
    std::vector<Datum> made = evaluated(operation, streamed.operators.finish, box, std::move(kept));
    std::vector<const Datum*> from;
    for (const Datum& datum : made) from.push_back(&datum);
    hand_out(operation, op, box, from, results);
  }

  const GroupInput& in_;
  const Operator& group_;
  GroupView view_;
  const Graph& graph_;
  std::map<std::size_t, Streamed> streamed_;  // by operation
};

}  // namespace

void evaluate_group(const GroupInput& input, const Box& box, const std::vector<const Datum*>& operands,
                    const std::vector<Datum*>& results) {
  GroupInBlocks(input, input.group).run(box, operands, results);
}

std::vector<Datum> evaluate_group(const GroupInput& input, const std::vector<Datum>& operands) {
  std::vector<const Datum*> from;
  for (const Datum& datum : operands) from.push_back(&datum);
  std::vector<Datum> results;
  for (const TensorType& type : input.group.results) results.push_back(poisoned(type, input.options.with_bounds));
  std::vector<Datum*> to;
  for (Datum& datum : results) to.push_back(&datum);
  evaluate_group(input, input.group.box(), from, to);
  return results;
}

}  // namespace tap::ir::oracle
