#include "compiler/frontend/elaborate/equation.h"

#include <algorithm>
#include <numeric>

#include "compiler/frontend/cells/conversions.h"
#include "compiler/frontend/cells/dims_as_variables.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

using ir::CellId;

EquationBuilder::EquationBuilder(Elaboration& elaboration, BodyBuilder& body, const ast::Equation& equation, Span span)
    : elaboration_(elaboration),
      body_(body),
      equation_(equation),
      span_(span),
      space_(elaboration),
      env_(space_.new_scope(body.env())),
      cells_(elaboration, &body, space_, equation.left.front().base.text),
      frame_(space_) {}

BodyBuilder::Target& EquationBuilder::target(std::size_t i) { return body_.targets_.at(equation_.left[i].base.text); }

std::optional<ElementType> EquationBuilder::declared_type(std::size_t i) const {
  const auto& target = body_.targets_.at(equation_.left[i].base.text);
  if (!target.value.valid()) return std::nullopt;
  return body_.graph_[target.value].type.element;
}

void EquationBuilder::build() {
  for (const auto& cell : equation_.left) {
    if (auto* entity = body_.env().find(cell.base.text)) {
      auto* tensor = std::get_if<TensorEntity>(entity);
      if (tensor && tensor->poisoned) throw Abandoned{};
      if (tensor && !body_.targets_.at(cell.base.text).declared &&
          tensor->value != body_.targets_.at(cell.base.text).value)
        elaboration_.fail(Diagnostic(Code::duplicate_name, cell.base.span,
                                     quoted(cell.base.text) + " is an input or was bound before; it cannot be written")
                              .label(tensor->span, "defined here"));
      if (!tensor && !std::holds_alternative<VarEntity>(*entity))
        elaboration_.fail(Diagnostic(Code::duplicate_name, cell.base.span,
                                     quoted(cell.base.text) + " already has another meaning here"));
    }
  }
  space_.bind_left(env_, equation_.left, equation_.ranges);
  refuse_dims_as_variables(elaboration_, env_, equation_);
  for (const auto& cell : equation_.left) {
    const auto& target = body_.targets_.at(cell.base.text);
    const auto* declared = target.declared ? body_.env().find_as<TensorEntity>(cell.base.text) : nullptr;
    space_.add_left(env_, cell, declared);
  }
  space_.walk(env_, equation_.right);
  space_.solve();
  warn_of_partly_read_axes();
  cells_.offer_float(declared_type(0));

  const auto* reduce = std::get_if<ast::Reduce>(&env_[equation_.right].node);
  if (equation_.tuple && equation_.left.size() > 1 && reduce) return reduce_tuple(*reduce);
  if (equation_.left.size() == 1 && reduce) return reduce_root(*reduce);
  map_values();
}

// r[i] = sum[j] A[j, i] where r is shorter than A's second axis. An explicit range shows that only a part of the axis
// is intended.
void EquationBuilder::warn_of_partly_read_axes() {
  const std::vector<IndexSpace::PartlyRead> partly = space_.partly_read();
  if (partly.empty() || elaboration_.definitions.is_library(span_.file)) return;
  auto range = [&](VarId var) { return space_[var].name + " in 0.." + std::to_string(space_[var].range.hi); };
  const IndexSpace::PartlyRead& first = partly.front();
  const std::string name = quoted(space_[first.var].name);
  Diagnostic d(Code::axis_partly_read, first.index,
               name + " runs over 0.." + std::to_string(space_[first.var].range.hi) + " here; this axis of " +
                   quoted(first.tensor) + " has size " + std::to_string(first.axis_size));
  d.label(space_[first.var].span, "the left side gives " + name + " its range");
  std::string ranges;
  for (const auto& part : partly) ranges += (ranges.empty() ? "" : ", ") + range(part.var);
  // In an operator, the number is right for this call only.
  const bool anywhere = elaboration_.instantiating.empty();
  d.help("to use only a part of the axis, write the range" + (anywhere ? ": " + quoted("… for " + ranges) : ""));
  Span end{span_.file, span_.end, span_.end};
  if (anywhere) d.fix(end, (equation_.ranges.empty() ? " for " : ", ") + ranges);
  elaboration_.report(std::move(d));
}

