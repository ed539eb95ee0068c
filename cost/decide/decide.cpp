#include "cost/decide/decide.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "cost/decide/folds.h"
#include "cost/decide/groups.h"
#include "cost/decide/mesh_splits.h"
#include "cost/decide/reduction_blocks.h"
#include "cost/decide/start.h"
#include "cost/decide/time_tiles.h"
#include "cost/decide/written.h"
#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"
#include "passes/placed.h"
#include "passes/shardings/plan_shardings.h"

namespace tap::cost {

using namespace ir;

namespace {

bool has_placement(const Decision& decision) {
  auto* split = std::get_if<PlannedSplit>(&decision);
  return split && (split->axis || split->placement == Placement::devices || split->all_at);
}

// Whether some operations run on some devices only.
bool is_for_devices(const Program& program, const Plan& plan) {
  return passes::has_shardings(program) || std::any_of(plan.decisions.begin(), plan.decisions.end(), has_placement) ||
         std::any_of(program.graphs.begin(), program.graphs.end(), [](const Graph& g) { return !g.splits.empty(); });
}

// The operations that the plan names, other than to divide them over a mesh.
std::set<std::string> named_in(const Plan& plan) {
  std::set<std::string> names;
  for (const Decision& decision : plan.decisions) {
    if (auto* choice = std::get_if<PlannedChoice>(&decision)) names.insert(choice->operation);
    if (auto* split = std::get_if<PlannedSplit>(&decision); split && !is_over_mesh(decision))
      names.insert(split->operation);
    if (auto* unroll = std::get_if<PlannedUnroll>(&decision)) names.insert(unroll->operation);
    if (auto* fusion = std::get_if<PlannedFusion>(&decision))
      names.insert(fusion->operations.begin(), fusion->operations.end());
  }
  return names;
}

bool is_input(const Program& program, const std::string& name) {
  const Graph& main = program[program.main];
  return std::any_of(main.inputs.begin(), main.inputs.end(), [&](ValueId v) { return main[v].name == name; });
}

std::set<std::string> split_by(const Plan& plan) {
  std::set<std::string> names;
  for (const Decision& decision : plan.decisions)
    if (auto* split = std::get_if<PlannedSplit>(&decision))
      names.insert({split->operation, std::string(before_partials(split->operation))});
  return names;
}

class Decider {
 public:
  Decider(const Program& program, const DecideOptions& options)
      : program_(program),
        options_(options),
        fixed_(named_in(options.context.plan)),
        is_split_(split_by(options.context.plan)),
        is_sharded_(is_for_devices(program, options.context.plan)),
        pricer_(options.cluster, options.threads, passes::caution_of(options.context),
                {options.evaluations, options.seconds}, options.spare) {}

  Decided run() {
    Offered offered;
    auto best = with_groups(options_.context.plan, &offered);
    if (!best) return {options_.context.plan};  // problems of the plan are reported where it is applied
    std::vector<Consideration> considered;
    for (const FoldChoice& fold : offered.folds) best = best_fold(std::move(*best), fold, considered);
    for (const WrittenChoice& choice : offered.written)
      if (!is_chosen(best->plan, choice.names.front()) && may_be_better_as_written(choice))
        best = best_fold(std::move(*best), {choice.names, {0}}, considered);
    for (const UnrollChoice& unroll : offered.unrolls) best = best_unroll(std::move(*best), unroll, considered);
    considered.insert(considered.end(), best->considered.begin(), best->considered.end());
    for (PlannedSplit& line : best->blocks) best->plan.decisions.emplace_back(std::move(line));
    return {without_inner_splits(std::move(best->plan)), pricer_.used(), std::move(considered)};
  }

 private:
  struct Attempt {
    Plan plan;
    std::optional<Prediction> price;  // of the whole program; only if several are compared
    Program fused;
    std::vector<Consideration> considered;  // of its groups
    std::vector<PlannedSplit> blocks = {};  // of reductions that no group contains
  };

  struct Offered {  // by the program after the first passes
    std::vector<FoldChoice> folds;
    std::vector<WrittenChoice> written;
    std::vector<UnrollChoice> unrolls;
  };

  // By the operations that the fold becomes and those that share their traffic: of a large program they are a small share.
  static bool is_better_around(const FoldChoice& fold, const Attempt& now, const Attempt& before) {
    double seconds = 0;
    for (const Consideration& about : before.considered)
      if (std::any_of(about.operations.begin(), about.operations.end(), [&](const auto& o) { return is_of(fold, o); }))
        seconds += about.alternatives[about.taken].price.seconds;
    Prediction part = *before.price, changed = *now.price;
    if (seconds <= 0 || seconds >= part.seconds) return is_better(changed, part);
    changed.seconds = std::max(seconds - (part.seconds - changed.seconds), 0.0);
    part.seconds = seconds;
    return is_better(changed, part);
  }
  static bool is_of(const FoldChoice& fold, const std::string& operation) {
    return std::any_of(fold.names.begin(), fold.names.end(),
                       [&](const std::string& name) { return operation.starts_with(name + "."); });
  }

