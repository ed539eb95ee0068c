#include "passes/fuse_auto.h"

#include "passes/fuse.h"

namespace tap::passes {

using namespace ir;

namespace {

// Graphs whose operations run one after another: main, and what iterates do.
std::vector<bool> sequential_graphs(const Program& program) {
  std::vector<bool> found(program.graphs.size(), false);
  std::vector<GraphId> open{program.main};
  found[program.main.index()] = true;
  while (!open.empty()) {
    GraphId at = open.back();
    open.pop_back();
    for (const Operation& operation : program[at].operations) {
      const RegionBody* region = program[operation.op].region();
      if (!region || region->kind != RegionKind::iterate || found[region->graph.index()]) continue;
      found[region->graph.index()] = true;
      open.push_back(region->graph);
    }
  }
  return found;
}

}  // namespace

PassResult fuse_auto(const Program& program, const FusionLimits& limits) {
  PassResult result{program, {}, {}};
  std::vector<bool> sequential = sequential_graphs(program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    std::vector<MadeGroup> groups;
    if (sequential[g]) {
      GroupMaker maker(program, program.graphs[g]);
      for (const auto& members : choose_groups(maker, limits)) groups.push_back(*group_within(maker, members, limits));
    }
    if (groups.empty()) {
      result.step.graphs.push_back(untouched(program, GraphId(g)));
      continue;
    }
    Rebuilt rebuilt = with_groups(result.program, GraphId(g), std::move(groups));
    result.program.graphs[g] = std::move(rebuilt.graph);
    result.step.graphs.push_back(std::move(rebuilt.claim));
  }
  drop_unreached(result.program, result.step);
  return result;
}

}  // namespace tap::passes
