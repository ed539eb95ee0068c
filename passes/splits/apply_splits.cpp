#include "passes/splits/apply_splits.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"
#include "ir/text_names.h"
#include "passes/named_operator.h"
#include "passes/placed.h"
#include "passes/plan_problem.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/place_on_devices.h"
#include "passes/splits/requested_splits.h"
#include "passes/splits/shared_writes.h"
#include "passes/splits/split_graph.h"
#include "passes/splits/split_operator.h"
#include "passes/splits/split_scan.h"
#include "passes/splits/stage_interleaved_writes.h"
#include "support/check.h"
#include "support/plural.h"

namespace tap::passes {

using namespace ir;

namespace {

// Not made where only the problems count: a step for each round, with a copy of the program.
enum class Claims : std::uint8_t { made, not_needed };

// A decision that waits for the operation it names.
struct Pending {
  std::size_t decision;
  PlannedSplit split;
};

class SplitApplier {
 public:
  SplitApplier(const Program& program, const Plan& plan, const Caution& caution, Claims claims)
      : source_(program),
        caution_(caution),
        claims_(claims),
        result_{program, {}, {}, {}},
        interner_(result_.program),
        named_(result_.program) {
    for (std::size_t d = 0; d < plan.decisions.size(); ++d)
      if (auto* split = std::get_if<PlannedSplit>(&plan.decisions[d])) pending_.push_back({d, *split});
    for (Graph& graph : result_.program.graphs) graph.splits.clear();
  }

  SplitResult run() {
    while (!pending_.empty() && round()) {}
    check_shared_writes();
    for (const Pending& p : pending_) result_.problems.push_back(no_operation(source_, p.decision, p.split.operation));
    std::stable_sort(result_.problems.begin(), result_.problems.end(),
                     [](const PlanProblem& a, const PlanProblem& b) { return a.decision < b.decision; });
    return std::move(result_);
  }
  // The operations whose blocks over devices would not write boxes.
  const std::set<std::string>& without_boxes() const { return without_boxes_; }
  bool is_of_boxes(const PlanProblem& problem) const { return of_boxes_.contains(problem.decision); }

 private:
  struct Turn {
    std::uint32_t dim;
    PlannedSplit split;
  };

  // Applies the first decision about each existing operation. False if there is none.
  bool round() {
    OperationFinder finder(result_.program);
    bound_.clear();
    std::map<GraphId, std::map<OperationId, Turn>> turns;
    std::vector<Pending> left;
    bool any = false;
    for (Pending& p : pending_) {
      auto location = operation_with_dim(finder, p.split);
      if (!location || turns[location->graph].contains(location->operation)) {
        left.push_back(p);
        continue;
      }
      any = true;
      auto dim = dim_to_split(p, *location);
      if (!dim) continue;
      turns[location->graph].emplace(location->operation, Turn{*dim, p.split});
      if (p.split.axis || !p.split.devices.empty())
        for (ValueId v : program()[location->graph][location->operation].results)
          over_devices_[{location->graph, v}].push_back(p);
      const Operator& op = program()[program()[location->graph][location->operation].op];
      if (auto again = *dim == whole_operation ? std::nullopt : rest_of_tree(p, op, *dim)) left.push_back(*again);
    }
    pending_ = std::move(left);
    Step step{"apply_splits"};
    for (auto& [graph, own] : turns)
      if (!own.empty()) step.graphs.push_back(rewrite(graph, own));
    if (!step.graphs.empty() && claims_ == Claims::made) {
      result_.steps.push_back(std::move(step));
      result_.stages.push_back(result_.program);
    }
    return any;
  }

  // Several writers of one value are split together over devices, or not at all.
  void check_shared_writes() {
    std::set<std::size_t> reported;
    std::map<GraphId, std::vector<int>> writers;
    for (const auto& [value, lines] : over_devices_) {
      const Graph& graph = program()[value.first];
      auto [count, fresh] = writers.try_emplace(value.first, graph.values.size());
      for (std::size_t o = 0; o < graph.operations.size() && fresh; ++o)
        for (ValueId v : graph.operations[o].results) ++count->second[v.index()];
      if (count->second[value.second.index()] < 2) continue;
      for (const Pending& p : lines) {
        const std::string why = why_no_boxes(program(), graph, value.second, p.split.operation);
        if (why.empty()) break;
        if (reported.insert(p.decision).second)
          refuse_without_boxes(
              p, {0, why, p.split.all_at ? PlanPart::operation : PlanPart::dim, "",
                  "place these blocks on threads or in a loop, or place the blocks of all writers in the same way"});
      }
    }
  }

