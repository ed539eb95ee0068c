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
  recorded,  // the verdict is part of the result, whatever it is
  required,  // what is refused is thrown (failures.h)
};

// What is compiled: a text, or a graph that is legal already.
using Source = std::variant<Text, ir::Program>;

struct Options {
  ir::Plan plan = {};
  bool offer_rewrites = false;             // all of the text's, not only where the plan chooses one
  const passes::RuleSet* rules = nullptr;  // instead of the text's: the rewrites that the plan may choose from
  passes::Caution caution = {};            // with require_proof, what is only assumed is refused, too
  bool no_distribute = false;
  bool no_implicit_reshard = false;
  bool fuse_more = false;                                  // groups by memory traffic alone, beside those of the plan
  std::optional<std::vector<passes::Pass>> simplify = {};  // instead of the usual passes
  Proof proof = Proof::required;
  Stage begin = Stage::built;  // what a given graph is already: a sharded graph is not sharded again
  Stage stop = Stage::sharded;
  std::optional<Deciding> decide = {};  // none: what the plan leaves open stays as it is
  ir::Machine machine = {};
  backend::ScheduleOptions scheduling = {};
};

// What looks on; may be empty.
struct Observer {
  std::function<void(const Compiled& built)> after_build = {};  // of a text, before anything is made of it
  passes::AfterPass after_pass = {};                            // of each run of a pass, before anything is proved
};

struct Compilation {
  Compiled source = {};  // what a text declares, without its graph
  ir::Plan plan = {};    // of the options, with what was decided; without what shardings add
  std::vector<cost::Consideration> considered = {};  // by the cost model; none of a plan that was stored
  ir::Program program;                               // the last graph
  std::vector<ir::Program> stages;      // the source, and what each step made of the one before; none without a proof
  ir::Certificate certificate;          // what each step claims
  std::optional<ir::Program> rules;     // the instances of rewrite rules that the certificate mentions
  check::Verdict verdict;               // of the independent checker
  double checking = 0;                  // seconds of it
  std::vector<Diagnostic> told;         // warnings: shardings that no split follows, implicit reshards
  std::vector<passes::Remark> remarks;  // of passes that declined
  std::optional<ir::BlockProgram> blocks = {};  // until it is lowered, and then a part of that
  std::optional<backend::CompiledProgram> lowered = {};
  std::optional<ir::Schedule> schedule = {};

  const ir::BlockProgram* expanded() const;  // null: it was not expanded
  ir::BlockProgram take_blocks();
};

// Pre: a given graph is well formed and legal. Throws TextRejected where a program has errors, PlanRefused where the plan cannot be
// applied, TooManyBlocks and Failure where sizes are beyond a limit, UnjustifiedStep where a proof is required and refused.
Compilation compile(Source source, const Options& options, const Observer& observer = {});

}  // namespace tap::pipeline
