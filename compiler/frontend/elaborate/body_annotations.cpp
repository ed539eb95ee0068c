// Annotations of the values and operations of a body: shardings of arguments and bindings, groups, barriers.
#include <algorithm>

#include "compiler/frontend/elaborate/annotations.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"

namespace tap {

// `values` are the arguments that are tensors; the call's operation was added last.
void BodyBuilder::annotate_arguments(const ast::Call& call, const std::vector<std::optional<ir::ValueId>>& values) {
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (!call.args[i].sharding) continue;
    const ast::Sharding& written = *call.args[i].sharding;
    if (!values[i])
      elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, written.span,
                                   "a sharding belongs to a tensor; this argument is a number"));
    ir::Operation& operation = graph_.operations.back();
    operation.operand_shardings.resize(operation.operands.size());
    ir::Sharding sharding = resolve_sharding(elaboration_, *env_.scope, written, graph_[*values[i]].type);
    // An operator's operands are its arguments; a map reads a repeated argument once.
    bool in_order = operation.operands.size() == values.size();
    std::size_t k = i;
    if (!in_order)
      k = static_cast<std::size_t>(std::find(operation.operands.begin(), operation.operands.end(), *values[i]) -
                                   operation.operands.begin());
    auto& slot = operation.operand_shardings[k];
    if (slot && !(*slot == sharding))
      elaboration_.fail(Diagnostic(
          Code::axis_used_twice, written.span,
          "this argument is given twice, with two shardings: " + to_string(elaboration_.program.meshes, *slot) +
              " and " + to_string(elaboration_.program.meshes, sharding)));
    slot = std::move(sharding);
  }
}

// The sharding requested by `name = …` or by its declaration as an input or result; null if none.
const ast::Sharding* BodyBuilder::sharding_written_for(const std::string& name) const {
  if (auto binder = binders_.find(name); binder != binders_.end()) {
    auto& binding = std::get<ast::Binding>((*statements_)[binder->second.front()].node);
    if (binding.sharding) return &*binding.sharding;
  }
  auto declared = declared_shardings_.find(name);
  return declared == declared_shardings_.end() ? nullptr : declared->second;
}

// Y = P with different shardings requests a resharded P: Y is a separate value, equal to P.
BodyBuilder::Bound BodyBuilder::resharded(const ast::Name& name, Bound source, Span span) {
  const ast::Sharding* target = sharding_written_for(name.text);
  auto claimed = claimed_.find(source.value);
  if (!target || claimed == claimed_.end() ||
      resolve_sharding(elaboration_, *env_.scope, *target, source.type) ==
          resolve_sharding(elaboration_, *env_.scope, *claimed->second, source.type))
    return source;
  return copy(name, source, span);
}

BodyBuilder::Bound BodyBuilder::copy(const ast::Name& name, Bound source, Span span) {
  IndexSpace space(elaboration_);
  std::vector<VarId> vars = space.over_shape(source.type.shape, span);
  Frame frame(space);
  FrameWrite write;
  for (VarId var : vars) write.start.push_back({{{var, 1}}, 0});
  write.result_shape = source.type.shape;
  write.element = source.type.element;
  std::vector<ir::CellId> roots{frame.read({source.value, source.type, write.start, {}, std::nullopt, span})};
  ir::ValueId value = add_value(name.text, source.type, name.span);
  add_operation(frame.finish(name.text, vars, {}, {write}, roots, counter_depth_), ir::MapBody{roots}, {value}, span);
  return {value, source.type};
}

void BodyBuilder::annotate(const std::vector<ast::TensorParam>& inputs, const std::vector<ast::TensorParam>& results,
                           const std::vector<ast::Statement>& statements) {
  auto attach = [&](const ast::Name& name, const ast::Sharding& written) {
    ir::ValueId value = annotated_value(name);
    ir::Sharding sharding = resolve_sharding(elaboration_, *env_.scope, written, graph_[value].type);
    auto& slot = graph_.values[value.index()].sharding;
    if (slot && !(*slot == sharding))
      elaboration_.fail(Diagnostic(
          Code::axis_used_twice, written.span,
          quoted(name.text) + " already has a different sharding: " + to_string(elaboration_.program.meshes, *slot)));
    slot = std::move(sharding);
    if (provenance_.shardings.size() <= value.index()) provenance_.shardings.resize(value.index() + 1);
    provenance_.shardings[value.index()] = written.span;
  };
  auto guarded = [&](auto&& work) {
    try {
      work();
    } catch (const Abandoned&) {}
  };
  for (const auto* list : {&inputs, &results})
    for (const auto& tensor : *list)
      if (tensor.sharding) guarded([&] { attach(tensor.name, *tensor.sharding); });
  for (const auto& statement : statements) {
    guarded([&] {
      if (auto* binding = std::get_if<ast::Binding>(&statement.node); binding && binding->sharding)
        for (const auto& name : binding->left) attach(name, *binding->sharding);
      if (auto* group = std::get_if<ast::GroupStatement>(&statement.node)) group_values(*group);
      if (auto* barrier = std::get_if<ast::BarrierStatement>(&statement.node)) {
        graph_.barriers.push_back({annotated_value(barrier->value), static_cast<ir::BarrierKind>(barrier->kind)});
        provenance_.barriers.push_back(statement.span);
      }
      if (auto* split = std::get_if<ast::SplitStatement>(&statement.node)) request_split(*split, statement.span);
    });
  }
}

void BodyBuilder::group_values(const ast::GroupStatement& group) {
  ir::ShardingGroup result;
  for (const auto& name : group.values) {
    result.values.push_back(annotated_value(name));
    auto rank = [&](ir::ValueId value) { return graph_[value].type.shape.size(); };
    if (rank(result.values.front()) != rank(result.values.back()))
      elaboration_.fail(Diagnostic(
          Code::sharding_rank, name.span,
          quoted(name.text) + " has " + counted(static_cast<std::int64_t>(rank(result.values.back())), "dim") +
              " and " + quoted(group.values.front().text) + " has " + std::to_string(rank(result.values.front())) +
              "; grouped values must have the same number of dims"));
  }
  graph_.groups.push_back(std::move(result));
}

ir::ValueId BodyBuilder::annotated_value(const ast::Name& name) {
  auto* tensor = env_.find_as<TensorEntity>(name.text);
  if (tensor && !tensor->poisoned) return local_value(*tensor);
  std::vector<std::string> known;
  for (const auto& [other, entity] : env_.names)
    if (std::holds_alternative<TensorEntity>(entity)) known.push_back(other);
  elaboration_.fail(
      with_near_name(Diagnostic(Code::unknown_name, name.span, quoted(name.text) + " is not a value here"), name.span,
                     name.text, known));
}

}  // namespace tap