  // The operation that the split names; if its dim moved to the partials, the operation that has it now.
  std::optional<OperationInGraph> operation_with_dim(OperationFinder& finder, PlannedSplit& split) {
    auto has_dim = [&](OperationInGraph location) {
      return split.all_at || find_dim(named_.of(program()[location.graph][location.operation]), split.dim).has_value();
    };
    auto named = finder.find(program().main, split.operation), location = named;
    if (named) {
      const Graph& graph = program()[named->graph];
      split.dim = named_dim(program(), graph[named->operation], graph, split);
    }
    std::string name = split.operation;
    while (location && !has_dim(*location)) {
      auto partial = partial_of_.find(name);
      if (partial == partial_of_.end()) return named;
      name = partial->second;
      location = finder.find(program().main, name);
    }
    split.operation = name;
    return location;
  }

  GraphClaim rewrite(GraphId id, const std::map<OperationId, Turn>& turns) {
    GraphSplitter splitter(result_.program, interner_, id);
    const std::size_t count = program()[id].operations.size();
    for (std::size_t o = 0; o < count; ++o) {
      auto turn = turns.find(OperationId(o));
      if (turn == turns.end()) splitter.copy(OperationId(o));
      else if (turn->second.dim == whole_operation) splitter.place_all(OperationId(o), turn->second.split);
      else if (auto partial = splitter.split(OperationId(o), turn->second.dim, turn->second.split))
        partial_of_[turn->second.split.operation] = sibling_path(turn->second.split.operation, *partial);
    }
    return splitter.finish();
  }

  // u/v2 → u/NAME
  static std::string sibling_path(const std::string& path, const std::string& name) {
    return path.substr(0, path.rfind('/') + 1) + name;
  }

  const Program& program() const { return result_.program; }

  bool is_bound(OperationInGraph location) {
    auto [entry, fresh] = bound_.try_emplace(location.graph);
    if (fresh) entry->second = bound_to_transfers(program(), program()[location.graph]);
    return entry->second[location.operation.index()];
  }

  // Reports the reason why a decision cannot be applied, once.
  std::optional<std::uint32_t> dim_to_split(const Pending& p, OperationInGraph location) {
    const Operator& op = named_.of(program()[location.graph][location.operation]);
    const PlannedSplit& split = p.split;
    if (is_inside_of_a_group(program(), location.graph))
      return refuse(p, {0, "`" + split.operation + "` is inside a group, which is split as one operation",
                        PlanPart::operation, split.operation});
    if (is_bound(location))
      return refuse(p, {0, "`" + split.operation + "` is already split and placed, and reads through a transfer",
                        PlanPart::operation});
    if (split.all_at) {
      if (auto problem = why_not_on_devices(program(), location, {}, split)) return refuse(p, std::move(*problem));
      return whole_operation;
    }
    auto dim = find_dim(op, split.dim);
    if (!dim) return refuse(p, no_dim(program(), location, p.decision, split.operation, split.dim));
    auto number = [&](std::string message) { return refuse(p, {0, std::move(message), PlanPart::number}); };
    if (split.blocks.count < 1 || split.blocks.count > max_blocks)
      return number("`" + split.dim + "` is split into " + plural(split.blocks.count, "block") + "; 1 to " +
                    std::to_string(max_blocks) + " are possible");
    bool again = std::any_of(op.blockings.begin(), op.blockings.end(), [&](auto& b) { return b.dim == *dim; });
    Range range = op.dims[*dim].range;
    if (!again && !tiles(split.blocks, range))
      return number("the blocks " + to_string(split.blocks) + " do not tile " + split.dim + ", which runs over " +
                    to_string(range));
    if (again && !split.blocks.boundaries.empty())
      return number("`" + split.dim +
                    "` is already split; to split its blocks, give the number of blocks, not their boundaries");
    std::string why = why_not_split(program(), op, *dim, GraphSplitter::streams(op, *dim, split));
    if (why.empty() && combines_in_parts(op, *dim, split)) why = why_not_reassociated(program(), op, caution_);
    if (!why.empty())
      return refuse(p, {0, "`" + split.dim + "` of `" + split.operation + "` cannot be split: " + why, PlanPart::dim});
    bool partials = op.dims[*dim].role == DimRole::reduction && !GraphSplitter::streams(op, *dim, split);
    if (split.tree && !partials) {
      const std::string tree = "`tree " + std::to_string(*split.tree) + "`", name = "`" + split.dim + "`";
      return refuse(p,
                    {0,
                     tree + " requires a split reduction; " + name +
                         (op.dims[*dim].role == DimRole::reduction ? " is streamed, so there are no partials to combine"
                                                                   : " is not a reduction dim"),
                     PlanPart::tree, "", "remove " + tree});
    }
    if (!split.axis && split.devices.empty()) return dim;
    if (auto problem = why_not_on_devices(program(), location, *dim, split)) return refuse(p, std::move(*problem));
    if (auto problem = why_no_boxes(op, *dim, split)) { return refuse_without_boxes(p, std::move(*problem)); }
    return dim;
  }

  // Blocks of a reduced dim that are not streamed, and those of the running dim of a scan.
  bool combines_in_parts(const Operator& op, std::uint32_t dim, const PlannedSplit& split) const {
    if (!monoid_of(op)) return false;
    if (op.dims[dim].role == DimRole::reduction) return !GraphSplitter::streams(op, dim, split);
    return op.reduce() && split_scan(program(), op, dim, split.blocks).has_value();
  }

