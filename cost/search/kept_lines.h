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
  void cannot_keep(std::size_t line);
  std::optional<ir::PlannedSplit> as_written_here(ir::PlannedSplit split, const ir::Plan& plan) const;
  bool divide_input(Line line);

  ir::Program placed_;  // the values of a site have the shardings of the strategy that is looked at
  const ir::MeshId mesh_;
  std::map<Place, std::vector<Line>> lines_;
  std::map<ir::ValueId, ir::Sharding> inputs_;
  std::set<ir::ValueId> given_inputs_;
  std::map<std::size_t, passes::PlanProblem> problems_;  // by line
};

}  // namespace tap::cost
