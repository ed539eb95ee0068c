// Reads in cell expressions: x[i - 1, j else 0], and other indexed names: an alias, an operand of a fold.
#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/cells/index_choices.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "support/check.h"

namespace tap {

using ir::CellId;

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Index& index, Frame& frame,
                          std::optional<ElementType> expected) {
  const std::string& name = index.base.text;
  for (const Env* e = &env; e; e = e->parent) {
    auto found = e->names.find(name);
    if (found == e->names.end()) continue;
    if (auto* tensor = std::get_if<TensorEntity>(&found->second)) return read_tensor(env, id, index, *tensor, frame);
    if (auto* bound = std::get_if<ThunkEntity>(&found->second)) {
      if (bound->fold_index) return thunk(*bound, frame, expected);
      // A cell that was passed to an inlined operator: its packs are empty.
      IndexedAccess at{&env, &index.indices, env[id].span, name};
      Shape scalar;
      at.shape = &scalar;
      space_.expand(at);
      return thunk(*bound, frame, expected);
    }
    if (auto* operand = std::get_if<FoldOperandEntity>(&found->second)) {
      auto* at = index.indices.size() == 1 ? std::get_if<ast::NameRef>(&env[index.indices[0]].node) : nullptr;
      if (!at || at->name != fold_index_)
        elaboration_.fail(Diagnostic(
            Code::bad_monoid, env[id].span,
            "an operand of a fold must be read at the index of the fold: " + quoted(name + "[" + fold_index_ + "]")));
      return {Cell::Kind::typed, frame.cells.argument(operand->argument, compute_type(operand->type)), operand->type};
    }
  }
  if (!body_)
    elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                                 "a monoid may only read its two arguments; " + quoted(name) + " cannot be read here"));
  elaboration_.fail(not_a_tensor(env, name, index.base.span));
}

Cell CellElaborator::read_tensor(const Env& env, ast::ExprId id, const ast::Index& index, const TensorEntity& tensor,
                                 Frame& frame) {
  if (tensor.poisoned) throw Abandoned{};
  TAP_CHECK(body_, "tensors only in bodies");
  IndexedAccess at{&env, &index.indices, env[id].span, index.base.text, &tensor.type.shape, &tensor.pattern};
  FrameRead read;
  read.value = body_->local_value(tensor);
  read.type = tensor.type;
  read.span = env[id].span;
  std::vector<std::optional<CellId>> coordinates;
  bool any = false;
  for (const AxisIndex& axis : space_.expand(at)) {
    std::optional<CellId> coordinate;
    VarAffine start;
    bool data = false;
    if (axis.kind == AxisIndex::Kind::expression) {
      IndexValue value = space_.value_of(env, axis.expr);
      if (auto* affine = std::get_if<VarAffine>(&value)) start = *affine;
      data = std::holds_alternative<DependsOnData>(value);
      if (auto* why = std::get_if<NotAffine>(&value))
        elaboration_.fail(not_affine(elaboration_, space_, env, id, axis.expr, *why));
    } else {
      start = space_.affine_or_fail(env, axis);
    }
    if (data) {
      Cell cell = typed(env, axis.expr, frame, ElementType::i64);
      if (!is_integer(cell.type)) {
        Span span = env[axis.expr].span;
        std::string fix_text = "i64(" + std::string(elaboration_.sources.text(span)) + ")";
        elaboration_.fail(
            Diagnostic(Code::type_mismatch, span, "a coordinate must be an integer; got " + type_text(cell.type))
                .help("convert it: " + quoted(fix_text))
                .fix(span, fix_text));
      }
      coordinate = frame.cells.cast(cell.id, ElementType::i64);
      any = true;
    }
    read.start.push_back(std::move(start));
    coordinates.push_back(coordinate);
  }
  if (any) read.coordinates = std::move(coordinates);
  ElementType type = tensor.type.element;
  if (index.fill)
    read.fill = frame.cells.cast(
        of_type(env, *index.fill, frame, type, tensor.span, quoted(index.base.text) + " is " + type_text(type)), type);
  CellId cell = frame.read(std::move(read));
  return {Cell::Kind::typed, frame.cells.cast(cell, compute_type(type)), type};
}

}  // namespace tap
