// The way of a program through the passes, with a certificate of every step, and what the independent checker says of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "compiler/driver/session.h"
#include "compiler/driver/write_outputs.h"
#include "ir/block_graph.h"
#include "ir/plan.h"
#include "ir/schedule.h"
#include "passes/caution.h"
#include "passes/rewrites/rules.h"

namespace tap::driver {

struct Certified {
  std::vector<ir::Program> stages;  // the source, and what each step made of the one before
  ir::Certificate certificate;
  check::Verdict verdict;
  double seconds = 0;                     // of the checker
  std::vector<Diagnostic> told = {};      // of the shardings: what no split follows, and what nobody asked to move
  std::optional<ir::Program> rules = {};  // the instances of rewrite rules that the certificate speaks of
  std::optional<ir::BlockProgram> blocks = {};  // what the last stage was expanded to, where it was
  std::optional<ir::Schedule> schedule = {};    // and what that was scheduled to
};

// Runs the passes, applies the plan (its choices, its unrolls, then its fusions, then its splits and those that the program
// asks for, by `split` and by shardings), realises, and checks all of it.
// An operation that the plan or a `split` cuts is cut by these alone, whatever its shardings are.
// Throws PlanRefused (read_plan.h) where the plan cannot be applied. `context`: what the plan may choose from; `fuse_more` and
// `no_implicit_reshard`: see PlanOptions.
Certified certify(ir::Program program, const ir::Plan& plan, passes::PassContext context = {}, bool fuse_more = false,
                  bool no_implicit_reshard = false);

struct PlanOptions {
  bool verify = true;                // a step that is not justified is refused
  passes::Caution caution = {};      // with require_proof, one that rests on an assumption is refused, too
  bool no_implicit_reshard = false;  // shardings that disagree are an error
  bool fuse_more = false;            // groups that the compiler chooses (fuse_auto), beside those of the plan
  // Called with each step's name and what it made, once all of it is justified; may be empty.
  std::function<void(std::string_view pass, const ir::Program& made)> after = {};
  std::function<void(const Diagnostic& told)> tell = {};  // see Certified::told; may be empty
};
// What the passes made, fused, cut and realised as the program and the plan ask. Throws as require_justified does, and
// PlanRefused where the plan cannot be applied.
ir::Program apply_plan(ir::Program lowered, const ir::Plan& plan, const PlanOptions& options);

// The further steps, each of what there is, with its claim and the checker's verdict on its tasks. The schedule is that of
// native code; a build without a backend has none.
void expand(Certified& certified);
void schedule(Certified& certified, bool strict_fp);

// For who runs it: throws UnjustifiedStep where the tasks do not compute what the program says.
ir::BlockProgram expand_and_check(const ir::Program& program, bool verify);
void require_right(const ir::Program& program, const ir::Schedule& schedule);

// The certificate's file, and beside it, as FILE.rules.ir, the rules that it speaks of.
std::vector<OutputFile> certificate_files(const std::string& file, const ir::Certificate& certificate,
                                          const std::optional<ir::Program>& rules);

// The verdict on the stages and the certificate that there are.
void check_steps(Certified& certified);

// What was proved, as a line for each obligation, and what was assumed or refused.
std::string summary(const Certified& certified);

// Throws UnjustifiedStep (unjustified_step.h) with the first obligation that is refused. With `require_proof`, Failure, exit 5, for
// the first that is assumed, if none is refused.
void require_justified(const Certified& certified, bool require_proof);

}  // namespace tap::driver
