// Compilation errors other than a plain Failure (support/diagnostic.h), with the information that a command needs to
// show the location.
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "compiler/frontend/elaborate/compile.h"
#include "ir/certificate.h"
#include "passes/pass.h"
#include "support/check.h"
#include "support/exit_code.h"

namespace tap::pipeline {

struct Compilation;

// The text has errors; its diagnostics have been reported (front.h).
struct TextRejected {};

// Decisions that cannot be applied. Requests of the program come first, then the plan's.
struct PlanRefused : Failure {
  PlanRefused(std::vector<passes::PlanProblem> found, std::vector<std::string> of_the_program);

  std::vector<passes::PlanProblem> problems;
  std::vector<std::string> requested;  // the operations whose splits the program requests
};

// A list of blocks would be too long.
struct TooManyBlocks : Failure {
  TooManyBlocks(Diagnostic diagnostic, std::string operation);

  std::string operation;  // its path in the program, as in plans
};

// A step that its certificate does not justify: a bug in tapc. The results of earlier steps are certified, so `tapc
// run` may continue from there.
struct UnjustifiedStep : InternalError {
  UnjustifiedStep(const Compilation& made, const check::Finding& finding);

  Compiled source = {};                  // declarations of the text, if the compilation began with one
  std::string operation = {};            // name of the operation in the step, for messages; empty: not a single one
  std::vector<ir::Program> before = {};  // the programs before the step; the last is its input
  std::string evidence = {};             // for the reproducer: the certificate, and the stages around the step
};

}  // namespace tap::pipeline