  static std::vector<Decision> lines_of(const FoldChoice& fold, std::uint32_t alternative) {
    std::vector<Decision> lines;
    for (const std::string& name : fold.names) lines.emplace_back(PlannedChoice{name, alternative});
    return lines;
  }

  // Tries the fold in smaller and smaller blocks, until that no longer pays.
  Attempt best_fold(Attempt best, const FoldChoice& fold, std::vector<Consideration>& considered) {
    if (!best.price) best.price = price_of(best);
    Consideration about{fold.names, {}, 0};
    if (best.price) about.alternatives.push_back({{}, *best.price});
    for (std::uint32_t alternative : fold.alternatives) {
      Plan plan = choices_of(best.plan);
      for (Decision& line : lines_of(fold, alternative)) plan.decisions.push_back(std::move(line));
      auto attempt = with_groups(std::move(plan), nullptr);
      if (!attempt) break;
      if (!attempt->price) attempt->price = price_of(*attempt);
      if (!attempt->price || !best.price) break;
      about.alternatives.push_back({lines_of(fold, alternative), *attempt->price});
      if (!is_better_around(fold, *attempt, best)) break;
      about.taken = about.alternatives.size() - 1;
      best = std::move(*attempt);
    }
    if (about.alternatives.size() > 1) considered.push_back(std::move(about));
    return best;
  }

  static bool is_chosen(const Plan& plan, const std::string& name) {
    return std::ranges::any_of(plan.decisions, [&](const Decision& line) {
      auto* choice = std::get_if<PlannedChoice>(&line);
      return choice && choice->operation == name;
    });
  }
  // By itself, and by far: the rewrites save operations, of which the model is less sure than of bytes. Only then are the groups
  // around it decided.
  bool may_be_better_as_written(const WrittenChoice& choice) {
    const std::optional<Prediction> written = pricer_.of(choice.written), by_default = pricer_.of(choice.by_default);
    return written && by_default && score(*written) < 0.8 * score(*by_default);
  }

  // Tries more and more steps at a time, until that no longer pays.
  Attempt best_unroll(Attempt best, const UnrollChoice& unroll, std::vector<Consideration>& considered) {
    if (!best.price) best.price = price_of(best);
    Consideration about{{unroll.operation}, {}, 0};
    if (best.price) about.alternatives.push_back({{}, *best.price});
    const Plan before = choices_of(best.plan);
    for (std::int64_t steps : unroll.steps) {
      const Decision line = PlannedUnroll{unroll.operation, steps};
      Plan plan = before;
      plan.decisions.push_back(line);
      auto attempt = with_groups(std::move(plan), nullptr);
      if (!attempt) break;
      if (!attempt->price) attempt->price = price_of(*attempt);
      if (!attempt->price || !best.price) break;
      about.alternatives.push_back({{line}, *attempt->price});
      if (!is_better(*attempt->price, *best.price)) break;
      about.taken = about.alternatives.size() - 1;
      best = std::move(*attempt);
    }
    if (about.alternatives.size() > 1) considered.push_back(std::move(about));
    return best;
  }

  // The user's lines, and the choices and unrolls decided so far, without the decided groups.
  Plan choices_of(const Plan& plan) const {
    Plan kept = options_.context.plan;
    for (std::size_t d = kept.decisions.size(); d < plan.decisions.size(); ++d)
      if (const Decision& line = plan.decisions[d];
          std::holds_alternative<PlannedChoice>(line) || std::holds_alternative<PlannedUnroll>(line))
        kept.decisions.push_back(line);
    return kept;
  }

  std::optional<Prediction> price_of(const Attempt& attempt) {
    return pricer_.of(attempt.fused, without_inner_splits(attempt.plan));
  }

  // The plan with the groups that pay. Nothing if it cannot be applied.
  std::optional<Attempt> with_groups(Plan plan, Offered* offered) {
    passes::PassContext context = options_.context;
    context.plan = plan;
    auto look = [&](const passes::PassRun& run) {
      if (!offered || run.pass.name != "offer_choices") return;
      *offered = {fold_choices(run.after, fixed_), {}, {}};
      if (!context.require_proof && options_.evaluations > 0) offered->written = written_choices(run.after, fixed_);
      const std::vector<MemoryLevel>& levels = pricer_.device().levels;
      const double cached = levels.size() < 2 ? 0 : levels[levels.size() - 2].bytes;
      if (!is_sharded_) offered->unrolls = unroll_choices(run.after, fixed_, cached);
    };
    passes::Passed made = passes::run(options_.simplify, program_, context, look);
    if (made.problems.empty()) made = passes::run(passes::planned_passes(), std::move(made.program), context);
    if (!made.problems.empty()) return std::nullopt;
    const auto fixed = operations_of(made.program, fixed_);
    if (!fixed) return std::nullopt;
    return is_sharded_ ? with_groups_on_mesh(std::move(plan), made.program, *fixed, context)
                       : groups_in(std::move(plan), made.program, *fixed, {}, context);
  }

