#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "ir/graphs/program_hash.h"
#include "ir/verify/verify.h"
#include "passes/fusion/fuse.h"
#include "passes/fusion/fuse_auto.h"
#include "passes/fusion/unroll.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/rewrites/pick_choices.h"
#include "passes/simplify/compose_maps.h"
#include "passes/simplify/inline_calls.h"
#include "passes/simplify/remove_dead_code.h"
#include "passes/simplify/share_equal_operations.h"
#include "passes/simplify/simplify_cells.h"
#include "passes/simplify/simplify_graph.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// Those that always run stand first.
constexpr Pass passes_in_order[] = {
    {"inline_calls", "first: what follows sees through calls", inline_calls},
    {"simplify_graph", "before cells: a reduction of one point brings cells of its monoid", simplify_graph},
    {"simplify_cells", "before equal operations are looked for: what is equal shall look so", simplify_cells},
    {"share_equal_operations", "after inlining, which makes equal operations visible in one graph",
     share_equal_operations},
    {"remove_dead_code", "before composing: whoever reads a value and is needed by nobody would hold it back",
     remove_dead_code},
    {"offer_choices", "before composing, which hides what a rewrite's pattern looks for; rewrites if the plan chooses",
     offer_choices},
    {"pick_choices", "at once: what is picked is composed like what was written", pick_choices},
    {"compose_maps", "after sharing: two readers that are one need the value only once", compose_maps, true},
    {"simplify_cells", "again: cells of several operations have met in one", simplify_cells},
    {"share_equal_operations", "again: composed operations may be equal where their parts were not",
     share_equal_operations},
    {"remove_dead_code", "last of what always runs: what nobody asks for", remove_dead_code},
    {"unroll", "with a plan, its first lines: the steps that are written out can then be fused and cut", unroll, false,
     When::with_a_plan},
    {"fuse", "with a plan, before its splits: a group is cut as one operation, and what is cut is fused no more", fuse,
     false, When::with_a_plan},
    {"fuse_auto", "on request, after the plan's own groups, which it leaves as they are", fuse_auto, false,
     When::on_request},
};

std::span<const Pass> run_when(When when) {
  auto is = [when](const Pass& pass) { return pass.when == when; };
  const Pass* first = std::find_if(std::begin(passes_in_order), std::end(passes_in_order), is);
  return {first, std::find_if_not(first, std::end(passes_in_order), is)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A run that changes nothing ends a pass that runs until then; this many that do change something mean that it never ends.
constexpr int most_runs = 1000;

}  // namespace

std::span<const Pass> all_passes() { return passes_in_order; }
std::span<const Pass> lowering() { return run_when(When::always); }
std::span<const Pass> planned_passes() { return run_when(When::with_a_plan); }

std::span<const Pass> passes_before(std::string_view name) {
  auto named = [name](const Pass& pass) { return pass.name == name; };
  return {std::begin(passes_in_order), std::find_if(std::begin(passes_in_order), std::end(passes_in_order), named)};
}

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : passes_in_order)
    if (pass.name == name) return &pass;
  return nullptr;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : passes_in_order)
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.emplace_back(pass.name);
  return names;
}

namespace {

class Manager {
 public:
  Manager(Program program, const PassContext& context, const AfterPass& after) : context_(context), after_(after) {
    result_.program = std::move(program);
  }

  void run(const Pass& pass) {
    std::vector<Remark> remarks;
    int runs = 0;
    while (run_once(pass, remarks) && pass.until_stable)
      TAP_CHECK(++runs < most_runs, "the pass `" + std::string(pass.name) + "` never comes to an end");
    for (Remark& remark : remarks) {  // of the last run: what was declined at first may have been done later
      remark.pass = pass.name;
      result_.remarks.push_back(std::move(remark));
    }
  }
  Passed take() { return std::move(result_); }

 private:
  // Whether it changed the program.
  bool run_once(const Pass& pass, std::vector<Remark>& remarks) {
    auto start = std::chrono::steady_clock::now();
    PassResult made = pass.run(result_.program, context_);
    double seconds = seconds_since(start);
    remarks = std::move(made.remarks);
    for (PlanProblem& problem : made.problems) result_.problems.push_back(std::move(problem));
    if (made.rules) result_.rules = std::move(made.rules);
    bool changed = false;
    for (Stage& earlier : made.earlier) changed |= take(pass, std::move(earlier), 0);
    return take(pass, {std::move(made.program), std::move(made.step)}, seconds) || changed;
  }

  bool take(const Pass& pass, Stage made, double seconds) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::string> problems = verify(made.program);
    if (!problems.empty())
      TAP_UNREACHABLE("the pass `" + std::string(pass.name) + "` made an ill-formed program: " + problems.front());
    check_form(pass, made);
    if (after_) after_({pass, result_.program, made.program, seconds, seconds_since(start)});
    bool changed = made.program != result_.program;
    if (changed) add_step(pass, std::move(made));
    return changed;
  }

  // Claims for every graph, for each of its values and operations one. What a new region holds is claimed by the region.
  static void check_form(const Pass& pass, const Stage& made) {
    const std::string name(pass.name);
    std::vector<bool> claimed(made.program.graphs.size(), false);
    for (const GraphClaim& claim : made.step.graphs) {
      const Graph& graph = made.program[claim.after];
      TAP_CHECK(claim.values.size() == graph.values.size() && claim.operations.size() == graph.operations.size(),
                "the pass `" + name + "` claims another graph than it made");
      claimed[claim.after.index()] = true;
      for (std::size_t o = 0; o < graph.operations.size(); ++o)
        if (std::holds_alternative<GroupOf>(claim.operations[o]) ||
            std::holds_alternative<OfferedFor>(claim.operations[o]))
          claim_regions(made.program, made.program[graph.operations[o].op], claimed);
    }
    TAP_CHECK(std::find(claimed.begin(), claimed.end(), false) == claimed.end(),
              "the pass `" + name + "` claims too little");
  }

  static void claim_regions(const Program& program, const Operator& op, std::vector<bool>& claimed) {
    const RegionBody* region = op.region();
    if (!region) return;
    std::vector<GraphId> graphs{region->graph};
    for (const Alternative& a : region->alternatives) graphs.push_back(a.graph);
    for (GraphId id : graphs) {
      if (claimed[id.index()]) continue;
      claimed[id.index()] = true;
      for (const Operation& operation : program[id].operations) claim_regions(program, program[operation.op], claimed);
    }
  }

  void add_step(const Pass& pass, Stage made) {
    made.step.pass = pass.name;
    made.step.before = certificate_end_.empty() ? hash_of(result_.program) : certificate_end_;
    made.step.after = certificate_end_ = hash_of(made.program);
    result_.certificate.steps.push_back(std::move(made.step));
    result_.program = std::move(made.program);
  }

  const PassContext& context_;
  const AfterPass& after_;
  std::string certificate_end_;  // the hash of the program, once there is a step
  Passed result_;
};

}  // namespace

Passed run(std::span<const Pass> passes, Program program, const PassContext& context, const AfterPass& after) {
  Manager manager(std::move(program), context, after);
  for (const Pass& pass : passes) manager.run(pass);
  return manager.take();
}

}  // namespace tap::passes
