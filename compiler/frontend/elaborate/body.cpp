#include "compiler/frontend/elaborate/body.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/frontend/elaborate/equation.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/proofs/prove.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

// ---- values and operations ------------------------------------------------------------------------------------------

ir::ValueId BodyBuilder::add_value(std::string name, ir::TensorType type, Span span) {
  graph_.values.push_back({std::move(name), std::move(type), false, std::nullopt});
  provenance_.values.push_back(span);
  return ir::ValueId(graph_.values.size() - 1);
}

// If several values have one name, such as the sums of one equation, numbers them in source order: plans name
// operations by them, and unrelated source changes must not change these names.
ir::Graph BodyBuilder::take_graph() {
  std::vector<bool> keeps_name(graph_.values.size(), false);  // inputs and results keep their names
  for (const auto* list : {&graph_.inputs, &graph_.outputs})
    for (ir::ValueId v : *list) keeps_name[v.index()] = true;
  std::unordered_map<std::string, int> count, number;
  for (std::size_t v = 0; v < keeps_name.size(); ++v)
    if (!keeps_name[v]) ++count[graph_.values[v].name];
  for (std::size_t v = 0; v < keeps_name.size(); ++v) {
    std::string& name = graph_.values[v].name;
    if (keeps_name[v] || name.empty() || count[name] < 2) continue;
    const int k = ++number[name];
    name += "#" + std::to_string(k);
  }
  return std::move(graph_);
}

std::string BodyBuilder::name_within_statement(const std::string& callee) const {
  if (!statements_ || current_ >= statements_->size()) return callee;
  auto* binding = std::get_if<ast::Binding>(&(*statements_)[current_].node);
  return binding && !binding->left.empty() ? binding->left[0].text + "." + callee : callee;
}

ir::ValueId BodyBuilder::local_value(const TensorEntity& tensor) {
  if (tensor.owner == this) {
    if (!tensor.value.valid()) throw Abandoned{};  // a result that no statement writes; finish_results reports it
    return tensor.value;
  }
  TAP_CHECK(outer_, "a tensor of another body");
  ir::ValueId outside = outer_->local_value(tensor);
  if (auto known = captured_.find(outside); known != captured_.end()) return known->second;
  const ir::Value& value = outer_->graph_[outside];
  ir::ValueId inside = add_value(value.name, value.type, tensor.span);
  graph_.inputs.push_back(inside);
  captured_[outside] = inside;
  captures_.push_back(outside);
  return inside;
}

void BodyBuilder::add_operation(Frame::Finished finished, ir::Body body, std::vector<ir::ValueId> results, Span span) {
  finished.op.body = std::move(body);
  for (std::size_t i = 0; i < results.size(); ++i) finished.op.results[i].shape = graph_[results[i]].type.shape;
  for (ir::ValueId operand : finished.operands) finished.op.operand_names.push_back(graph_[operand].name);
  for (ir::ValueId result : results) finished.op.result_names.push_back(graph_[result].name);
  ir::OperationNames own = names_of(finished.op);
  ir::OperatorId op = elaboration_.interner.add(std::move(finished.op));
  auto names = names_if_different(elaboration_.program[op], std::move(own));
  prove_reads(elaboration_, op, names, finished.read_spans, span, *env_.module);
  add_operation(op, std::move(finished.operands), std::move(results), span, std::move(names));
}

// Calls are inlined before anything else: f3(x) = f2(f2(x)), f2(x) = f1(f1(x)), … doubles at every level.
void BodyBuilder::count_operations(ir::OperatorId op, Span span) {
  constexpr std::size_t most_operations = 500'000;
  const ir::RegionBody* region = elaboration_.program[op].region();
  written_out_ += region ? elaboration_.count_expanded(region->graph) : 1;
  if (!region || written_out_ <= most_operations) return;
  elaboration_.fail(Diagnostic(Code::nesting_too_deep, span,
                               quoted(graph_.name) + " expands to " + std::to_string(written_out_) +
                                   " operations up to here; the limit is " + std::to_string(most_operations))
                        .help("use `iterate`, which is one operation for any trip count"));
}

void BodyBuilder::add_operation(ir::OperatorId op, std::vector<ir::ValueId> operands, std::vector<ir::ValueId> results,
                                Span span, std::optional<ir::OperationNames> names) {
  count_operations(op, span);
  graph_.operations.push_back({op, std::move(operands), std::move(results), {}, {}, std::move(names)});
  provenance_.operations.push_back(span);
}

