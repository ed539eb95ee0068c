#include "compiler/frontend/rewrites/rule_graphs.h"

#include <set>

#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/trial.h"
#include "compiler/frontend/rewrites/rule_types.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap {
namespace {

// The graph of one side.
ir::GraphId side(Elaboration& elaboration, const RuleAt& at, const std::string& name, ast::ExprId expr,
                 const std::map<std::string, ir::TensorType>& types) {
  BodyBuilder body(elaboration, name);
  body.env().module = &at.module;
  body.env().scope = &at.scope;
  for (const auto& [variable, type] : types)
    body.declare_input({variable, at.module[at.rule.pattern].span}, type, {}, false);
  for (const auto& bound : body.whole(expr, {})) body.graph().outputs.push_back(bound.value);
  elaboration.program.graphs.push_back(body.take_graph());
  elaboration.provenance.graphs.push_back(std::move(body.provenance()));
  return ir::GraphId(elaboration.program.graphs.size() - 1);
}

std::string types_text(const std::map<std::string, ir::TensorType>& types) {
  std::string text;
  for (const auto& [name, type] : types) text += (text.empty() ? "" : ", ") + name + ": " + to_string(type);
  return text;
}

std::string tested_with(const std::string& types) { return "found by testing the rule with " + types; }

// The name of an outside kernel that the graph calls.
std::optional<std::string> kernel_in(const ir::Program& program, ir::GraphId id) {
  for (const ir::Operation& operation : program[id].operations) {
    const ir::Operator& op = program[operation.op];
    if (op.kernel()) return op.name;
    const ir::RegionBody* region = op.region();
    if (auto inner = region ? kernel_in(program, region->graph) : std::nullopt) return inner;
  }
  return std::nullopt;
}

// with `x: f64[2, 2]` = [1, 3, 2, 4], in row-major order
std::string data_text(const std::string& name, const Tensor& tensor) {
  constexpr std::int64_t most = 24;
  std::string text = "with `" + name + ": " + to_string(ir::TensorType{tensor.type(), tensor.shape()}) + "` = [";
  for (std::int64_t at = 0; at < std::min(tensor.size(), most); ++at)
    text += (at ? ", " : "") + ir::element_text(tensor, at);
  return text + (tensor.size() > most ? ", …]" : "]");
}

class RuleTrials {
 public:
  RuleTrials(Elaboration& elaboration, const RuleAt& at) : elaboration_(elaboration), at_(at) {
    env_.module = &at.module;
    env_.scope = &at.scope;
  }

  void run() {
    if (!try_all()) return;
    if (guard_fault_ && !guard_decided_) return report(std::move(*guard_fault_));
    // No tried size satisfies the guard. It may only state where the rule pays, so the sides are compared without it;
    // if they differ, it may also state where the rule holds, and nothing is known.
    if (evaluated_ == 0 && at_.rule.guard) {
      require_guard_ = false;
      if (!try_all()) return;
    }
    if (evaluated_ > 0) return;
    if (!replacement_refused_.empty())
      return report(Diagnostic(Code::rewrite_changes_result, replacement(),
                               "the replacement does not accept the operands of the pattern: " + replacement_refused_)
                        .note(tested_with(refused_types_)));
    not_tried(kernel_ ? quoted(*kernel_) + " is an outside kernel, which cannot be evaluated at compile time"
                      : "it could not be evaluated at any of the sizes tried");
  }

 private:
  static constexpr unsigned attempts = 150;
  static constexpr std::size_t max_instances = 6;

  // False if the sides differ, which is reported.
  bool try_all() {
    for (unsigned attempt = 0; attempt < attempts && evaluated_ < max_instances; ++attempt)
      if (auto types = choose(attempt); types && tried_.insert(types_text(*types)).second)
        if (!agrees_at(*types)) return false;
    return true;
  }

  void not_tried(const std::string& why) {
    Diagnostic d(Code::rewrite_not_tried, pattern(), "the rule is untested: " + why);
    if (!pattern_refused_.empty()) d.note("of the pattern: " + pattern_refused_);
    report(std::move(d));
  }

  std::optional<std::map<std::string, ir::TensorType>> choose(unsigned attempt) {
    Trial trial(elaboration_);
    try {
      RuleTypes chooser(elaboration_, env_, at_.rule, attempt);
      auto types = chooser.choose();
      if (!require_guard_) return types;
      GuardValue guard = chooser.guard();
      if (!guard.fault) guard_decided_ = true;
      if (guard.holds) return types;
      if (guard.fault && !guard_fault_)
        guard_fault_ = std::move(
            guard.fault->note(tested_with(types_text(types)) + (guard.sizes.empty() ? "" : ", where " + guard.sizes)));
      return std::nullopt;
    } catch (const Abandoned&) {
    } catch (const Overflow&) {}
    if (trial.failed() && pattern_refused_.empty()) pattern_refused_ = trial.message();
    return std::nullopt;
  }

