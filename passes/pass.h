// A pass: a function from Program to Program that also returns its claims, and remarks on what it declined.
//
//   PassResult simplify(const Program& program, const PassContext& context);
//
// A pass is one `.cpp` with its header, and one line in pass_table.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/certificate.h"
#include "ir/graph.h"
#include "ir/text/plan_text.h"
#include "support/diagnostic.h"

namespace tap::passes {

struct RuleSet;  // passes/rewrites/rules.h

struct PassContext {
  ir::Plan plan = {};
  bool strict_fp = false;            // floats as written: no reassociation
  const RuleSet* rules = nullptr;    // the program's rewrites, and those of the libraries that it uses
  bool require_proof = false;        // no default rewrite relies on a law that is assumed, not proved
  bool no_distribute = false;        // products and folds stay as written
  bool no_implicit_reshard = false;  // implicit reshards are an error
  // Steps get the hashes of their stages. Hashing a program takes as long as many a pass, and only a certificate that
  // is written needs it.
  bool hash_stages = true;
  bool fast_reduce = false;  // devices combine partials in rounds, although floats then round otherwise
};

// Why a pass declined to act, or dropped something that the program mentions, in one sentence, for people
// (`--remarks`).
struct Remark {
  std::string pass;       // filled in by the pass manager
  std::string graph;      // its name
  std::string operation;  // the name of a value that it writes
  std::string message;
  bool dropped = false;  // the operation was removed, not left unchanged
  bool operator==(const Remark&) const = default;
};

// Why a decision of the plan cannot be applied.
struct PlanProblem {
  std::size_t decision = 0;  // of the plan
  std::string message;
  ir::PlanPart part = ir::PlanPart::whole;  // which part of the decision is wrong
  std::string name = {};                    // … and the operation or dim that it names
  std::string help = {};
};

// The result of one step, and its claims.
struct ClaimedStage {
  ir::Program program;
  ir::Step step;
};

struct PassResult {
  ir::Program program;
  ir::Step step;  // the claims; the pass manager fills in the name, and hashes on request
  std::vector<Remark> remarks = {};
  std::vector<PlanProblem> problems = {};  // for a pass that applies a plan
  std::vector<ClaimedStage> earlier = {};  // before the last one, for a pass that applies one decision after another
  // The instances of rewrite rules that the claims refer to: choices between a pattern and its replacement.
  std::optional<ir::Program> rules = {};
  // The plan, with the pass's own decisions first. The passes that follow apply it.
  std::optional<ir::Plan> decided = {};
  std::vector<Diagnostic> diagnostics = {};  // warnings for the user, or an error that ends the compilation
};

enum class When : std::uint8_t {
  always,
  with_a_plan,  // for the lines of the plan, after the passes that always run
  on_request,   // only if it is named
  to_shard,     // after fusion: splits, placements, and the transfers that they need
};

struct Pass {
  std::string_view name;
  std::string_view reason;  // why it has this position
  PassResult (*run)(const ir::Program& program, const PassContext& context);
  // Run again until nothing changes: a pass's claims refer to its input only, so that a new operation can be rewritten
  // only in the next run.
  bool until_stable = false;
  When when = When::always;
};

}  // namespace tap::passes