  // A group may change what propagation infers, so the whole program is priced with the groups and without.
  std::optional<Attempt> with_groups_on_mesh(Plan plan, const Program& program,
                                             const std::vector<std::set<OperationId>>& fixed,
                                             const passes::PassContext& context) {
    const auto splits = mesh_splits(program, context);
    const auto separate = splits ? pricer_.of(program, plan) : std::nullopt;
    if (!separate) return std::nullopt;
    const std::size_t kept = pricer_.set_aside(program);
    Attempt grouped = groups_in(plan, program, fixed, *splits, context);
    pricer_.give_back(kept);
    grouped.price = price_of(grouped);
    if (grouped.price && is_as_fast(*grouped.price, *separate)) return grouped;
    return Attempt{std::move(plan), separate, program, {}};
  }

  Attempt groups_in(Plan plan, const Program& program, const std::vector<std::set<OperationId>>& fixed,
                    const std::vector<SplitsOfGraph>& splits, passes::PassContext context) {
    const std::size_t before = plan.decisions.size();
    std::vector<Consideration> considered;
    for (const auto& [graph, path] : graph_paths(program)) {
      if (path.empty() ? graph != program.main : !is_repeated(program, graph)) continue;
      DecidedGroups groups = decide_groups(program, graph, path, fixed[graph.index()],
                                           splits.empty() ? nullptr : &splits[graph.index()],
                                           passes::caution_of(context), pricer_);
      for (PlannedFusion& fusion : groups.fusions) plan.decisions.emplace_back(std::move(fusion));
      for (Consideration& about : groups.considered) considered.push_back(std::move(about));
    }
    Plan added;
    added.decisions.assign(plan.decisions.begin() + static_cast<std::ptrdiff_t>(before), plan.decisions.end());
    context.plan = added;
    passes::Passed fused = passes::run(passes::planned_passes(), program, context);
    if (!fused.problems.empty()) plan.decisions.resize(before);
    auto blocks = splits.empty() ? blocks_in(program, fixed, named_in(added)) : std::vector<PlannedSplit>();
    return {std::move(plan), std::nullopt, std::move(fused.program), std::move(considered), std::move(blocks)};
  }

  // Of operations that are neither fixed nor in one of these groups. Shards have blocks of their own.
  std::vector<PlannedSplit> blocks_in(const Program& program, std::vector<std::set<OperationId>> fixed,
                                      const std::set<std::string>& grouped) const {
    std::vector<PlannedSplit> blocks;
    if (options_.evaluations == 0) return blocks;
    OperationFinder finder(program);
    for (const std::string& name : grouped)
      if (auto location = finder.find(program.main, name)) fixed[location->graph.index()].insert(location->operation);
    for (const auto& [graph, path] : graph_paths(program)) {
      if (path.empty() ? graph != program.main : !is_repeated(program, graph)) continue;
      auto lines = reduction_blocks(program, graph, path, fixed[graph.index()], passes::caution_of(options_.context));
      blocks.insert(blocks.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
    }
    return blocks;
  }

  // The operations with these names, by graph. Nothing if the program lacks an operation or a dim that the plan splits:
  // a later pass makes it, or the plan has a mistake, which is reported later in terms of the program as written.
  std::optional<std::vector<std::set<OperationId>>> operations_of(const Program& program,
                                                                  const std::set<std::string>& names) const {
    std::vector<std::set<OperationId>> found(program.graphs.size());
    OperationFinder finder(program);
    for (const std::string& name : names) {
      auto location = finder.find(program.main, name);
      if (location) found[location->graph.index()].insert(location->operation);
      else if (is_split_.count(name) && !is_input(program, name)) return std::nullopt;
    }
    for (std::size_t g = 0; g < program.graphs.size(); ++g)
      for (const SplitRequest& split : program.graphs[g].splits) found[g].insert(split.operation);
    for (const Decision& decision : options_.context.plan.decisions) {
      auto* split = std::get_if<PlannedSplit>(&decision);
      if (!split || split->all_at || axis_of_dim(split->dim)) continue;
      const auto location = finder.find(program.main, before_partials(split->operation));
      if (!location || !find_dim(with_author_names(program, program[location->graph][location->operation]), split->dim))
        return std::nullopt;
    }
    return found;
  }

  // Whether the graph is the body of an iterate.
  static bool is_repeated(const Program& program, GraphId graph) {
    return std::any_of(program.operators.begin(), program.operators.end(), [&](const Operator& op) {
      const RegionBody* region = op.region();
      return region && region->kind == RegionKind::iterate && region->graph == graph;
    });
  }

  const Program& program_;
  const DecideOptions& options_;
  std::set<std::string> fixed_, is_split_;  // names of operations
  bool is_sharded_;
  Pricer pricer_;
};

}  // namespace

Decided decide(const Program& program, const DecideOptions& given) {
  DecideOptions options = given;
  options.context.plan = with_start(program, given);
  if (passes::is_placed(program)) return {options.context.plan};  // a stage text: its placements are final
  return Decider(program, options).run();
}

}  // namespace tap::cost