// The left sides, and the cells of the right sides, become one map.
void EquationBuilder::map_values() {
  std::vector<ast::ExprId> values{equation_.right};
  if (equation_.left.size() > 1) {
    auto* tuple = std::get_if<ast::Tuple>(&env_[equation_.right].node);
    if (!tuple || tuple->items.size() != equation_.left.size())
      elaboration_.fail(Diagnostic(Code::type_mismatch, env_[equation_.right].span,
                                   counted(equation_.left.size(), "cell") + " are written; got " +
                                       counted(tuple ? tuple->items.size() : 1, "value")));
    values = tuple->items;
  }
  std::vector<CellId> roots;
  std::vector<ElementType> types;
  std::vector<std::size_t> targets;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Cell cell = cells_.typed(env_, values[i], frame_, declared_type(i));
    types.push_back(require_type(i, cell.type, values[i]));
    roots.push_back(frame_.cells.cast(cell.id, types.back()));
    targets.push_back(i);
  }
  auto written = writes(types);
  ir::MapBody body{roots};
  emit(roots, body, space_.left_vars(), {}, written, targets, frame_);
}

ElementType EquationBuilder::require_type(std::size_t i, ElementType actual, ast::ExprId value) {
  auto declared = declared_type(i);
  if (!declared || *declared == actual) return actual;
  Span span = env_[value].span;
  const auto& cell = equation_.left[i];
  Diagnostic d(
      Code::needs_cast, span,
      quoted(cell.base.text) + " holds " + std::string(name_of(*declared)) + "; got " + std::string(name_of(actual)));
  d.at_caret("this is " + std::string(name_of(actual)));
  if (auto* tensor = body_.env().find_as<TensorEntity>(cell.base.text))
    d.label(tensor->span, quoted(cell.base.text) + " is declared here");
  offer_conversion(elaboration_, env_, value, actual, *declared, d);
  elaboration_.fail(std::move(d));
}

// y[i] = sum[k] …: the equation is the reduction itself. 16-bit floats accumulate in f32 and are rounded when the cell
// is written; a choice between an operand and the identity may be a scatter, which accumulates in the cells, so these
// are f32 first.
void EquationBuilder::reduce_root(const ast::Reduce& reduce) {
  if (reduce.operands.size() != 1) return map_values();
  const Env& scope = cells_.reduction_scope(env_, equation_.right);
  const auto reduction = space_.reduction_vars(env_, equation_.right);
  Frame frame(space_);
  MonoidInstance monoid;
  CellId operand;
  if (is_builtin_reduction(reduce.monoid.text)) {
    Cell cell = cells_.typed(scope, reduce.operands[0], frame, declared_type(0));
    monoid = {cells_.builtin_monoid(scope, reduce, cell.type, declared_type(0)), {cell.type}};
    operand = cell.id;
  } else {
    monoid = cells_.user_monoid(env_, scope, reduce, {declared_type(0)});
    std::size_t n = monoid.types.size();
    const std::string& name = reduce.monoid.text;
    if (n != 1)
      elaboration_.fail(Diagnostic(Code::type_mismatch, env_[equation_.right].span,
                                   quoted(name) + " has " + counted(n, "component") + "; write " +
                                       quoted("(a[…], b[…]) = " + name + "[…] (…)")));
    operand = cells_.of_type(scope, reduce.operands[0], frame, monoid.types[0], reduce.monoid.span,
                             "reduced as " + std::string(name_of(monoid.types[0])));
  }
  ElementType type = require_type(0, monoid.types[0], equation_.right);
  if (compute_type(type) != type && frame.cells[operand].op == ir::CellOp::select) return map_values();
  std::vector<CellId> roots{operand};
  emit(roots, ir::ReduceBody{monoid.id, roots}, space_.left_vars(), reduction, writes({type}), {0}, frame);
}

