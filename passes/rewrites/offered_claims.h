// Internal to offer_choices: the claims for an alternative, from which the checker proves that it computes the same
// as the original.
#pragma once

#include "passes/rewrites/offers.h"
#include "passes/rewrites/rules.h"

namespace tap::passes {

// The rule instances that alternatives rely on, as a program for the checker: its main graph has one choice for each,
// between the pattern and the replacement.
class RuleBook {
 public:
  struct Instance {
    std::uint32_t number = 0;
    ir::GraphId pattern, replacement;
  };
  const Instance& instance(const std::shared_ptr<const RulePiece>& piece, const std::string& rule);
  std::optional<ir::Program> take();  // nothing if no rule was used

 private:
  ir::Program program_;
  GraphAdder adder_{program_};
  ir::Graph main_;
  std::map<std::shared_ptr<const RulePiece>, Instance> known_;
};

// An offer, the boundary of the operations that it replaces, and a graph of just these operations.
struct Replaced {
  const Offer& offer;
  const Boundary& boundary;
  ir::GraphId id;
  const ir::Graph& graph;
};
// `made`: the alternative's graph.
ir::AlternativeClaim claim_of(const Replaced& replaced, const GraphAdder::Added& added, const ir::Graph& made,
                              RuleBook& rules);

}  // namespace tap::passes