static Span span_of(const Entity& entity) {
  return std::visit(
      [](const auto& declared) -> Span {
        if constexpr (requires { declared.span; }) return declared.span;
        else return {};
      },
      entity);
}

void BodyBuilder::check_undeclared(const ast::Name& name) {
  auto found = env_.names.find(name.text);
  if (found == env_.names.end()) return;
  const Span first = span_of(found->second);
  const bool tensor = std::holds_alternative<TensorEntity>(found->second);
  const bool parameter = std::holds_alternative<IntEntity>(found->second);
  const std::string kind = tensor ? "" : parameter ? "a parameter" : description(found->second);
  Diagnostic d(Code::duplicate_name, name.span,
               quoted(name.text) + (tensor ? " is declared twice" : " names both " + kind + " and a tensor"));
  if (first.valid()) d.label(first, tensor ? "first declared here" : quoted(name.text) + " is " + kind + " here");
  if (!tensor) d.help("rename one of them");
  elaboration_.fail(std::move(d));
}

void BodyBuilder::declare_input(const ast::Name& name, ir::TensorType type, std::vector<PatternItem> pattern,
                                bool is_const) {
  check_binder(name);
  ir::ValueId value = add_value(name.text, type, name.span);
  graph_.values.back().is_const = is_const;
  graph_.inputs.push_back(value);
  TensorEntity entity{value, std::move(type), std::move(pattern), name.span, this};
  check_undeclared(name);
  env_.names[name.text] = std::move(entity);
}

void BodyBuilder::declare_result(const ast::Name& name, ir::TensorType type, std::vector<PatternItem> pattern) {
  check_binder(name);
  check_undeclared(name);
  TensorEntity entity{{}, std::move(type), std::move(pattern), name.span, this};
  entity.complete = false;
  env_.names[name.text] = std::move(entity);
  targets_[name.text].declared = true;
  result_at_[name.text] = results_.size();
  results_.push_back({name, {}, false});
}

void BodyBuilder::declare_sharding(const ast::TensorParam& tensor) {
  if (!tensor.sharding) return;
  declared_shardings_[tensor.name.text] = &*tensor.sharding;
  const auto& entity = std::get<TensorEntity>(env_.names[tensor.name.text]);
  if (entity.value.valid()) claimed_.emplace(entity.value, &*tensor.sharding);
}

void BodyBuilder::check_binder(const ast::Name& name) {
  if (is_reserved(name.text))
    elaboration_.fail(
        Diagnostic(Code::reserved_name, name.span, quoted(name.text) + " is a built-in name and cannot name a tensor")
            .help("choose another name, for example " + quoted(name.text + "_")));
}

// ---- statements -----------------------------------------------------------------------------------------------------

void BodyBuilder::scan_targets(const std::vector<ast::Statement>& statements) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (auto* equation = std::get_if<ast::Equation>(&statements[i].node)) {
      for (const auto& cell : equation->left) {
        auto& writers = targets_[cell.base.text].writers;
        if (writers.empty() || writers.back() != i) writers.push_back(i);
      }
    } else if (auto* binding = std::get_if<ast::Binding>(&statements[i].node)) {
      for (const auto& name : binding->left) binders_[name.text].push_back(i);
    }
  }
  for (auto& result : results_) {
    Target& target = targets_[result.name.text];
    if (target.writers.empty()) continue;
    auto& entity = std::get<TensorEntity>(env_.names[result.name.text]);
    target.value = add_value(result.name.text, entity.type, result.name.span);
    target.has_shape = true;
    entity.value = target.value;
    if (auto sharding = sharding_written_for(result.name.text)) claimed_.emplace(target.value, sharding);
  }
}

void BodyBuilder::build(const std::vector<ast::Statement>& statements) {
  statements_ = &statements;
  scan_targets(statements);
  for (current_ = 0; current_ < statements.size(); ++current_) {
    const ast::Statement& statement = statements[current_];
    if (in_cycle_.count(current_)) continue;
    try {
      use_before_definition(statement);
      if (auto* e = std::get_if<ast::Equation>(&statement.node)) equation(*e, statement.span);
      if (auto* b = std::get_if<ast::Binding>(&statement.node)) binding(*b, statement.span);
    } catch (const Abandoned&) { poison(statement); } catch (const Overflow&) {
      elaboration_.report(
          Diagnostic(Code::overflow, statement.span, "an index or size of this statement does not fit in 64 bits"));
      poison(statement);
    }
    if (elaboration_.diagnostics->too_many_errors()) throw Abandoned{};
  }
  statements_ = nullptr;
}

