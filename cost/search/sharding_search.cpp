#include "cost/search/sharding_search.h"

#include <algorithm>
#include <map>
#include <set>

#include "cost/search/body_sweeps.h"
#include "cost/search/chosen_plan.h"
#include "cost/search/given_shardings.h"
#include "cost/search/hold_costs.h"
#include "cost/search/input_parts.h"
#include "cost/search/iterate_states.h"
#include "cost/search/kept_lines.h"
#include "cost/search/open_site.h"
#include "cost/search/search_once.h"
#include "cost/search/site_costs.h"
#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/iterate_state.h"
#include "ir/graphs/operation_names.h"
#include "ir/tensor_bytes.h"

namespace tap::cost {

using namespace ir;
using passes::Site;

namespace {

bool is_group(const Program& program, const Operation& operation) {
  const RegionBody* region = program[operation.op].region();
  return region && region->kind == RegionKind::group;
}

Sharding unsharded(MeshId mesh, std::size_t rank) { return {mesh, std::vector<DimSharding>(rank), {}, {}, ""}; }

class Searcher {
 public:
  Searcher(const Program& program, MeshId mesh, const SearchOptions& options, const Plan& start,
           std::optional<AxisId> stages)
      : program_(program),
        mesh_(mesh),
        options_(options),
        table_(program),
        transfers_(options.cluster, program, mesh, options.caution),
        costs_of_sites_(program, mesh, options.times ? options.times : times_for(program, options), table_, transfers_),
        factors_(program),
        kept_(program, mesh, options.kept, start),
        stages_(stages) {
    for (const Graph& graph : program.graphs) operations_ += graph.operations.size();
  }

  FoundFront run() {
    GraphCosts costs(program_, program_.main, table_, transfers_, stages_);
    const Front front = sweep(whole(), costs, options_.limits);
    labels_ += front.labels;
    FoundFront found{
        {}, exact_ && front.goal_is_exact, strategies_, {costs_of_sites_.priced(), labels_}, kept_.problems()};
    for (const Chosen& chosen : front.plans) {
      auto plan = plan_of(program_, mesh_, problems_, table_, stages_, chosen, options_.caution);
      if (plan) found.plans.push_back({std::move(*plan), chosen.cost});
    }
    return found;
  }
  void show(const std::function<void(const SearchProblem&, HoldCosts&)>& visit) {
    GraphCosts costs(program_, program_.main, table_, transfers_);
    visit(whole(), costs);
  }
  // The problems of all graphs as the lines of the plan say; then that of one graph with any division of one site.
  void show(const OperationInGraph& open, const std::function<void(OpenSite)>& visit) {
    kept_.only_lines({});
    whole();
    if (!problems_.contains(open.graph)) return;  // in a group
    kept_.only_lines(open);
    read_.clear();
    GraphProblem opened;
    prepare(open.graph, opened);
    if (open.graph == program_.main) set_ends(opened.problem);
    visit({problems_, opened, kept_, table_, transfers_, costs_of_sites_});
  }

 private:
  const SearchProblem& whole() {
    SearchProblem& problem = prepared(program_.main).problem;
    set_ends(problem);
    return problem;
  }
  void set_ends(SearchProblem& problem) {
    if (stages_) problem.stages = static_cast<std::uint16_t>(program_[mesh_][*stages_].size);
    const Graph& graph = program_[program_.main];
    for (ValueId v : graph.inputs) {
      problem.values[v.index()].given = true;
      if (graph[v].sharding && graph[v].sharding->mesh == mesh_)
        problem.values[v.index()].fixed = table_.number(*graph[v].sharding);
    }
    for (ValueId v : graph.outputs) {
      problem.values[v.index()].kept = true;
      if (graph[v].sharding && graph[v].sharding->mesh == mesh_)
        problem.values[v.index()].left = table_.number(*graph[v].sharding);
    }
  }
  GraphProblem& prepared(GraphId id) {
    auto [place, fresh] = problems_.try_emplace(id);
    if (fresh) prepare(id, place->second);
    return place->second;
  }