// (mx[i], s[i], o[i, c]) = online[j] (…): components may lack indices that they provably do not depend on.
void EquationBuilder::reduce_tuple(const ast::Reduce& reduce) {
  const Env& scope = cells_.reduction_scope(env_, equation_.right);
  std::vector<std::optional<ElementType>> written_to;
  for (std::size_t i = 0; i < equation_.left.size(); ++i) written_to.push_back(declared_type(i));
  const MonoidInstance instance = cells_.user_monoid(env_, scope, reduce, written_to);
  const ir::Monoid monoid = elaboration_.program[instance.id];
  std::size_t n = monoid.arity();
  if (equation_.left.size() != n || reduce.operands.size() != n)
    elaboration_.fail(Diagnostic(Code::type_mismatch, span_,
                                 quoted(monoid.name) + " has " + counted(n, "component") + "; got " +
                                     counted(equation_.left.size(), "cell") + " on the left and " +
                                     counted(reduce.operands.size(), "operand")));
  TupleReduction parts{monoid, instance.types, space_.reduction_vars(env_, equation_.right), {}, {}, {}, {}};
  for (std::size_t i = 0; i < n; ++i) tuple_operand(reduce, scope, i, parts);
  parts.writes = writes(parts.types);
  drop_indices(reduce, parts);
  std::set<VarId> empty;
  for (const auto& write : parts.writes)
    for (VarId var : write.invariant)
      if (space_[var].range.empty()) empty.insert(var);
  if (!empty.empty()) return reduce_without(empty, parts);
  std::vector<std::size_t> targets(n);
  std::iota(targets.begin(), targets.end(), 0);
  emit(parts.operands, ir::ReduceBody{instance.id, parts.operands}, space_.left_vars(), parts.reduction, parts.writes,
       targets, frame_);
}

void EquationBuilder::tuple_operand(const ast::Reduce& reduce, const Env& scope, std::size_t i, TupleReduction& parts) {
  const ir::MonoidComponent& component = parts.monoid.components[i];
  ElementType type = parts.component_types[i];
  Frame alone(space_);  // the variables that this component's operand uses
  cells_.of_type(scope, reduce.operands[i], alone, type, reduce.monoid.span,
                 quoted(component.name) + " is " + std::string(name_of(type)));
  parts.operand_vars.push_back(alone.used());
  parts.operands.push_back(cells_.of_type(scope, reduce.operands[i], frame_, type, reduce.monoid.span, ""));
  parts.types.push_back(require_type(i, type, reduce.operands[i]));
}

// Records the left variables that each write lacks, or reports one that the component depends on.
void EquationBuilder::drop_indices(const ast::Reduce& reduce, TupleReduction& parts) {
  auto dependence = ir::component_dependence(parts.monoid);
  for (std::size_t i = 0; i < parts.writes.size(); ++i) {
    FrameWrite& write = parts.writes[i];
    for (VarId var : space_.left_vars()) {
      bool has = std::any_of(write.start.begin(), write.start.end(), [&](const VarAffine& row) {
        return std::any_of(row.terms.begin(), row.terms.end(), [&](const auto& term) { return term.first == var; });
      });
      if (has) continue;
      for (std::size_t j = 0; j < parts.writes.size(); ++j)
        if ((dependence[i][j] || i == j) && parts.operand_vars[j].count(var))
          elaboration_.fail(Diagnostic(Code::component_index, equation_.left[i].span,
                                       quoted(equation_.left[i].base.text) + " is not indexed by " +
                                           quoted(space_[var].name) + ", but the component " +
                                           quoted(parts.monoid.components[i].name) + " of the monoid depends on it" +
                                           (i == j ? "" : " through " + quoted(parts.monoid.components[j].name)))
                                .label(env_[reduce.operands[j]].span, "this operand uses " + quoted(space_[var].name)));
      write.invariant.push_back(var);
    }
  }
}

