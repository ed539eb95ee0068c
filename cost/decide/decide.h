// The cost model decides what a plan leaves open, for one device and its threads: folds in blocks, and groups. In a
// sharded program this is a device of its mesh.
// Decisions are lines of the plan, so that they can be read, edited, replayed and certified like any other.
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
#include "support/spare_threads.h"

namespace tap::cost {

inline constexpr std::size_t usual_evaluations = 32;

struct DecideOptions {
  passes::PassContext context = {};             // with the plan so far
  std::span<const passes::Pass> simplify = {};  // the passes before a plan's groups
  Cluster cluster = {};
  std::int64_t threads = 1;
  std::size_t evaluations = usual_evaluations;
  std::optional<double> seconds = {};  // evaluation stops after this time
  SpareThreads* spare = nullptr;       // threads that it may take; what it decides does not depend on them
  ir::Plan start = {};                 // of an earlier version of the program: lines that still apply are kept
};
struct Decided {
  ir::Plan plan;                // the context's plan, and the decisions
  std::size_t evaluations = 0;  // used; the same limit gives the same decisions
  std::vector<Consideration> considered = {};
};

// Pre: the program is legal. Operations keep their devices: a group computes on each device what its operations computed
// there. The plan of a program that is already placed stays.
Decided decide(const ir::Program& program, const DecideOptions& options);

}  // namespace tap::cost