  // False if the sides differ, which is reported.
  bool agrees_at(const std::map<std::string, ir::TensorType>& types) {
    std::optional<ir::RuleInstance> instance;
    {
      Trial trial(elaboration_);
      try {
        instance = instantiate_rule(elaboration_, at_, types);
      } catch (const Abandoned&) {
      } catch (const Overflow&) {}
      if (!instance) {
        if (trial.failed() && replacement_refused_.empty())
          replacement_refused_ = trial.message(), refused_types_ = types_text(types);
        return true;
      }
    }
    ir::RuleTrial trial = ir::try_rule(elaboration_.program, *instance);
    evaluated_ += trial.evaluated > 0;
    if (!kernel_) kernel_ = kernel_in(elaboration_.program, instance->pattern);
    if (!trial.difference) return true;
    report_difference(*instance, *trial.difference, types);
    return false;
  }

  void report_difference(const ir::RuleInstance& instance, const ir::RuleDifference& difference,
                         const std::map<std::string, ir::TensorType>& types) {
    if (!require_guard_) return not_tried("no small sizes satisfy its `when`");
    if (difference.types) {
      std::string left = results_text(instance.pattern), right = results_text(instance.replacement);
      return report(Diagnostic(Code::rewrite_changes_result, replacement(),
                               "the replacement gives " + right + " where the pattern gives " + left)
                        .label(pattern(), "this gives " + left)
                        .note(tested_with(types_text(types))));
    }
    std::string cell = to_string(Shape(difference.cell.begin(), difference.cell.end()));
    if (elaboration_.program[instance.pattern].outputs.size() > 1)
      cell += " of result " + std::to_string(difference.output + 1);
    bool fails = !difference.failure.empty();
    Diagnostic d(Code::rewrite_changes_result, replacement(),
                 fails ? "the replacement fails where the pattern has a value: " + difference.failure
                       : "the replacement gives " + difference.replacement_value + " where the pattern gives " +
                             difference.pattern_value + ", in the cell " + cell);
    if (!fails) d.label(pattern(), "this gives " + difference.pattern_value);
    for (std::size_t i = 0; i < difference.inputs.size(); ++i)
      d.note(data_text(instance.variables[i], difference.inputs[i]));
    report(std::move(d));
  }

  std::string results_text(ir::GraphId id) {
    const ir::Graph& graph = elaboration_.program[id];
    std::string text;
    for (ir::ValueId output : graph.outputs) text += (text.empty() ? "" : ", ") + to_string(graph[output].type);
    return text;
  }

  Span pattern() const { return at_.module[at_.rule.pattern].span; }
  Span replacement() const { return at_.module[at_.rule.replacement].span; }
  void report(Diagnostic d) { elaboration_.report(std::move(d)); }

  Elaboration& elaboration_;
  RuleAt at_;
  Env env_;
  std::set<std::string> tried_;
  bool require_guard_ = true, guard_decided_ = false;
  std::optional<Diagnostic> guard_fault_;  // for the first types at which the guard has no value
  std::size_t evaluated_ = 0;
  std::optional<std::string> kernel_;  // an outside kernel in the pattern
  std::string pattern_refused_, replacement_refused_, refused_types_;
};

}  // namespace

std::optional<ir::RuleInstance> instantiate_rule(Elaboration& elaboration, const RuleAt& at,
                                                 const std::map<std::string, ir::TensorType>& types) {
  ir::RuleInstance instance;
  for (const auto& [name, type] : types) instance.variables.push_back(name), instance.inputs.push_back(type);
  {
    Trial trial(elaboration);
    try {
      instance.pattern = side(elaboration, at, "pattern", at.rule.pattern, types);
    } catch (const Abandoned&) { return std::nullopt; }
  }
  instance.replacement = side(elaboration, at, "replacement", at.rule.replacement, types);
  return instance;
}

void try_rewrites(Elaboration& elaboration, const ModuleScope& scope) {
  ir::Program& program = elaboration.program;
  std::size_t graphs = program.graphs.size(), operators = program.operators.size(), monoids = program.monoids.size();
  for (const auto& [module, declaration] : scope.rewrites)
    RuleTrials(elaboration, {*module, scope, std::get<ast::RewriteDecl>(declaration->node)}).run();
  program.graphs.resize(graphs);
  elaboration.provenance.graphs.resize(graphs);
  program.operators.erase(program.operators.begin() + static_cast<std::ptrdiff_t>(operators), program.operators.end());
  program.monoids.erase(program.monoids.begin() + static_cast<std::ptrdiff_t>(monoids), program.monoids.end());
}

}  // namespace tap
