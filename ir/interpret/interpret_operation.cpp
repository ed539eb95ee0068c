// The loops. A map: for every point of the domain, its values. A reduction: for every point of the parallel dims, the
// combination over the reduction dims in lexicographic order, from the identity. Constraints that mention a reduction dim
// bound the reduction only: an empty reduction gives the identity.
#include "ir/interpret/interpret_operation.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/interpret/interpret_bounds.h"
#include "ir/interpret/interpret_cell_operation.h"
#include "ir/interpret/interpret_domain.h"
#include "support/check.h"

namespace tap::ir::oracle {
namespace {

std::vector<Reader::Axis> axes_of(const Access& access, const Shape& shape) {
  std::vector<std::int64_t> strides = row_major_strides(shape);
  std::vector<Reader::Axis> axes;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const AffineExpr& row = access.projection.start.rows[k];
    Reader::Axis axis{{}, row.offset, shape[k], strides[k], {}};
    for (std::uint32_t d = 0; d < row.coefficients.size(); ++d)
      if (row.coefficients[d] != 0) axis.terms.push_back({d, row.coefficients[d]});
    if (!access.coordinates.empty()) axis.coordinate = access.coordinates[k];
    axes.push_back(std::move(axis));
  }
  return axes;
}

bool mentions_any(const Constraint& c, const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [&](std::uint32_t dim) { return mentions(c, dim); });
}

}  // namespace

CellOperation::CellOperation(const OperationInput& input, const std::vector<Datum*>& results)
    : in_(input),
      op_(input.op),
      point_(op_.dims.size()),
      parallel_(dims_with_role(DimRole::parallel)),
      reduced_(dims_with_role(DimRole::reduction)),
      cells_(op_.exprs, input.options.with_bounds) {
  for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
    const IndexDim& dim = op_.dims[d];
    point_[d] = dim.range.lo;
    if (dim.role != DimRole::counter) continue;
    TAP_CHECK(dim.level < in_.counters.size(), "the counter `" + dim.name + "` has no enclosing iterate");
    point_[d] = in_.counters[in_.counters.size() - 1 - dim.level];
  }
  std::vector<Reader> readers;
  for (const Access& access : op_.reads) {
    readers.push_back({in_.operands[access.tensor], in_.operand_names[access.tensor],
                       axes_of(access, op_.operands[access.tensor].shape), access.fill});
  }
  cells_.bind(std::move(readers), &point_);
  for (const Access& access : op_.writes) {
    Writer writer{results[access.tensor], axes_of(access, op_.results[access.tensor].shape), {}};
    if (!access.invariant_dims.empty()) writer.written.resize(static_cast<std::size_t>(writer.datum->value.size()));
    writers_.push_back(std::move(writer));
  }
}

Dims CellOperation::dims_with_role(DimRole role) const {
  Dims dims;
  for (std::uint32_t d = 0; d < op_.dims.size(); ++d)
    if (op_.dims[d].role == role) dims.push_back(d);
  return dims;
}

// The constraints that use none of `dims`; those that use some of `dims` and none of `except_dims`.
std::vector<Constraint> CellOperation::constraints_without(const Dims& dims) const {
  std::vector<Constraint> result;
  for (const Constraint& c : op_.constraints)
    if (!mentions_any(c, dims)) result.push_back(c);
  return result;
}
std::vector<Constraint> CellOperation::constraints_on(const Dims& dims, const Dims& except_dims) const {
  std::vector<Constraint> result;
  for (const Constraint& c : op_.constraints)
    if (mentions_any(c, dims) && !mentions_any(c, except_dims)) result.push_back(c);
  return result;
}

std::string CellOperation::where() const {
  std::string text = " in `" + own_name(op_, in_.names) + "`";
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    text += (d == 0 ? " at " : ", ") + own_dim_name(op_, in_.names, d) + "=" + std::to_string(point_[d]);
  return text;
}

void CellOperation::run() {
  try {
    if (const MapBody* map = op_.map()) run_map(*map);
    if (const ReduceBody* reduce = op_.reduce()) run_reduce(*reduce);
  } catch (const CellFailure& failure) { throw EvaluationError{failure.what + where(), in_.result}; }
}

void CellOperation::run_map(const MapBody& body) {
  BlockId block = cells_.compile(body.values);
  LoopNest nest(op_, parallel_, op_.constraints);
  for (bool more = nest.first(point_); more; more = nest.next(point_)) {
    cells_.begin_point();
    cells_.run(block);
    for (std::size_t k = 0; k < writers_.size(); ++k) write(k, cells_[body.values[k]]);
  }
}

