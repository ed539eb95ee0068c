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

// Passes that always run come first.
constexpr Pass passes_in_order[] = {
    {"inline_calls", "first: later passes see the operations inside calls", inline_calls},
    {"simplify_graph", "before cells: a reduction over one point becomes cells of its monoid", simplify_graph},
    {"simplify_cells", "before sharing: brings equal cells into equal form", simplify_cells},
    {"share_equal_operations", "after inlining, which brings equal operations into one graph", share_equal_operations},
    {"remove_dead_code", "before composing: an unused reader would keep a value from being composed away",
     remove_dead_code},
    {"offer_choices",
     "before composing, which hides the patterns of rewrites; a rewrite applies if the plan chooses it", offer_choices},
    {"pick_choices", "right after the offers: the picked alternative is composed like source code", pick_choices},
    {"compose_maps", "after sharing: two equal readers count once", compose_maps, true},
    {"simplify_cells", "again: composing joins the cells of several operations", simplify_cells},
    {"share_equal_operations", "again: composed operations may be equal where their parts differ",
     share_equal_operations},
    {"remove_dead_code", "last of the passes that always run: removes what composing left unused", remove_dead_code},
    {"unroll", "with a plan, before its groups and splits: unrolled trips can be fused and split", unroll, false,
     When::with_a_plan},
    {"fuse", "with a plan, before its splits: a group is split as one operation, and split operations cannot be fused",
     fuse, false, When::with_a_plan},
    {"fuse_auto", "on request, after the groups of the plan, which it keeps", fuse_auto, false, When::on_request},
    {"propagate", "after fusion: a group is placed as one operation; shardings become lines of the plan",
     follow_shardings, false, When::to_shard},
    {"apply_splits", "once the plan is complete: a split graph is neither fused nor rewritten", apply_splits, false,
     When::to_shard},
    {"realise", "after the splits: adds transfers where a reader needs cells that its device does not hold", realise,
     false, When::to_shard},
};

std::span<const Pass> run_when(When when) {
  auto is = [when](const Pass& pass) { return pass.when == when; };
  const Pass* first = std::find_if(std::begin(passes_in_order), std::end(passes_in_order), is);
  return {first, std::find_if_not(first, std::end(passes_in_order), is)};
}

}  // namespace

std::span<const Pass> lowering() { return run_when(When::always); }
std::span<const Pass> planned_passes() { return run_when(When::with_a_plan); }
std::span<const Pass> fusing_passes() {
  return {planned_passes().data(), sharding_passes().data()};  // passes on request are between them
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