  std::optional<std::uint32_t> refuse(const Pending& p, PlanProblem problem) {
    problem.decision = p.decision;
    result_.problems.push_back(std::move(problem));
    return std::nullopt;
  }

  std::optional<std::uint32_t> refuse_without_boxes(const Pending& p, PlanProblem problem) {
    without_boxes_.insert(p.split.operation);
    of_boxes_.insert(p.decision);
    return refuse(p, std::move(problem));
  }

  // Splits the combination of many partials again, until one level combines the rest.
  static std::optional<Pending> rest_of_tree(const Pending& p, const Operator& op, std::uint32_t dim) {
    const PlannedSplit& split = p.split;
    if (!split.tree || split.blocks.count <= *split.tree || op.dims[dim].role != DimRole::reduction)
      return std::nullopt;
    Pending again = p;
    again.split.dim = split_dim(op, dim, split.blocks, false).dims.back().name;
    again.split.blocks = Blocks{(split.blocks.count + *split.tree - 1) / *split.tree};
    again.split.placement = Placement::unspecified;
    again.split.mesh.clear();
    again.split.axis.reset();
    again.split.devices.clear();
    return again;
  }

  const Program& source_;
  const Caution caution_;
  const Claims claims_;
  SplitResult result_;
  Interner interner_;
  NamedOperators named_;
  std::vector<Pending> pending_;
  // If `H`'s reduction was split, `H` is the combination; the dims that it lacks are its partials'.
  std::map<std::string, std::string> partial_of_;
  std::map<GraphId, std::vector<bool>> bound_;                                // to transfers, in this round
  std::map<std::pair<GraphId, ValueId>, std::vector<Pending>> over_devices_;  // by value that is written
  std::set<std::string> without_boxes_;
  std::set<std::size_t> of_boxes_;  // decisions
};

// Pre: no line is about an input.
SplitResult apply_to_operations(const Program& program, const Plan& plan, const Caution& caution, NoBoxes no_boxes) {
  const Claims claims = no_boxes == NoBoxes::refused ? Claims::not_needed : Claims::made;
  SplitApplier applier(program, plan, caution, claims);
  SplitResult result = applier.run();
  if (applier.without_boxes().empty() || no_boxes == NoBoxes::refused) return result;
  std::optional<StagedWrites> staged = stage_interleaved_writes(program, plan, applier.without_boxes());
  if (!staged) return result;
  std::vector<std::string> reasons;
  for (const PlanProblem& problem : result.problems)
    if (applier.is_of_boxes(problem)) reasons.push_back(problem.message);
  // Others are reported in terms of the plan.
  std::erase_if(result.problems, [&](const PlanProblem& p) { return applier.is_of_boxes(p); });
  if (!result.problems.empty()) return result;
  SplitResult again = SplitApplier(staged->program, staged->plan, caution, claims).run();
  again.staging_reasons = std::move(reasons);
  again.steps.insert(again.steps.begin(), std::move(staged->step));
  again.stages.insert(again.stages.begin(), std::move(staged->program));
  return again;
}

}  // namespace

SplitResult apply_splits(const Program& program, const Plan& plan, const Caution& caution, NoBoxes no_boxes) {
  DividedInputs inputs = divide_inputs(program, plan);
  if (inputs.step.graphs.empty()) return apply_to_operations(program, plan, caution, no_boxes);
  SplitResult result = apply_to_operations(inputs.program, inputs.plan, caution, no_boxes);
  std::set<std::size_t> reported;  // a line is about all copies
  for (PlanProblem& problem : result.problems) problem.decision = inputs.lines[problem.decision];
  std::erase_if(result.problems, [&](const PlanProblem& p) {
    return divided_input(program, plan.decisions[p.decision]) && !reported.insert(p.decision).second;
  });
  result.steps.insert(result.steps.begin(), std::move(inputs.step));
  result.stages.insert(result.stages.begin(), std::move(inputs.program));
  return result;
}

PassResult apply_splits(const Program& program, const PassContext& context) {
  SplitResult applied = apply_splits(program, context.plan, caution_of(context), NoBoxes::staged);
  PassResult result{{}, {"apply_splits"}};
  result.problems = std::move(applied.problems);
  if (!result.problems.empty()) {
    result.program = program;
    return result;
  }
  result.program = std::move(applied.program);
  for (const std::string& why : applied.staging_reasons)
    result.diagnostics.emplace_back(
        Code::pass_declined, Span{},
        why + "; all points are written to a staging buffer first, and every device copies all of it into place");
  for (std::size_t k = 0; k < applied.steps.size(); ++k)
    result.earlier.push_back({std::move(applied.stages[k]), std::move(applied.steps[k])});
  if (!result.earlier.empty()) {
    result.step = std::move(result.earlier.back().step);
    result.earlier.pop_back();
  }
  return result;
}

}  // namespace tap::passes