  void prepare(GraphId id, GraphProblem& made) {
    const Graph& graph = program_[id];
    made.problem.values.resize(graph.values.size());
    std::vector<Site> sites = passes::sites_of(program_, graph, factors_);
    for (std::size_t o = 0; o < graph.operations.size(); ++o)
      if (is_group(program_, graph.operations[o]))
        sites.push_back(passes::site_of(program_, graph, OperationId(o), factors_));
    std::map<OperationId, const Site*> by_last;  // a site is complete after its last operation
    std::set<OperationId> others;
    for (const Site& site : sites) {
      by_last[*std::max_element(site.operations.begin(), site.operations.end())] = &site;
      others.insert(site.operations.begin(), site.operations.end());
    }
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const OperationId operation(o);
      if (auto found = by_last.find(operation); found != by_last.end()) add_site(id, *found->second, made);
      else if (!others.contains(operation)) add_region(id, operation, made);
      ++prepared_;
      if (is_hurried(options_.limits)) exact_ = false;
      if (options_.progress) options_.progress(prepared_, operations_);
    }
  }

  void add_site(GraphId id, const Site& site, GraphProblem& made) {
    const Graph& graph = program_[id];
    SearchStep step;
    for (ValueId v : site.operands) step.operands.push_back(static_cast<std::uint32_t>(v.index()));
    for (ValueId v : site.results) step.results.push_back(static_cast<std::uint32_t>(v.index()));
    GraphProblem::Meaning meaning;
    std::vector<Strategy> strategies = strategies_of(program_, graph, site, mesh_, options_.most_strategies, stages_);
    exact_ = exact_ && strategies.size() < options_.most_strategies;
    strategies_ += strategies.size();
    keep_given(program_, mesh_, graph, strategies);
    kept_.restrict(id, strategies);
    std::map<std::pair<std::vector<Held>, std::vector<Held>>, std::size_t> known;
    for (Strategy& strategy : strategies) {
      StepChoice choice = costs_of_sites_.choice_of(id, strategy);
      auto [place, fresh] = known.try_emplace({choice.needs, choice.leaves}, step.choices.size());
      if (!fresh && !kept_.is_open(id, site)) {  // reads and leaves the same: only the better one counts
        if (choice.seconds >= step.choices[place->second].seconds) continue;
        step.choices[place->second] = std::move(choice);
        meaning.strategies[place->second] = std::move(strategy);
        continue;
      }
      step.choices.push_back(std::move(choice));
      meaning.strategies.push_back(std::move(strategy));
    }
    for (std::uint32_t c = 0; c < step.choices.size(); ++c) meaning.strategy_of.push_back(c);
    if (id == program_.main) add_parts(graph, step, meaning);
    if (stages_) add_stages(step, meaning);
    made.problem.steps.push_back(std::move(step));
    made.meanings.push_back(std::move(meaning));
  }

  // Each choice at each coordinate.
  void add_stages(SearchStep& step, GraphProblem::Meaning& meaning) const {
    const std::size_t count = step.choices.size();
    for (std::uint16_t stage = 1; stage < program_[mesh_][*stages_].size; ++stage)
      for (std::size_t c = 0; c < count; ++c) {
        step.choices.push_back(step.choices[c]);
        step.choices.back().stage = stage;
        meaning.strategy_of.push_back(meaning.strategy_of[c]);
      }
  }