void BodyBuilder::poison(const ast::Statement& statement) {
  auto mark = [&](const ast::Name& name) {
    auto found = env_.names.find(name.text);
    if (found == env_.names.end()) {
      TensorEntity entity{{}, {}, {}, name.span, this};
      entity.poisoned = true;
      env_.names[name.text] = entity;
    } else if (auto* entity = std::get_if<TensorEntity>(&found->second)) {
      entity->poisoned = true;
    }
    targets_[name.text].poisoned = true;
  };
  if (auto* e = std::get_if<ast::Equation>(&statement.node))
    for (const auto& cell : e->left) mark(cell.base);
  if (auto* b = std::get_if<ast::Binding>(&statement.node))
    for (const auto& name : b->left) mark(name);
}

void BodyBuilder::equation(const ast::Equation& equation, Span span) {
  for (const auto& cell : equation.left) {
    check_binder(cell.base);
    if (auto binder = binders_.find(cell.base.text); binder != binders_.end())
      elaboration_.fail(Diagnostic(Code::duplicate_name, cell.base.span,
                                   quoted(cell.base.text) + " is both written by an equation and bound as a whole")
                            .label((*statements_)[binder->second.front()].span, "bound here"));
  }
  EquationBuilder(elaboration_, *this, equation, span).build();
  std::vector<std::string> names;
  for (const auto& cell : equation.left)
    if (std::find(names.begin(), names.end(), cell.base.text) == names.end()) names.push_back(cell.base.text);
  bool completed = false;
  for (const auto& name : names) {
    Target& target = targets_[name];
    completed = ++target.done == target.writers.size() || completed;
  }
  if (completed)
    flush_pending();  // otherwise nothing is ready: only the last one of a tensor's thousands of writers is worth it
}

// Operations whose results have all their writers get their final shapes, in order.
void BodyBuilder::flush_pending() {
  auto ready = [&](const Pending& pending) {
    return std::all_of(pending.results.begin(), pending.results.end(), [&](ir::ValueId value) {
      const Target& target = targets_[graph_[value].name];
      return target.done == target.writers.size();
    });
  };
  // Removed first, so that a rejected one is not tried again.
  std::vector<Pending> all = std::exchange(pending_, {}), done;
  for (auto& pending : all) (ready(pending) ? done : pending_).push_back(std::move(pending));
  std::vector<std::string> finished;
  for (auto& pending : done) {
    auto results = pending.results;
    add_operation(std::move(pending.finished), std::move(pending.body), results, pending.span);
    ir::OperationId operation(graph_.operations.size() - 1);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::string& name = graph_[results[k]].name;
      targets_[name].writes.emplace_back(operation, static_cast<std::uint32_t>(k));
      if (std::find(finished.begin(), finished.end(), name) == finished.end()) finished.push_back(name);
    }
  }
  for (const auto& name : finished) {
    bool open = std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
      return std::any_of(pending.results.begin(), pending.results.end(),
                         [&](ir::ValueId value) { return graph_[value].name == name; });
    });
    if (!open) complete(name);
  }
}

void BodyBuilder::complete(const std::string& name) {
  Target& target = targets_[name];
  if (target.poisoned) return;
  if (!target.declared) {
    TensorEntity entity{target.value, graph_[target.value].type, target.pattern,
                        provenance_.values[target.value.index()], this};
    env_.names[name] = std::move(entity);
  }
  std::vector<WriterAt> writers;
  for (std::size_t i = 0; i < target.writes.size(); ++i) {
    const ir::Operation& operation = graph_[target.writes[i].first];
    writers.push_back({operation.op, target.writes[i].second, target.write_spans[i], operation.names});
  }
  Span declared = target.declared ? std::get<TensorEntity>(env_.names[name]).span : Span{};
  prove_writes(elaboration_, name, declared, graph_[target.value].type.shape, writers);
  if (target.declared) {
    std::get<TensorEntity>(env_.names[name]).complete = true;
    define_result(name, target.value);
  }
}

