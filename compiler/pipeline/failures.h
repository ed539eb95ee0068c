// Compilation errors beside a Failure (support/diagnostic.h), with the information that a command needs to show the
// location.
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

// Decisions that cannot be applied. Those that the program itself requests are counted first, then the plan's.
struct PlanRefused : Failure {
  PlanRefused(std::vector<passes::PlanProblem> found, std::vector<std::string> of_the_program);

  std::vector<passes::PlanProblem> problems;
  std::vector<std::string> requested;  // the operations that the program itself asks to split
};

// A list of blocks would be too long.
struct TooManyBlocks : Failure {
  TooManyBlocks(Diagnostic diagnostic, std::string operation);

  std::string operation;  // the path in the program, as plans name it
};

// A step of the compiler that its certificate does not justify: a fault of tapc. What the steps before it made is certified, so
// `tapc run` may go on from there.
struct UnjustifiedStep : InternalError {
  UnjustifiedStep(const Compilation& made, const check::Finding& finding);

  Compiled source = {};                  // what the text declares, where the compilation began with it
  std::string operation = {};            // of the step, as messages name it; empty: of no single one
  std::vector<ir::Program> before = {};  // the programs before the step, the last of them is what it was given
  std::string evidence = {};             // for the reproducer: the certificate, and the stages around the step
};

}  // namespace tap::pipeline
