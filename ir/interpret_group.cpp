#include "ir/interpret_group.h"

#include <algorithm>
#include <limits>

#include "ir/demand.h"
#include "ir/interpret_operation.h"
#include "ir/interpret_reduce.h"
#include "support/check.h"

namespace tap::ir::oracle {
namespace {

void poison(Tensor& tensor, std::int64_t at) {
  if (is_float(tensor.type())) tensor.store_f64(at, std::numeric_limits<double>::quiet_NaN());
  else tensor.store_i64(at, 0x5a5a5a5a5a5a5a5b);
}

std::int64_t position(const Shape& shape, const Point& p) {
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + p[axis];
  return at;
}

Datum poisoned(const TensorType& type) {
  Datum datum{Tensor(type.element, type.shape), {}};
  for (std::int64_t c = 0; c < datum.value.size(); ++c) poison(datum.value, c);
  return datum;
}

void copy_cell(Tensor& to, const Tensor& from, std::int64_t at) {
  if (is_float(to.type())) to.store_f64(at, from.load_f64(at));
  else to.store_i64(at, from.load_i64(at));
}

void copy_region(Tensor& to, const Tensor& from, const Box& region) {
  auto p = first_point(region);
  for (bool more = p.has_value(); more; more = next_point(region, *p)) copy_cell(to, from, position(to.shape(), *p));
}

Cell load(const Tensor& tensor, std::int64_t at) {
  Cell cell;
  if (is_float(tensor.type())) cell.value.f = tensor.load_f64(at);
  else cell.value.i = tensor.load_i64(at);
  return cell;
}

// The graph of one group, on boxes of its dims.
class GroupInBlocks {
 public:
  GroupInBlocks(const GroupInput& input, const Operator& group)
      : in_(input), group_(group), view_(view_of(input.program, group)), graph_(view_.graph) {}

  // The results on `box`, written into tensors that have their whole shape.
  void run(const Box& box, const std::vector<const Datum*>& operands, const std::vector<Datum*>& results) {
    Box blocks;
    for (std::size_t d = 0; d < box.rank(); ++d) {
      bool whole = group_.dims[d].role == DimRole::counter;
      std::int64_t size = whole ? std::max<std::int64_t>(box.dims[d].size(), 1) : in_.options.group_block;
      blocks.dims.push_back({0, (box.dims[d].size() + size - 1) / size});
    }
    for (const Value& value : graph_.values) so_far_.push_back(poisoned(value.type));
    auto number = first_point(blocks);
    for (bool more = number.has_value(); more; more = next_point(blocks, *number)) {
      Box block;
      bool first = true;
      for (std::size_t d = 0; d < box.rank(); ++d) {
        std::int64_t lo = box.dims[d].lo + (*number)[d] * in_.options.group_block;
        block.dims.push_back(group_.dims[d].role == DimRole::counter
                                 ? current(group_.dims[d])
                                 : intersect(Range{lo, lo + in_.options.group_block}, box.dims[d]));
        first &= group_.dims[d].role != DimRole::reduction || (*number)[d] == 0;
      }
      run_block(block, first, operands, results);
    }
  }

 private:
  Range current(const IndexDim& counter) const {
    std::int64_t trip = in_.counters[in_.counters.size() - 1 - counter.level];
    return {trip, trip + 1};
  }

  void run_block(const Box& block, bool first, const std::vector<const Datum*>& operands,
                 const std::vector<Datum*>& results) {
    Demand asked = demand(view_, block);
    std::vector<Datum> values;
    for (const Value& value : graph_.values) values.push_back(poisoned(value.type));
    for (std::size_t k = 0; k < graph_.inputs.size(); ++k) {
      std::size_t v = graph_.inputs[k].index();
      copy_region(values[v].value, operands[k]->value, asked.values[v]);
    }
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      const Operator& op = in_.program[graph_.operations[o].op];
      const Box& box = asked.operations[o];
      bool nothing = false;
      for (std::size_t d = 0; d < box.rank(); ++d)
        nothing |= op.dims[d].role != DimRole::reduction && box.dims[d].empty();
      if (nothing) continue;
      evaluate(graph_.operations[o], op, box, values);
      hand_out(graph_.operations[o], op, o, box, first, values, results);
    }
  }

