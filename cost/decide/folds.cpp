#include "cost/decide/folds.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/rewrites/monoid_fold.h"

namespace tap::cost {

using namespace ir;

namespace {

// The folds in several blocks, if the default without a plan is the fold in one block.
std::vector<std::uint32_t> folds_in_blocks(const RegionBody& choice) {
  std::vector<std::uint32_t> found;
  bool by_default = false;
  for (std::uint32_t k = 0; k < choice.alternatives.size(); ++k) {
    const std::string& rule = choice.alternatives[k].rule;
    if (passes::is_contracting_fold(rule)) by_default = true;
    else if (passes::is_fold(rule)) found.push_back(k + 1);
  }
  if (!by_default) found.clear();
  return found;
}

}  // namespace

bool speaks_of(const std::set<std::string>& fixed, const std::string& name) {
  if (fixed.count(name)) return true;
  auto inside = fixed.lower_bound(name + ".");
  return inside != fixed.end() && inside->starts_with(name + ".");
}

std::vector<FoldChoice> fold_choices(const Program& program, const std::set<std::string>& fixed) {
  std::vector<FoldChoice> choices;
  std::map<std::pair<OperatorId, std::vector<std::uint32_t>>, std::size_t> equal;
  for (const auto& [id, path] : graph_paths(program)) {
    const Graph& graph = program[id];
    for (const Operation& operation : graph.operations) {
      const RegionBody* region = program[operation.op].region();
      if (!region || region->kind != RegionKind::choice) continue;
      std::vector<std::uint32_t> blocks = folds_in_blocks(*region);
      const std::string name = path + graph[operation.results[0]].name;
      if (blocks.empty() || speaks_of(fixed, name)) continue;
      auto [at, fresh] = equal.emplace(std::pair(operation.op, blocks), choices.size());
      if (fresh) choices.push_back({{}, std::move(blocks)});
      choices[at->second].names.push_back(name);
    }
  }
  return choices;
}

}  // namespace tap::cost
