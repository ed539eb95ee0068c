#include "passes/rewrites/pick_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"
#include "passes/plan_problem.h"
#include "passes/rebuild.h"
#include "passes/rewrites/contraction.h"
#include "passes/rewrites/monoid_fold.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// The plan's lines, by the operation that they name.
class Lines {
 public:
  Lines(const Plan& plan, bool require_proof) : require_proof_(require_proof) {
    for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
      if (auto* choice = std::get_if<PlannedChoice>(&plan.decisions[d]))
        chosen_[choice->operation].push_back({d, choice->alternative});
      if (auto* split = std::get_if<PlannedSplit>(&plan.decisions[d])) dims_.emplace(split->operation, split->dim);
      if (auto* fusion = std::get_if<PlannedFusion>(&plan.decisions[d]); fusion && !fusion->operations.empty()) {
        fused_.insert(fusion->operations.begin(), fusion->operations.end());
        for (const std::string& dim : fusion->dims) dims_.emplace(fusion->operations.back(), dim);
      }
    }
    named_ = fused_;
    for (const auto& [operation, dim] : dims_) named_.insert(operation);
  }

  // The alternative that the plan picks for the choice with this name; 0 is the original. `prefix` is the path of its
  // operations.
  std::uint32_t pick(const Program& program, const std::string& prefix, const std::string& name,
                     const RegionBody& choice) {
    choices_.insert(name);
    auto lines = chosen_.find(name);
    if (lines != chosen_.end() && !lines->second.empty()) {
      auto [decision, alternative] = lines->second.front();
      lines->second.pop_front();
      if (alternative <= choice.alternatives.size()) return alternative;
      problems_.push_back(
          {decision,
           fmt::format("`{0}` has no alternative {2}; it has 0 to {1}", name, choice.alternatives.size(), alternative),
           PlanPart::number});
      return 0;
    }
    if (require_proof_) return 0;
    const std::uint32_t picked = picked_by_default(choice);
    if (picked > 0 && is_contracting_fold(choice.alternatives[picked - 1].rule) &&
        speaks_of_written(program, prefix, name, choice))
      return 0;
    return picked;
  }

  // Adds a problem for each line that picked nothing, in the order of the plan.
  std::vector<PlanProblem> finish(const Program& program) {
    OperationFinder finder(program);
    for (const auto& [name, lines] : chosen_)
      for (auto [decision, alternative] : lines) {
        bool known = finder.find(program.main, name).has_value();
        problems_.push_back(known
                                ? PlanProblem{decision, fmt::format("`{}` offers no choice", name), PlanPart::operation,
                                              "", suggestion_for(name, {choices_.begin(), choices_.end()}, "choices")}
                                : no_operation(program, decision, name));
      }
    std::sort(problems_.begin(), problems_.end(), [](auto& a, auto& b) { return a.decision < b.decision; });
    return std::move(problems_);
  }

 private:
  // Whether the plan splits a reduced dim of the original, or fuses it, and mentions nothing that only the fold has:
  // its operations, and the block number.
  bool speaks_of_written(const Program& program, const std::string& prefix, const std::string& name,
                         const RegionBody& choice) const {
    auto part = named_.lower_bound(name + ".");
    if (part != named_.end() && part->starts_with(name + ".")) return false;
    const Graph& graph = program[choice.graph];
    bool speaks = false;
    for (const Operation& operation : graph.operations) {
      const Operator op = with_author_names(program, operation);
      for (ValueId v : operation.results) {
        const std::string own = prefix + graph[v].name;
        speaks |= fused_.contains(own);
        for (auto at = dims_.lower_bound({own, ""}); at != dims_.end() && at->first == own; ++at) {
          auto dim = find_dim(op, at->second);
          if (!dim && !axis_of_dim(at->second)) return false;
          speaks |= dim && op.dims[*dim].role == DimRole::reduction;
        }
      }
    }
    return speaks;
  }

  struct Line {
    std::size_t decision;
    std::uint32_t alternative;
  };
  bool require_proof_;
  std::map<std::string, std::deque<Line>> chosen_;
  std::set<std::pair<std::string, std::string>> dims_;  // in splits and fusions, by operation
  std::set<std::string> fused_, named_;                 // operations: of fusions, and all
  std::set<std::string> choices_;                       // existing ones
  std::vector<PlanProblem> problems_;
};

const RegionBody* choice_of(const Program& program, const Operation& operation) {
  const RegionBody* region = program[operation.op].region();
  return region && region->kind == RegionKind::choice ? region : nullptr;
}

// Replaces the choices of one graph, with claims that it still computes the same.
class GraphPicker {
 public:
  // `prefix` is the graph's path in a plan's names.
  GraphPicker(const Program& program, GraphId id, std::string prefix, Lines& lines)
      : program_(program), before_(program[id]), after_(before_), prefix_(std::move(prefix)), lines_(lines) {
    after_.operations.clear();
    claim_.before = claim_.after = id;
    for (std::size_t v = 0; v < before_.values.size(); ++v) {
      claim_.values.push_back(ValueRef{{}, ValueId(v)});
      names_.insert(before_.values[v].name);
    }
  }