  void evaluate(const Operation& operation, const Operator& op, const Box& box, std::vector<Datum>& values) {
    OperationInput input{in_.program, op, in_.options, in_.counters, {}, {}, operation.names};
    std::vector<Datum*> results;
    for (ValueId v : operation.operands) {
      input.operands.push_back(&values[v.index()]);
      input.operand_names.push_back(graph_[v].name);
    }
    for (ValueId v : operation.results) results.push_back(&values[v.index()]);
    if (op.region()) GroupInBlocks(in_, op).run(box, input.operands, results);
    else evaluate_operation(input, results, box);
  }

  // What an operation wrote of the group's results goes out. Of a streamed reduction that is what its blocks so far give.
  void hand_out(const Operation& operation, const Operator& op, std::size_t number, Box box, bool first,
                const std::vector<Datum>& values, const std::vector<Datum*>& results) {
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (op.dims[d].role == DimRole::reduction) box.dims[d] = {0, 1};
    bool streamed = std::any_of(view_.anchors.begin(), view_.anchors.end(), [&](const GroupAnchor& a) {
      return a.operation == number && group_.dims[a.dim].role == DimRole::reduction;
    });
    if (streamed && !first) combine(operation, op, box, values);
    for (const Access& write : op.writes) {
      std::size_t v = operation.results[write.tensor].index();
      Box region = intersect(write.projection.bounds(box), Box::of_shape(values[v].value.shape()));
      if (streamed && first) copy_region(so_far_[v].value, values[v].value, region);
      for (std::size_t k = 0; k < graph_.outputs.size(); ++k)
        if (graph_.outputs[k].index() == v)
          copy_region(results[k]->value, (streamed ? so_far_ : values)[v].value, region);
    }
  }

  void combine(const Operation& operation, const Operator& op, const Box& box, const std::vector<Datum>& values) {
    Combiner combiner(in_.program[op.reduce()->monoid], false);
    std::vector<ComponentState> state(combiner.arity());
    std::vector<Tensor> before;  // components with fewer indices than others must not change under way
    auto value_of = [&](std::size_t w) { return operation.results[op.writes[w].tensor].index(); };
    for (std::size_t w = 0; w < op.writes.size(); ++w) before.push_back(copy_of(so_far_[value_of(w)].value));
    auto p = first_point(box);
    for (bool more = p.has_value(); more; more = next_point(box, *p)) {
      std::vector<Cell> earlier, later;
      std::vector<std::int64_t> at;
      for (std::size_t w = 0; w < op.writes.size(); ++w) {
        at.push_back(position(before[w].shape(), op.writes[w].projection.start(*p)));
        earlier.push_back(load(before[w], at.back()));
        later.push_back(load(values[value_of(w)].value, at.back()));
      }
      combiner.reset(state.data());
      combiner.append(state.data(), earlier.data());
      combiner.append(state.data(), later.data());
      for (std::size_t w = 0; w < at.size(); ++w) {
        Cell cell = combiner.result(state.data(), w);
        Tensor& to = so_far_[value_of(w)].value;
        if (is_float(to.type())) to.store_f64(at[w], cell.value.f);
        else to.store_i64(at[w], cell.value.i);
      }
    }
  }

  static Tensor copy_of(const Tensor& tensor) {
    Tensor copy(tensor.type(), tensor.shape());
    for (std::int64_t c = 0; c < tensor.size(); ++c) copy_cell(copy, tensor, c);
    return copy;
  }

  const GroupInput& in_;
  const Operator& group_;
  GroupView view_;
  const Graph& graph_;
  std::vector<Datum> so_far_;  // by value: what streamed reductions have combined
};

}  // namespace

std::vector<Datum> evaluate_group_in_blocks(const GroupInput& input, const std::vector<Datum>& operands) {
  std::vector<const Datum*> from;
  for (const Datum& datum : operands) from.push_back(&datum);
  std::vector<Datum> results;
  for (const TensorType& type : input.group.results) results.push_back(poisoned(type));
  std::vector<Datum*> to;
  for (Datum& datum : results) to.push_back(&datum);
  GroupInBlocks(input, input.group).run(input.group.box(), from, to);
  return results;
}

}  // namespace tap::ir::oracle
