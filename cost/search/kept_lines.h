// Lines of a plan as constraints of the search: an operation that they split is divided just so.
//
//   split H dim i into 4 over grid.x       of the strategies of H's site only those whose lines these are
//   split W on axis 0 into 4 over grid.x   W is held in parts
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cost/search/strategies.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/plan.h"
#include "passes/pass.h"

namespace tap::cost {

// The lines of a site's strategy, in a form that compares.
using SiteLines = std::vector<std::string>;

class KeptLines {
 public:
  // `given` is kept; of `start`, what `given` does not speak about.
  KeptLines(const ir::Program& program, ir::MeshId mesh, const ir::Plan& given, const ir::Plan& start);

  // Removes the strategies that do otherwise; none if no strategy has lines that are to be kept.
  void restrict(ir::GraphId graph, std::vector<Strategy>& strategies);
  // From now on, operations without lines are not divided, but those of the site of `open` in any way.
  void only_lines(std::optional<ir::OperationInGraph> open);
  bool is_open(ir::GraphId graph, const passes::Site& site) const;
  // Whether the strategy has just the lines of its site.
  bool is_as_given(ir::GraphId graph, const Strategy& strategy);
  SiteLines lines_of(ir::GraphId graph, const Strategy& strategy);
  // How an input is to be held in parts.
  std::optional<ir::Sharding> parts_of(ir::ValueId input) const;
  // Lines of `given` that are not kept, as far as is known.
  std::vector<passes::PlanProblem> problems() const;

 private:
  struct Line {
    std::size_t number = 0;
    bool is_given = false;
    ir::PlannedSplit split;  // as the search writes it
  };
  using Place = std::pair<ir::GraphId, ir::OperationId>;
  void take(const ir::Plan& plan, bool is_given);
  SiteLines wanted_lines(ir::GraphId graph, const Strategy& strategy, std::vector<std::size_t>& given) const;
  void cannot_keep(std::size_t line);
  std::optional<ir::PlannedSplit> as_written_here(ir::PlannedSplit split, const ir::Plan& plan) const;
  bool divide_input(Line line);

  bool only_lines_ = false;
  std::optional<ir::OperationInGraph> open_;
  ir::Program placed_;  // the values of a site have the shardings of the strategy that is looked at
  const ir::MeshId mesh_;
  std::map<Place, std::vector<Line>> lines_;
  std::map<ir::ValueId, ir::Sharding> inputs_;
  std::set<ir::ValueId> given_inputs_;
  std::map<std::size_t, passes::PlanProblem> problems_;  // by line
};

}  // namespace tap::cost
