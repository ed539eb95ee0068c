#include "cost/search/chosen_plan.h"

#include "cost/search/input_parts.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/splits/apply_splits.h"

namespace tap::cost {

using namespace ir;

namespace {

// The sites of a graph and of the bodies in it, and in `placed` how their results are held.
void add_sites(const GraphProblems& problems, GraphId id, const std::vector<std::uint32_t>& choices, Program& placed,
               passes::ChosenSites& sites) {
  const GraphProblem& made = problems.at(id);
  if (!sites.try_emplace(id).second) return;
  for (std::size_t s = 0; s < choices.size(); ++s) {
    const GraphProblem::Meaning& meaning = made.meanings[s];
    if (meaning.body.valid() && choices[s] < meaning.inner.size())
      add_sites(problems, meaning.body, meaning.inner[choices[s]], placed, sites);
    if (meaning.strategies.empty()) continue;
    const Strategy& strategy = meaning.strategies[meaning.strategy_of[choices[s]]];
    for (std::size_t r = 0; r < strategy.stored.size(); ++r)
      placed.graphs[id.index()].values[strategy.site.site.results[r].index()].sharding = strategy.stored[r];
    sites[id].push_back(strategy.site);
  }
}

// place H at 1 over grid.x
PlannedSplit at_stage(const Mesh& mesh, AxisId axis, std::string operation, std::uint16_t stage) {
  PlannedSplit line{.operation = std::move(operation)};
  line.placement = Placement::mesh_axis;
  line.mesh = mesh.name;
  line.axis = named(mesh, {axis, {}});
  line.all_at = stage;
  return line;
}

// With stages, the part is at that of its only reader.
std::vector<Decision> lines_of_inputs(const Program& program, const SearchProblem& problem, const ShardingTable& table,
                                      const Chosen& chosen, std::optional<AxisId> stages) {
  std::vector<Decision> lines;
  for (std::size_t s = 0; s < problem.steps.size(); ++s) {
    const std::vector<std::optional<Held>>& parts = problem.steps[s].choices[chosen.choices[s]].parts;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (!parts[k]) continue;
      const std::string& input = program[program.main][ValueId(problem.steps[s].operands[k])].name;
      const Sharding& sharding = table[*parts[k]];
      if (stages)
        lines.push_back(
            at_stage(program[sharding.mesh], *stages, input, problem.steps[s].choices[chosen.choices[s]].stage));
      for (Decision& line : lines_of_input(program, input, sharding)) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<Decision> lines_of_stages(const Program& program, MeshId mesh, AxisId axis, const GraphProblem& main,
                                      const Chosen& chosen) {
  const std::vector<std::string> names = operation_names(program[program.main]);
  std::vector<Decision> lines;
  for (std::size_t s = 0; s < chosen.choices.size(); ++s) {
    const OperationId o = main.meanings[s].strategies.front().site.site.operations.front();
    lines.push_back(
        at_stage(program[mesh], axis, names[o.index()], main.problem.steps[s].choices[chosen.choices[s]].stage));
  }
  return lines;
}

}  // namespace

std::optional<passes::ShardedPlan> plan_of(const Program& program, MeshId mesh, const GraphProblems& problems,
                                           const ShardingTable& table, std::optional<AxisId> stages,
                                           const Chosen& chosen, const passes::Caution& caution) {
  Program placed = program;
  passes::ChosenSites sites;
  add_sites(problems, program.main, chosen.choices, placed, sites);
  passes::ShardedPlan made = passes::plan_of_sites(placed, sites, caution);
  std::vector<Decision>& lines = made.plan.decisions;
  const GraphProblem& main = problems.at(program.main);
  for (Decision& line : lines_of_inputs(program, main.problem, table, chosen, stages)) lines.push_back(std::move(line));
  if (!stages) return made;
  const std::vector<Decision> at = lines_of_stages(program, mesh, *stages, main, chosen);
  lines.insert(lines.begin(), at.begin(), at.end());
  // Not every operation can be both placed and split.
  if (!passes::apply_splits(program, made.plan, caution, passes::NoBoxes::refused).problems.empty())
    return std::nullopt;
  return made;
}

}  // namespace tap::cost