void CellOperation::run_reduce(const ReduceBody& body) {
  const Monoid& monoid = in_.program[body.monoid];
  combiner_.emplace(monoid, in_.options.with_bounds);
  operands_.resize(combiner_->arity());
  states_.resize(combiner_->arity());
  operand_block_ = cells_.compile(body.operands);
  if (!in_.options.naive) {
    if (auto scan = find_scan(op_)) return reduce_by_scan(*scan);
    auto scatter = find_scatter(op_, monoid);
    if (scatter && reduce_by_scatter(*scatter)) return;
  }
  reduce_each_cell();
}

void CellOperation::evaluate_operands() {
  cells_.begin_point();
  cells_.run(operand_block_);
  const std::vector<CellId>& roots = op_.reduce()->operands;
  for (std::size_t k = 0; k < roots.size(); ++k) operands_[k] = cells_[roots[k]];
}

// By the definition.
void CellOperation::reduce_each_cell() {
  LoopNest outer(op_, parallel_, constraints_without(reduced_));
  LoopNest inner(op_, reduced_, constraints_on(reduced_, {}));
  for (bool more = outer.first(point_); more; more = outer.next(point_)) {
    combiner_->reset(states_.data());
    for (bool term = inner.first(point_); term; term = inner.next(point_)) {
      evaluate_operands();
      combiner_->append(states_.data(), operands_.data());
    }
    write_state(states_.data());
  }
}

void CellOperation::write_state(const ComponentState* state) {
  for (std::size_t k = 0; k < writers_.size(); ++k) write(k, combiner_->result(state, k));
}

void CellOperation::write(std::size_t number, const Cell& cell) {
  Writer& writer = writers_[number];
  std::int64_t position = 0;
  for (const Reader::Axis& axis : writer.axes) {
    std::int64_t at = axis.offset;
    for (auto [dim, coefficient] : axis.terms) at += coefficient * point_[dim];
    TAP_CHECK(at >= 0 && at < axis.extent, "`" + op_.name + "` writes outside its result");
    position += at * axis.stride;
  }
  if (!writer.written.empty()) {
    if (writer.written[static_cast<std::size_t>(position)]) return;
    writer.written[static_cast<std::size_t>(position)] = true;
  }
  ElementType type = writer.datum->value.type();
  if (is_float(type)) {
    writer.datum->value.store_f64(position, cell.value.f);
  } else {
    writer.datum->value.store_i64(position, cell.value.i);
  }
  if (in_.options.with_bounds) writer.datum->bound.store_f64(position, error_after_rounding(type, cell));
}

namespace {

// The operator on a box, as a separate operator. A sequential block dim is removed: its blocks in order are the whole
// range in order.
Operator applied_to(const Operator& op, const Box& box) {
  Operator result = op;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    result.dims[d].range = box.dims[d];
    if (op.dims[d].role == DimRole::reduction && is_block_dim(op, static_cast<std::uint32_t>(d)))
      result.dims[d].range = box.dims[d].empty() ? Range{0, 0} : Range{0, 1};
  }
  result.blockings.clear();
  return result;
}

}  // namespace

// Block after block; within a block, blockings are ordinary ranges.
void evaluate_operation(const OperationInput& input, const std::vector<Datum*>& results,
                        const std::optional<Box>& within) {
  const Operator& op = input.op;
  if (op.blockings.empty() && !within) return CellOperation(input, results).run();
  Box whole = within ? *within : op.box();
  std::vector<std::uint32_t> numbers;
  Box coordinates;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role != DimRole::parallel || !is_block_dim(op, d)) continue;
    numbers.push_back(d);
    coordinates.dims.push_back(whole.dims[d]);
  }
  auto at = first_point(coordinates);
  for (bool more = at.has_value(); more; more = next_point(coordinates, *at)) {
    Box box = whole;
    for (std::size_t k = 0; k < numbers.size(); ++k) box.dims[numbers[k]] = {(*at)[k], (*at)[k] + 1};
    Operator application = applied_to(op, narrowed(op, box));
    OperationInput part{input.program,  application,         input.options, input.counters,
                        input.operands, input.operand_names, input.names};
    CellOperation(part, results).run();
  }
}

}  // namespace tap::ir::oracle
