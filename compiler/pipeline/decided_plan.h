// The cost model's decisions about a program, or stored earlier ones: the same program, options and machine have the
// same plan, which a store keeps.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cost/decide/decide.h"
#include "passes/pass_manager.h"
#include "support/text_store.h"

namespace tap::pipeline {

// How to decide what a plan leaves open.
struct Deciding {
  cost::Cluster cluster = {};
  std::int64_t threads = 1;
  std::size_t evaluations = cost::usual_evaluations;
  std::optional<double> seconds = {};  // instead: as many evaluations as fit in this time
  ir::Plan start = {};                 // an earlier plan; lines that still apply are kept
  std::string machine = {};            // the cluster as text, for the store
  TextStore* store = nullptr;          // null: nothing is stored
};

// The complete plan, with the number of evaluations that repeats it. What was considered is not in the store.
cost::Decided decided_plan(const ir::Program& program, const passes::PassContext& context,
                           std::span<const passes::Pass> simplify, const Deciding& by);

}  // namespace tap::pipeline
