// The whole compiler: one function from a text to the schedule of its native code, every stage a plain value.
//
//   Options options;
//   options.plan = plan;
//   options.stop = Stage::sharded;
//   Compilation made = compile(Text{&sources, file, how, &diagnostics}, options);
//
// Every step from the source's graph to the schedule states its claims; the independent checker (check/) proves them
// before the result is used. All commands that compile are thin wrappers of this function.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/compiled_program.h"
#include "check/check.h"
#include "compiler/pipeline/decided_plan.h"
#include "compiler/pipeline/front.h"
#include "compiler/pipeline/stage.h"
#include "ir/block_graph.h"
#include "ir/block_program.h"
#include "ir/certificate.h"
#include "ir/plan.h"
#include "ir/schedule.h"
#include "passes/caution.h"
#include "passes/pass_manager.h"
#include "passes/rewrites/rules.h"

namespace tap::pipeline {

enum class Proof : std::uint8_t {
  none,      // nothing is checked
  recorded,  // the verdict is part of the result
  required,  // a refusal is thrown (failures.h)
};

// The input: a text, or a graph that is already legal.
using Source = std::variant<Text, ir::Program>;

struct Options {
  ir::Plan plan = {};
  bool offer_rewrites = false;             // all rewrites of the text, not only those that the plan chooses
  const passes::RuleSet* rules = nullptr;  // instead of the text's: the rewrites that the plan may choose from
  passes::Caution caution = {};            // with require_proof, assumptions are refused, too
  bool no_distribute = false;
  bool no_implicit_reshard = false;
  bool fuse_more = false;                                  // groups by memory traffic alone, in addition to the plan's
  std::optional<std::vector<passes::Pass>> simplify = {};  // instead of the usual passes
  Proof proof = Proof::required;
  Stage begin = Stage::built;  // the stage of a given graph: a sharded graph is not sharded again
  Stage stop = Stage::sharded;
  std::optional<Deciding> decide = {};  // none: decisions that the plan leaves open are not made
  ir::Machine machine = {};
  backend::ScheduleOptions scheduling = {};
  std::optional<backend::ScheduleOptions> scheduling_of_jobs = {};  // for a second schedule
};

// Callbacks; may be empty.
struct Observer {
  std::function<void(const Compiled& built)> after_build = {};  // for a text, before any pass
  passes::AfterPass after_pass = {};                            // after each run of a pass, before proofs
};

struct Compilation {
  Compiled source = {};                              // the declarations of a text, without its graph
  ir::Plan plan = {};                                // of the options, with the decisions; without those of shardings
  std::vector<cost::Consideration> considered = {};  // by the cost model; empty for a cached plan
  ir::Program program;                               // the last graph
  std::vector<ir::Program> stages;                   // the source, and the result of each step; empty without a proof
  ir::Certificate certificate;                       // the claims of each step
  std::optional<ir::Program> rules;                  // the instances of rewrite rules that the certificate refers to
  check::Verdict verdict;                            // of the independent checker
  double checking = 0;                               // its time in seconds
  std::vector<Diagnostic> reported;                  // warnings: shardings that no split follows, implicit reshards
  std::vector<passes::Remark> remarks;               // of passes that declined
  std::optional<ir::BlockProgram> blocks = {};       // before lowering, which takes them
  std::optional<backend::CompiledProgram> lowered = {};
  std::optional<ir::Schedule> schedule = {};
  std::optional<ir::Schedule> schedule_of_jobs = {};  // of the same kernels, for several processes

  const ir::BlockProgram* expanded() const;  // null: not expanded
  ir::BlockProgram take_blocks();
};

// Pre: a given graph is well formed and legal. Throws TextRejected if a program has errors, PlanRefused if the plan
// cannot be applied, TooManyBlocks and Failure if sizes exceed a limit, UnjustifiedStep if a proof is required and
// refused.
Compilation compile(Source source, const Options& options, const Observer& observer = {});

}  // namespace tap::pipeline
