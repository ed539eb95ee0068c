// From shardings to a plan: splits each operation's index dims over the mesh axes of their factors. `realise` then
// finds the data that must move between devices: transfers where the blocks of consumer and producer differ, and
// combinations of partials.
//
//   H[i, o] = sum[k] X[i, k] * W1[k, o] @ pod[{data}, {model}]     split H dim i into 2 over pod.data
//                                                                  split H dim o into 4 over pod.model
//
// Each device combines only a part of the partials: `split Y dim i into 4 over pod.model` after `split Y dim k into 4 over
// pod.model` is a reduce-scatter, and an all-reduce if readers then gather the parts. Several axes of one dim become nested
// blocks. If sizes do not divide, these blocks differ from those of the sharding, but are equally correct.
#pragma once

#include <map>

#include "passes/shardings/explicit_reshards.h"
#include "passes/shardings/plan_listed.h"
#include "passes/splits/apply_splits.h"

namespace tap::passes {

// A dim that stays unsplit although its factor is sharded, and why.
struct LeftWhole {
  std::string operation;
  std::string dim;     // none: the whole operation was to be placed there
  std::string target;  // data, or devices {0}, {1}
  std::string why;
};
// `i` of `Y` is not split over `data`: …     `Y` is not placed on `devices {3}`: …
std::string to_string(const LeftWhole& left);

struct ShardedPlan {
  ir::Plan plan;
  std::vector<LeftWhole> left;
};

// Whether a value or a use has a sharding.
bool has_shardings(const ir::Program& program);
// Whether main reaches a call.
bool has_calls(const ir::Program& program);

// Operations that `but` splits are skipped. `listed` overrides the shardings of main's values.
// Pre: no calls; shardings have propagated (propagate.h) over the program after `lowering()`, which the plan applies
// to. Post: the plan can be applied.
ShardedPlan plan_of_shardings(const ir::Program& program, const Caution& caution = {}, const ir::Plan& but = {},
                              const ListedValues& listed = {});

// Sites with the axes of their factors, by graph; `graph[v].sharding` is how their results are held.
using ChosenSites = std::map<ir::GraphId, std::vector<SiteShardings>>;
// Those that the shardings of values imply, of the graphs that main reaches.
ChosenSites implied_sites(const ir::Program& program);
ShardedPlan plan_of_sites(const ir::Program& program, const ChosenSites& sites, const Caution& caution = {});
// The lines of one site, whether or not they can be applied.
std::vector<ir::PlannedSplit> splits_of_site(const ir::Program& program, ir::GraphId graph, const SiteShardings& site);

}  // namespace tap::passes