  Rebuilt run() {
    std::vector<OperationId> became;
    for (std::size_t o = 0; o < before_.operations.size(); ++o) {
      became.emplace_back(after_.operations.size());
      add(before_.operations[o], {{}, OperationId(o)});
    }
    for (SplitRequest& split : after_.splits) split.operation = became[split.operation.index()];
    return {std::move(after_), std::move(claim_)};
  }

 private:
  // Adds an operation, or the alternative that it picks.
  void add(Operation operation, const OperationRef& from) {
    if (const RegionBody* choice = choice_of(program_, operation)) return write_out(operation, *choice, from);
    after_.operations.push_back(std::move(operation));
    claim_.operations.push_back(Copied{from});
  }

  void write_out(const Operation& operation, const RegionBody& choice, const OperationRef& from) {
    const std::string name = operation.results.empty() ? "" : after_[operation.results.front()].name;
    const std::uint32_t picked = lines_.pick(program_, prefix_, prefix_ + name, choice);
    const Graph& inner = program_[picked == 0 ? choice.graph : choice.alternatives[picked - 1].graph];
    Path path = from.path;
    path.push_back({from.operation, picked});
    std::vector<ValueId> mapping(inner.values.size());
    std::vector<std::optional<Sharding>> use(inner.values.size());
    for (std::size_t k = 0; k < inner.inputs.size(); ++k) {
      mapping[inner.inputs[k].index()] = operation.operands[k];
      if (!operation.operand_shardings.empty()) use[inner.inputs[k].index()] = operation.operand_shardings[k];
    }
    for (std::size_t k = 0; k < inner.outputs.size(); ++k) {
      ValueId& own = mapping[inner.outputs[k].index()];
      TAP_CHECK(!own.valid(), "an output of an alternative is another output or an input of it");
      own = operation.results[k];
    }
    for (std::size_t v = 0; v < inner.values.size(); ++v)
      if (!mapping[v].valid())
        mapping[v] = add_value(inner.values[v], picked == 0 ? "" : name + ".", {{path, ValueId(v)}});
    for (std::size_t o = 0; o < inner.operations.size(); ++o)
      add(placed(inner.operations[o], mapping, use), {path, OperationId(o)});
  }

  static Operation placed(Operation operation, const std::vector<ValueId>& mapping,
                          const std::vector<std::optional<Sharding>>& use) {
    operation.operand_shardings.resize(operation.operands.size());
    bool annotated = false;
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      auto& sharding = operation.operand_shardings[k];
      if (!sharding) sharding = use[operation.operands[k].index()];
      annotated |= sharding.has_value();
      operation.operands[k] = mapping[operation.operands[k].index()];
    }
    if (!annotated) operation.operand_shardings.clear();
    for (ValueId& v : operation.results) v = mapping[v.index()];
    return operation;
  }

  // The original keeps its names; the values of H's alternative are called H.c.
  ValueId add_value(Value value, const std::string& prefix, std::optional<ValueRef> from) {
    const std::string base = prefix + value.name;
    value.name = base;
    for (int n = 2; !names_.insert(value.name).second; ++n) value.name = fmt::format("{}#{}", base, n);
    after_.values.push_back(std::move(value));
    claim_.values.push_back(std::move(from));
    return ValueId(after_.values.size() - 1);
  }

  const Program& program_;
  const Graph& before_;
  Graph after_;
  GraphClaim claim_;
  std::string prefix_;
  Lines& lines_;
  std::set<std::string> names_;
};

}  // namespace

std::uint32_t picked_by_default(const RegionBody& choice) {
  for (std::uint32_t k = 0; k < choice.alternatives.size(); ++k)
    if (is_contraction_order(choice.alternatives[k].rule) || is_contracting_fold(choice.alternatives[k].rule))
      return k + 1;
  return 0;
}

PassResult pick_choices(const Program& program, const PassContext& context) {
  PassResult result{program, {}, {}};
  Lines lines(context.plan, context.require_proof);
  // From main, through the remaining regions: skips alternatives that are not picked.
  std::vector<std::pair<GraphId, std::string>> open{{program.main, ""}};
  std::set<GraphId> seen{program.main};
  for (std::size_t k = 0; k < open.size(); ++k) {
    const auto [id, prefix] = open[k];
    Rebuilt made = GraphPicker(program, id, prefix, lines).run();
    std::vector<std::string> names = operation_names(made.graph);
    for (std::size_t o = 0; o < names.size(); ++o)
      if (const RegionBody* region = program[made.graph.operations[o].op].region())
        if (seen.insert(region->graph).second) open.emplace_back(region->graph, prefix + names[o] + "/");
    result.program.graphs[id.index()] = std::move(made.graph);
    result.step.graphs.push_back(std::move(made.claim));
  }
  result.problems = lines.finish(result.program);
  std::vector<GraphId> mapping = remove_unreachable(result.program);
  for (GraphClaim& claim : result.step.graphs) claim.after = mapping[claim.after.index()];
  std::erase_if(result.step.graphs, [](const GraphClaim& claim) { return !claim.after.valid(); });
  std::sort(result.step.graphs.begin(), result.step.graphs.end(),
            [](const GraphClaim& a, const GraphClaim& b) { return a.after < b.after; });
  return result;
}

}  // namespace tap::passes
