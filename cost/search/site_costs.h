// What one way to divide a site takes: its transfers, the memory that it needs, and the time of its operations.
#pragma once

#include <memory>
#include <utility>

#include "cost/search/hold_costs.h"
#include "cost/search/site_time.h"

namespace tap::cost {

// The seconds of a choice.
struct SiteTerms {
  double loops = 0;     // of its operations
  double edges = 0;     // to read parts of neighbours
  double combined = 0;  // to combine partials
};

// Every device has all of it: an input of the program, what the trips of an iterate only read, and what an iterate leaves.
bool is_given_whole(const ir::Program& program, ir::MeshId mesh, ir::GraphId graph, ir::ValueId value);

class SiteCosts {
 public:
  SiteCosts(const ir::Program& program, ir::MeshId mesh, std::shared_ptr<OperationTimes> times, ShardingTable& table,
            TransferTimes& transfers)
      : program_(program), mesh_(mesh), table_(table), transfers_(transfers), times_(std::move(times)) {}

  StepChoice choice_of(ir::GraphId graph, const Strategy& strategy, SiteTerms* terms = nullptr);
  // Of an operand that is held as the site needs it: to read parts of neighbours. Nothing where a part is needed (part_needed).
  TransferCost edges_of(ir::GraphId graph, const passes::SiteShardings& site, std::size_t operand);
  std::size_t priced() const { return times_->priced(); }

 private:
  // What the site reads of an operand, if it is not the blocks of a sharding, perhaps with parts of neighbours.
  std::optional<Held> part_needed(ir::GraphId graph, const passes::SiteShardings& site, std::size_t operand);
  double seconds_of(ir::GraphId graph, ir::OperationId operation, const passes::SiteShardings& site);

  const ir::Program& program_;
  const ir::MeshId mesh_;
  ShardingTable& table_;
  TransferTimes& transfers_;
  const std::shared_ptr<OperationTimes> times_;
};

}  // namespace tap::cost
