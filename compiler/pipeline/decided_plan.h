// What the cost model decides about a program, or what it decided before: the same program, options and machine have the same
// plan, which a store remembers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cost/decide/decide.h"
#include "passes/pass_manager.h"
#include "support/text_store.h"

namespace tap::pipeline {

// By what the decisions that a plan leaves open are made.
struct Deciding {
  cost::Cluster cluster = {};
  std::int64_t threads = 1;
  std::size_t evaluations = cost::usual_evaluations;
  std::optional<double> seconds = {};  // instead: as many evaluations as this time allows
  ir::Plan start = {};                 // an earlier plan; what still applies is kept
  std::string machine = {};            // the cluster as a text, for the store
  TextStore* store = nullptr;          // null: nothing is remembered
};

// The complete plan, with the number of evaluations that repeats it. What was considered is not in the store.
cost::Decided decided_plan(const ir::Program& program, const passes::PassContext& context,
                           std::span<const passes::Pass> simplify, const Deciding& by);

}  // namespace tap::pipeline
