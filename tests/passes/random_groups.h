// Random unrolls and fusions of a program, those of a plan's lines that can be: several operations that read each other, over
// some of their dims; in main and in what iterates do.
#pragma once

#include <set>

#include "ir/author_names.h"
#include "ir/graphs/operation_names.h"
#include "passes/fusion/fuse.h"
#include "passes/fusion/fuse_auto.h"
#include "passes/fusion/unroll.h"
#include "tests/passes/random_plan.h"

namespace tap::passes::test {

template <class Choose>
class RandomGroups {
 public:
  RandomGroups(Choose& choose, const Program& program) : choose_(choose), program_(program) {}

  Plan run() {
    if (choose_(4)) unroll();
    for (std::int64_t attempts = choose_(4); attempts > 0; --attempts) fuse();
    return std::move(plan_);
  }
  const Program& program() const { return program_; }  // what the plan makes of it

 private:
  void unroll() {
    const Graph graph = program_[program_.main];
    std::vector<std::string> names = operation_names(graph);
    for (std::size_t o = 0; o < names.size(); ++o) {
      const RegionBody* region = program_[graph.operations[o].op].region();
      if (!region || region->kind != RegionKind::iterate || region->trips.size() < 2) continue;
      PlannedUnroll line{names[o], 2 + choose_(region->trips.size() - 1)};
      take(line, apply_unrolls(program_, {{line}}));
    }
  }

  void fuse() {
    auto [graph, path] = any_graph();
    const Graph& in = program_[graph];
    if (in.operations.empty()) return;
    std::vector<std::string> names = operation_names(in);
    std::set<std::size_t> members{any(in.operations.size())};
    for (std::int64_t more = 1 + choose_(4); more > 0; --more) {
      auto from = members.begin();
      std::advance(from, any(members.size()));
      const Operation& reader = in.operations[*from];
      if (reader.operands.empty()) continue;
      ValueId read = reader.operands[any(reader.operands.size())];
      for (std::size_t o = 0; o < in.operations.size(); ++o)
        for (ValueId v : in.operations[o].results)
          if (v == read) members.insert(o);
    }
    if (choose_(4)) add_other_writers(in, members);
    PlannedFusion line;
    std::vector<OperationId> operations;
    for (std::size_t o : members) {
      line.operations.push_back(path + names[o]);
      operations.emplace_back(o);
    }
    const Operator last = GroupMaker(program_, in).last_of(std::move(operations));
    for (std::uint32_t d = 0; d < last.dims.size(); ++d)
      if (choose_(4) > (last.dims[d].role == DimRole::parallel ? 0 : 1))
        line.dims.push_back(RandomPlan<Choose>::dim_name(last, d));
    if (!line.dims.empty()) take(line, apply_fusions(program_, {{line}}));
  }

  // All writers of what some of them write.
  static void add_other_writers(const Graph& in, std::set<std::size_t>& members) {
    std::set<ValueId> written;
    for (std::size_t o : members) written.insert(in.operations[o].results.begin(), in.operations[o].results.end());
    for (std::size_t o = 0; o < in.operations.size(); ++o)
      for (ValueId v : in.operations[o].results)
        if (written.count(v)) members.insert(o);
  }

  std::size_t any(std::size_t count) { return static_cast<std::size_t>(choose_(static_cast<std::int64_t>(count))); }

  // Main mostly, or what one of its iterates does.
  std::pair<GraphId, std::string> any_graph() {
    const Graph& main = program_[program_.main];
    std::vector<std::string> names = operation_names(main);
    for (std::size_t o = 0; o < names.size(); ++o) {
      const RegionBody* region = program_[main.operations[o].op].region();
      if (region && region->kind == RegionKind::iterate && choose_(2)) return {region->graph, names[o] + "/"};
    }
    return {program_.main, ""};
  }

  template <class Line>
  void take(const Line& line, PlannedResult made) {
    if (made.steps.empty()) return;
    plan_.decisions.push_back(line);
    program_ = std::move(made.program);
  }

  Choose& choose_;
  Program program_;
  Plan plan_;
};

struct StagedPlan {
  Plan plan;
  bool fuse_more = false;  // groups that the compiler chooses, before the splits
};

// Unrolls, fusions and splits, as a plan applies them.
template <class Choose>
StagedPlan random_plan(Choose& choose, const Program& program) {
  StagedPlan result;
  RandomGroups<Choose> groups(choose, program);
  if (choose(4)) result.plan = groups.run();
  result.fuse_more = choose(6) == 5;
  Program fused = result.fuse_more ? fuse_auto(groups.program()).program : groups.program();
  Plan splits = random_splits(choose, fused);
  result.plan.decisions.insert(result.plan.decisions.end(), splits.decisions.begin(), splits.decisions.end());
  return result;
}

}  // namespace tap::passes::test