// If an index that some components lack has an empty range, these components still have values: computes them in an
// operation without the others. The others have no cells; an operation with an empty domain represents them.
void EquationBuilder::reduce_without(const std::set<VarId>& empty, const TupleReduction& parts) {
  std::vector<bool> keep;
  std::vector<CellId> operands, zeros;
  std::vector<FrameWrite> kept_writes, rest_writes;
  std::vector<std::size_t> kept, rest;
  for (std::size_t i = 0; i < parts.writes.size(); ++i) {
    FrameWrite write = parts.writes[i];
    keep.push_back(std::all_of(empty.begin(), empty.end(), [&](VarId var) {
      return std::find(write.invariant.begin(), write.invariant.end(), var) != write.invariant.end();
    }));
    (keep[i] ? kept : rest).push_back(i);
    if (keep[i]) {
      operands.push_back(parts.operands[i]);
      std::erase_if(write.invariant, [&](VarId var) { return empty.count(var) > 0; });
      kept_writes.push_back(std::move(write));
    } else {
      zeros.push_back(frame_.cells.constant(ir::Scalar::zero(parts.types[i])));
      rest_writes.push_back(std::move(write));
    }
  }
  std::vector<VarId> parallel = space_.left_vars();
  std::erase_if(parallel, [&](VarId var) { return empty.count(var) > 0; });
  if (!kept.empty()) {
    ir::MonoidId restricted = elaboration_.interner.add(ir::restrict_to(parts.monoid, keep));
    emit(operands, ir::ReduceBody{restricted, operands}, parallel, parts.reduction, kept_writes, kept, frame_);
  }
  if (!rest.empty()) emit(zeros, ir::MapBody{zeros}, space_.left_vars(), {}, rest_writes, rest, frame_);
}

std::vector<FrameWrite> EquationBuilder::writes(const std::vector<ElementType>& types) {
  std::vector<FrameWrite> result;
  for (std::size_t i = 0; i < equation_.left.size(); ++i) {
    const ast::LeftSide& cell = equation_.left[i];
    BodyBuilder::Target& t = target(i);
    const Shape* declared = t.declared ? &body_.graph_[t.value].type.shape : nullptr;
    IndexedAccess at{&env_, &cell.indices, cell.span, cell.base.text, declared, nullptr, true};
    FrameWrite write;
    write.element = types[i];
    for (const AxisIndex& axis : space_.expand(at)) write.start.push_back(space_.affine_or_fail(env_, axis));
    result.push_back(std::move(write));
  }
  return result;
}

void EquationBuilder::emit(std::vector<CellId> roots, ir::Body body, const std::vector<VarId>& parallel,
                           const std::vector<VarId>& reduction, const std::vector<FrameWrite>& writes,
                           const std::vector<std::size_t>& targets, Frame& frame) {
  std::size_t dims = parallel.size() + reduction.size();
  if (dims > elaboration_.options.max_dims)
    elaboration_.fail(Diagnostic(Code::too_many_dims, span_,
                                 "the index space has " + counted(dims, "dim") + "; the limit is " +
                                     std::to_string(elaboration_.options.max_dims)));
  auto finished =
      frame.finish(equation_.left[targets[0]].base.text, parallel, reduction, writes, roots, body_.counter_depth());
  std::vector<ir::ValueId> results;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const ast::LeftSide& cell = equation_.left[targets[k]];
    BodyBuilder::Target& t = target(targets[k]);
    if (!t.value.valid()) t.value = body_.add_value(cell.base.text, {writes[k].element, {}}, cell.base.span);
    if (!t.declared) {
      // A local's size per axis is one more than the largest index written.
      Shape& shape = body_.graph_.values[t.value.index()].type.shape;
      if (t.has_shape && shape.size() != writes[k].start.size())
        elaboration_.fail(Diagnostic(Code::rank_mismatch, cell.span,
                                     quoted(cell.base.text) + " is written with " +
                                         counted(shape.size(), "coordinate") + " elsewhere; got " +
                                         std::to_string(writes[k].start.size())));
      if (!t.has_shape) {
        shape.assign(writes[k].start.size(), 0);
        t.pattern = space_.pattern_of(env_, cell.indices);
      }
      t.has_shape = true;
      Shape extent = elaboration_.legality.written_extent(finished.op, static_cast<std::uint32_t>(k));
      for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] = std::max(shape[axis], extent[axis]);
    }
    results.push_back(t.value);
    t.write_spans.push_back(cell.span);
  }
  if (auto* map = std::get_if<ir::MapBody>(&body)) map->values = roots;
  if (auto* reduce = std::get_if<ir::ReduceBody>(&body)) reduce->operands = roots;
  body_.pending_.push_back({std::move(finished), std::move(body), std::move(results), span_});
}

}  // namespace tap