void BodyBuilder::binding(const ast::Binding& binding, Span span) {
  std::vector<std::string> names;
  for (const auto& name : binding.left) {
    check_binder(name);
    names.push_back(name.text);
    const auto& binders = binders_[name.text];
    if (binders.front() != current_)
      elaboration_.fail(
          Diagnostic(Code::duplicate_name, name.span, quoted(name.text) + " is already defined; tensors are immutable")
              .label((*statements_)[binders.front()].span, "defined here")
              .help("give the new value a new name, for example " + quoted(name.text + "2")));
  }
  std::vector<Bound> values = whole(binding.right, names);
  if (values.size() != names.size())
    elaboration_.fail(Diagnostic(Code::wrong_argument_count, span,
                                 std::to_string(names.size()) + (names.size() == 1 ? " name is" : " names are") +
                                     " bound; the right side has " + std::to_string(values.size()) +
                                     (values.size() == 1 ? " result" : " results")));
  if (values.size() == 1 && std::holds_alternative<ast::NameRef>(env_[binding.right].node))
    values[0] = resharded(binding.left[0], values[0], span);
  for (std::size_t i = 0; i < names.size(); ++i) {
    values[i] = named_result(binding.left[i], values[i], span);
    bind_name(binding.left[i], values[i]);
    if (auto sharding = sharding_written_for(names[i])) claimed_.emplace(values[i].value, sharding);
  }
}

// Y = P: the value takes the result's name, unless it is an input or another result; then Y is a copy.
BodyBuilder::Bound BodyBuilder::named_result(const ast::Name& name, Bound source, Span span) {
  auto of = [&](const Result& result) { return result.name.text == name.text; };
  bool is_result = names_results_ && std::any_of(results_.begin(), results_.end(), of);
  std::string& current = graph_.values[source.value.index()].name;
  if (!is_result || current == name.text) return source;
  bool taken =
      std::find(graph_.inputs.begin(), graph_.inputs.end(), source.value) != graph_.inputs.end() ||
      std::any_of(results_.begin(), results_.end(), [&](const Result& result) { return result.name.text == current; });
  if (taken) return copy(name, source, span);
  current = name.text;
  return source;
}

void BodyBuilder::bind_name(const ast::Name& name, const Bound& bound) {
  auto found = env_.names.find(name.text);
  if (found == env_.names.end()) {
    if (auto* outer = env_.find_as<TensorEntity>(name.text); outer && outer->owner == this)
      elaboration_.fail(Diagnostic(Code::duplicate_name, name.span, quoted(name.text) + " is bound twice")
                            .label(outer->span, "first bound here"));
    env_.names[name.text] = TensorEntity{bound.value, bound.type, {}, name.span, this};
    return;
  }
  auto* entity = std::get_if<TensorEntity>(&found->second);
  if (!entity || entity->complete) {
    if (entity && entity->poisoned) throw Abandoned{};
    Diagnostic d(Code::duplicate_name, name.span, quoted(name.text) + " is already defined here");
    if (entity) d.label(entity->span, "defined here");
    elaboration_.fail(std::move(d));
  }
  if (entity->type != bound.type) {
    bool element = entity->type.element != bound.type.element;
    elaboration_.fail(Diagnostic(element ? Code::type_mismatch : Code::shape_mismatch, name.span,
                                 "the result " + quoted(name.text) + " is declared " + to_string(entity->type) +
                                     "; got " + to_string(bound.type))
                          .label(entity->span, "declared here"));
  }
  entity->value = bound.value;
  entity->complete = true;
  define_result(name.text, bound.value);
}

void BodyBuilder::define_result(const std::string& name, ir::ValueId value) {
  auto at = result_at_.find(name);
  if (at == result_at_.end()) return;
  results_[at->second].value = value;
  results_[at->second].bound = true;
}

void BodyBuilder::finish_results(const std::vector<ast::TensorParam>&) {
  for (const auto& result : results_) {
    if (result.bound) {
      graph_.outputs.push_back(result.value);
      continue;
    }
    if (targets_[result.name.text].poisoned) continue;
    auto* entity = env_.find_as<TensorEntity>(result.name.text);
    if (entity && entity->poisoned) continue;
    Diagnostic d(Code::result_not_defined, result.name.span,
                 "the result " + quoted(result.name.text) + " is never defined");
    std::vector<std::string> locals;
    for (const auto& [name, target] : targets_)
      if (!result_at_.count(name)) locals.push_back(name);
    std::sort(locals.begin(), locals.end());  // the map has no order
    if (auto near = did_you_mean(result.name.text, locals))
      d.help("did you mean " + quoted(result.name.text) + " where " + quoted(*near) + " is written?");
    else d.help("define it: " + quoted(result.name.text + "[…] = …") + " or " + quoted(result.name.text + " = …"));
    elaboration_.report(std::move(d));
  }
}

}  // namespace tap