  // The choices again, with the large inputs that this step reads first held in parts: all of them over the same mesh axes.
  void add_parts(const Graph& graph, SearchStep& step, GraphProblem::Meaning& meaning) {
    std::vector<std::size_t> operands;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      const ValueId v(step.operands[k]);
      if (!read_.insert(step.operands[k]).second || !is_free_input(graph, v)) continue;
      const auto kept = kept_.parts_of(v);
      if (stages_ && readers_of(graph, v) > 1) continue;  // they may be at several stages
      if (!kept && memory_is_short(options_) && is_large(graph, v)) operands.push_back(k);
      for (std::size_t c = 0; c < step.choices.size() && kept; ++c)
        hold_in_parts(step, c, k, table_.number(*kept), meaning.strategies[meaning.strategy_of[c]]);
    }
    const std::size_t count = operands.empty() ? 0 : step.choices.size();
    for (std::size_t c = 0; c < count; ++c) {
      std::vector<std::vector<Held>> parts(operands.size());
      std::size_t most = 0;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const Held need = step.choices[c].needs[operands[k]];
        const Shape& shape = graph[ValueId(step.operands[operands[k]])].type.shape;
        for (const Sharding& finer : parts_of_input(program_, table_[need], shape, stages_))
          parts[k].push_back(table_.number(finer));
        most = std::max(most, parts[k].size());
      }
      exact_ = exact_ && most == 0;  // not all combinations are tried
      for (std::size_t n = 0; n < most; ++n) {
        step.choices.push_back(StepChoice(step.choices[c]));
        meaning.strategy_of.push_back(static_cast<std::uint32_t>(c));
        for (std::size_t k = 0; k < operands.size(); ++k)
          if (n < parts[k].size())
            hold_in_parts(step, step.choices.size() - 1, operands[k], parts[k][n], meaning.strategies[c]);
      }
    }
  }
  // Devices no longer have all of it.
  void hold_in_parts(SearchStep& step, std::size_t c, std::size_t operand, Held part, const Strategy& strategy) {
    StepChoice& choice = step.choices[c];
    choice.parts.resize(step.operands.size());
    choice.parts[operand] = part;
    const TransferCost edges = costs_of_sites_.edges_of(program_.main, strategy.site, operand);
    choice.seconds += edges.seconds;
    choice.traffic += edges.bytes;
  }
  static std::size_t readers_of(const Graph& graph, ValueId v) {
    return static_cast<std::size_t>(std::ranges::count_if(
        graph.operations, [v](const Operation& reader) { return std::ranges::count(reader.operands, v) > 0; }));
  }
  bool is_free_input(const Graph& graph, ValueId v) const {
    return std::ranges::count(graph.inputs, v) > 0 && !(graph[v].sharding && graph[v].sharding->mesh == mesh_);
  }
  // At least this fraction of the largest input: for others, messages take longer than the memory is worth.
  static bool is_large(const Graph& graph, ValueId v) {
    constexpr double share = 1.0 / 64;
    double largest = 0;
    for (ValueId input : graph.inputs) largest = std::max(largest, total_bytes(graph[input].type));
    return total_bytes(graph[v].type) >= share * largest;
  }

  void add_region(GraphId id, OperationId operation, GraphProblem& made) {
    const Operation& reader = program_[id][operation];
    const RegionBody* region = program_[reader.op].region();
    SearchStep step;
    std::vector<bool> reads_first;
    for (ValueId v : reader.operands)
      reads_first.push_back(id == program_.main && read_.insert(static_cast<std::uint32_t>(v.index())).second);
    for (ValueId v : reader.operands) step.operands.push_back(static_cast<std::uint32_t>(v.index()));
    for (ValueId v : reader.results) step.results.push_back(static_cast<std::uint32_t>(v.index()));
    GraphProblem::Meaning meaning;
    if (region && region->kind == RegionKind::iterate) add_iterate(id, reader, *region, step, meaning);
    if (step.choices.empty()) step.choices.push_back(unsplit(program_[id], reader));
    gather_parts(id, reader, reads_first, step);
    made.problem.steps.push_back(std::move(step));
    made.meanings.push_back(std::move(meaning));
  }
  // Inputs that lines hold in parts: all devices have all of them while trips run.
  void gather_parts(GraphId id, const Operation& reader, const std::vector<bool>& reads_first, SearchStep& step) {
    for (std::size_t k = 0; k < reader.operands.size(); ++k) {
      const ValueId v = reader.operands[k];
      const auto kept = kept_.parts_of(v);
      if (id != program_.main || !kept || !is_free_input(program_[id], v)) continue;
      for (StepChoice& choice : step.choices) {
        choice.needs[k] = whole(program_[id], v);
        choice.parts.resize(step.operands.size());
        if (reads_first[k]) choice.parts[k] = table_.number(*kept);
      }
    }
  }
  Held whole(const Graph& graph, ValueId v) { return table_.number(unsharded(mesh_, graph[v].type.shape.size())); }
  StepChoice unsplit(const Graph& graph, const Operation& operation) {
    StepChoice choice;
    for (ValueId v : operation.operands) choice.needs.push_back(whole(graph, v));
    for (ValueId v : operation.results) choice.leaves.push_back(whole(graph, v));
    return choice;
  }

  // One choice for each sharding of the states: they are held alike at the start and at the end of a trip.
  void add_iterate(GraphId id, const Operation& reader, const RegionBody& region, SearchStep& step,
                   GraphProblem::Meaning& meaning) {
    GraphProblem& body = prepared(region.graph);
    const Graph& graph = program_[region.graph];
    GraphCosts costs(program_, region.graph, table_, transfers_);
    meaning.body = region.graph;
    StateShardings states = state_shardings(program_, mesh_, graph, table_);
    exact_ = exact_ && states.is_complete;
    const BodySweeps sweeps =
        sweep_body(body.problem, graph, std::move(states.all), region.trips.size(), {costs, transfers_}, options_);
    exact_ = exact_ && sweeps.is_exact;
    labels_ += sweeps.labels;
    for (const BodySweep& swept : sweeps.all)
      for (const Chosen& chosen : swept.front.plans) {
        step.choices.push_back(choice_of_trips(id, reader, region, swept, chosen, costs));
        meaning.inner.push_back(chosen.choices);
      }
  }

  // What is not on all devices is gathered before the first trip, and after the last one what other operations read.
  StepChoice choice_of_trips(GraphId id, const Operation& reader, const RegionBody& region, const BodySweep& swept,
                             const Chosen& chosen, GraphCosts& costs) {
    const Graph& graph = program_[region.graph];
    const auto read = read_shardings(swept.problem, chosen.choices);
    StepChoice choice;
    double given = 0;
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
      const std::vector<Held>& own = read[graph.inputs[k].index()];
      const Held all = whole(graph, graph.inputs[k]);
      const Held inside = k < swept.states.size() ? swept.states[k] : own.empty() ? all : own.front();
      given += costs.bytes(static_cast<std::uint32_t>(graph.inputs[k].index()), inside);
      choice.needs.push_back(is_given_whole(program_, mesh_, id, reader.operands[k]) ? inside : all);
    }
    const auto trips = static_cast<double>(region.trips.size());
    choice.seconds = trips * chosen.cost.seconds;
    choice.traffic = trips * chosen.cost.traffic;
    for (std::size_t k = 0; k < reader.results.size(); ++k) {
      choice.leaves.push_back(swept.states[k]);
      if (!is_gathered_after_trips(program_, id, reader.results[k])) continue;
      const Held all = whole(graph, graph.inputs[k]);
      const TensorType& type = program_[id][reader.results[k]].type;
      const TransferCost gathered = transfers_.reshard(table_[swept.states[k]], table_[all], type);
      choice.leaves.back() = all;
      choice.seconds += gathered.seconds;
      choice.traffic += gathered.bytes;
    }
    choice.extra = std::max(chosen.cost.memory - given, 0.0);
    return choice;
  }

  const Program& program_;
  const MeshId mesh_;
  const SearchOptions& options_;
  ShardingTable table_;
  TransferTimes transfers_;
  SiteCosts costs_of_sites_;
  passes::FactorTable factors_;
  KeptLines kept_;
  const std::optional<AxisId> stages_;
  GraphProblems problems_;
  std::set<std::uint32_t> read_;  // values of main, by earlier steps
  bool exact_ = true;
  std::size_t strategies_ = 0, labels_ = 0;
  std::size_t prepared_ = 0, operations_ = 0;  // how many are, and all of the program
};

}  // namespace

std::shared_ptr<OperationTimes> times_for(const Program& program, const SearchOptions& options) {
  return std::make_shared<OperationTimes>(program, options.cluster, options.threads, options.caution.strict_fp);
}

FoundFront search_once(const Program& program, MeshId mesh, const SearchOptions& options, const Plan& start,
                       std::optional<AxisId> stages) {
  return Searcher(program, mesh, options, start, stages).run();
}

void with_problem(const Program& program, MeshId mesh, const SearchOptions& options,
                  const std::function<void(const SearchProblem&, HoldCosts&)>& visit) {
  Searcher(program, mesh, options, {}, {}).show(visit);
}

void with_open_site(const Program& program, MeshId mesh, const SearchOptions& options, const OperationInGraph& open,
                    const std::function<void(OpenSite)>& visit) {
  Searcher(program, mesh, options, {}, {}).show(open, visit);
}

}  // namespace tap::cost
