#include "cost/search/divisions.h"

#include <algorithm>
#include <set>

#include "cost/search/given_shardings.h"
#include "cost/search/open_site.h"
#include "ir/graph.h"
#include "ir/text/plan_text.h"
#include "support/check.h"

namespace tap::cost {

using namespace ir;

namespace {

// One site, and the rest of the plan.
class Comparison {
 public:
  Comparison(const Program& program, OperationInGraph open, const OpenSite& site)
      : program_(program), open_(open), site_(site), costs_(program, open.graph, site.table, site.transfers) {
    problem_ = site.opened.problem;
    const auto& meanings = site.opened.meanings;
    auto has_operation = [&](const GraphProblem::Meaning& meaning) {
      return !meaning.strategies.empty() &&
             std::ranges::count(meaning.strategies.front().site.site.operations, open.operation) > 0;
    };
    step_ = static_cast<std::size_t>(std::ranges::find_if(meanings, has_operation) - meanings.begin());
    if (open.graph != program.main)
      problem_ = with_states(std::move(problem_), program[open.graph], states_of(open.graph));
  }

  bool is_site() const { return step_ < problem_.steps.size(); }
  const std::vector<OperationId>& operations() const { return strategies().front().site.site.operations; }

  // Of those with the same lines, the fastest. Pre: it is a site.
  std::vector<Division> list() {
    std::vector<Division> found;
    const std::vector<StepChoice> choices = problem_.steps[step_].choices;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const Strategy& strategy = strategies()[site_.opened.meanings[step_].strategy_of[c]];
      problem_.steps[step_].choices = {choices[c]};
      const Front front = sweep(problem_, costs_, {});
      if (front.plans.empty()) continue;
      Division own = division(strategy, front.plans.front());
      const bool is_taken = site_.lines.is_as_given(open_.graph, strategy);
      if (auto same = std::ranges::find(found, own.lines, &Division::lines); same != found.end()) {
        if (own.predicted.seconds < same->predicted.seconds) *same = std::move(own);
        continue;
      }
      found.push_back(std::move(own));
      if (is_taken) taken_ = found.back().lines;
    }
    std::ranges::stable_sort(found, {}, [&](const Division& one) {
      return std::pair(!taken_ || one.lines != *taken_, one.predicted.seconds);
    });
    if (!taken_) found.clear();
    return found;
  }

 private:
  const std::vector<Strategy>& strategies() const { return site_.opened.meanings[step_].strategies; }

  Division division(const Strategy& strategy, const Chosen& plan) {
    SiteTerms terms;
    site_.sites.choice_of(open_.graph, strategy, &terms);
    Division out{site_.lines.lines_of(open_.graph, strategy), plan.cost};
    out.loops = terms.loops;
    out.operands = terms.edges;
    out.partials = terms.combined;
    std::vector<HeldMove> moves;
    cost_of(problem_, costs_, plan.choices, &moves);
    const SearchStep& step = problem_.steps[step_];
    for (const HeldMove& move : moves)
      if (move.step == step_) out.operands += move.cost.seconds;
      else if (std::ranges::count(step.results, move.value) > 0) out.results += move.cost.seconds;
      else if (std::ranges::count(step.operands, move.value) > 0) out.others += move.cost.seconds;
    return out;
  }

  // The choices of a graph, if only the lines of the plan decide.
  std::vector<std::uint32_t> choices_of(GraphId graph) {
    if (graph == program_.main) {
      GraphCosts costs(program_, graph, site_.table, site_.transfers);
      return sweep(site_.graphs.at(graph).problem, costs, {}).plans.front().choices;
    }
    const auto [outer, step] = reader_of(graph);
    return site_.graphs.at(outer).meanings[step].inner[choices_of(outer)[step]];
  }
  std::vector<Held> states_of(GraphId body) {
    const auto [outer, step] = reader_of(body);
    return site_.graphs.at(outer).problem.steps[step].choices[choices_of(outer)[step]].leaves;
  }
  // The step that runs the body.
  std::pair<GraphId, std::size_t> reader_of(GraphId body) const {
    for (const auto& [graph, made] : site_.graphs)
      for (std::size_t s = 0; s < made.meanings.size(); ++s)
        if (made.meanings[s].body.valid() && made.meanings[s].body == body) return {graph, s};
    TAP_UNREACHABLE("no step runs this body");
  }

  const Program& program_;
  const OperationInGraph open_;
  const OpenSite& site_;
  GraphCosts costs_;
  SearchProblem problem_;
  std::size_t step_ = 0;
  std::optional<SiteLines> taken_;
};

}  // namespace

FoundDivisions divisions_of(const Program& program, MeshId mesh, const SearchOptions& options,
                            const std::function<bool(const std::string&)>& is_about) {
  FoundDivisions found;
  std::set<std::pair<GraphId, OperationId>> seen;
  for (const std::pair<GraphId, std::string>& named : graph_paths(program)) {
    const GraphId graph = named.first;
    const std::string& path = named.second;
    const std::vector<std::string> names = operation_names(program[graph]);
    for (std::size_t o = 0; o < names.size(); ++o) {
      if (!is_about(path + names[o]) || seen.contains({graph, OperationId(o)})) continue;
      with_open_site(program, mesh, options, {graph, OperationId(o)}, [&](const OpenSite& site) {
        found.problems = site.lines.problems();
        Comparison comparison(program, {graph, OperationId(o)}, site);
        if (!found.problems.empty() || !comparison.is_site()) return;
        Divisions made;
        for (OperationId own : comparison.operations()) {
          seen.emplace(graph, own);
          made.operations.push_back(path + names[own.index()]);
        }
        made.of_a_trip = graph != program.main;
        made.list = comparison.list();
        if (!made.list.empty()) found.sites.push_back(std::move(made));
      });
      if (!found.problems.empty()) return {{}, std::move(found.problems)};
    }
  }
  return found;
}

}  // namespace tap::cost
