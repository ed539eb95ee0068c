// What a plan leaves open is decided by the cost model, for one device and its threads: folds in blocks, and groups. Decisions
// are lines of the plan, so that they can be read, edited, replayed and certified like any other.
//
//   Y = attention(Q, K, V), 16 x 1024 x 64     choose Y.s 2
//                                              fuse Y.t.sum, Y.t, Y.s.m, … , Y.s.y0 over b, i, j_block
//
// The same program, options and machine give the same plan: effort is limited by a number of evaluations, not by time.
#pragma once

#include <optional>
#include <span>

#include "cost/decide/considered.h"
#include "cost/machine/device.h"
#include "ir/plan.h"
#include "passes/pass_manager.h"

namespace tap::cost {

inline constexpr std::size_t usual_evaluations = 32;

struct DecideOptions {
  passes::PassContext context = {};             // with the plan as far as it goes
  std::span<const passes::Pass> simplify = {};  // what runs before a plan's groups
  Cluster cluster = {};
  std::int64_t threads = 1;
  std::size_t evaluations = usual_evaluations;
  std::optional<double> seconds = {};  // after which nothing more is evaluated
  ir::Plan start = {};                 // of an earlier version of the program: its lines that still apply are kept
};
struct Decided {
  ir::Plan plan;                // of the context, and what was decided
  std::size_t evaluations = 0;  // used: with so many the decision is the same
  std::vector<Consideration> considered = {};
};

// Pre: the program is legal. A program with shardings, or whose plan places something on devices, keeps its plan.
Decided decide(const ir::Program& program, const DecideOptions& options);

}  // namespace tap::cost
