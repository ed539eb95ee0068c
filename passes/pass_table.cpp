#include "passes/pass_table.h"

#include <algorithm>

#include "passes/fusion/fuse.h"
#include "passes/fusion/fuse_auto.h"
#include "passes/fusion/unroll.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/rewrites/pick_choices.h"
#include "passes/shardings/follow_shardings.h"
#include "passes/simplify/compose_maps.h"
#include "passes/simplify/inline_calls.h"
#include "passes/simplify/remove_dead_code.h"
#include "passes/simplify/share_equal_operations.h"
#include "passes/simplify/simplify_cells.h"
#include "passes/simplify/simplify_graph.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/realise.h"

namespace tap::passes {

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
    {"propagate", "after fusion: a group is placed as one operation; what shardings ask for becomes lines of the plan",
     follow_shardings, false, When::to_shard},
    {"apply_splits", "when all of the plan is decided: a graph that is cut is fused and rewritten no more",
     apply_splits, false, When::to_shard},
    {"realise", "after the splits: what devices hold is known, and transfers stand where a reader needs more", realise,
     false, When::to_shard},
};

std::span<const Pass> run_when(When when) {
  auto is = [when](const Pass& pass) { return pass.when == when; };
  const Pass* first = std::find_if(std::begin(passes_in_order), std::end(passes_in_order), is);
  return {first, std::find_if_not(first, std::end(passes_in_order), is)};
}

}  // namespace

std::span<const Pass> all_passes() { return passes_in_order; }
std::span<const Pass> lowering() { return run_when(When::always); }
std::span<const Pass> planned_passes() { return run_when(When::with_a_plan); }
std::span<const Pass> fusing_passes() {
  return {planned_passes().data(), sharding_passes().data()};  // those on request stand between
}
std::span<const Pass> sharding_passes() { return run_when(When::to_shard); }

std::span<const Pass> passes_before(std::string_view name) {
  auto named = [name](const Pass& pass) { return pass.name == name; };
  return {std::begin(passes_in_order), std::find_if(std::begin(passes_in_order), std::end(passes_in_order), named)};
}

std::span<const Pass> pass_named(std::string_view name) { return {find_pass(name), 1}; }

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

}  // namespace tap::passes
