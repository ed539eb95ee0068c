// A step of the compiler that its certificate does not justify. The compiler made the step, so this is a fault of tapc: exit 70, with
// the source line and a reproducer. What the steps before it made is certified, so `tapc run` may go on from there.
//
//   a.tap:2:5: error[T1401]: step 3 (compose_maps), graph 0, operation 1 (y): the obligation `composition` is refused: value 0 is another
//   tapc: internal error in checking the certificate: step 3 …; reproducer written to /tmp/tapc-reproducer-71-0.txt
#pragma once

#include "compiler/driver/certify.h"
#include "compiler/driver/session.h"
#include "support/check.h"

namespace tap::driver {

struct UnjustifiedStep : InternalError {
  UnjustifiedStep(const Certified& certified, const check::Finding& finding);
  // Of a stage that no program follows: a block graph or a schedule of this program.
  UnjustifiedStep(const ir::Program& program, const std::string& stage, const check::Finding& finding);

  std::string operation = {};            // of the step, as messages name it; empty: of no single one
  std::vector<ir::Program> before = {};  // the programs before the step, the last of them is what it was given
  std::string evidence = {};             // for the reproducer: the certificate, and the stages around the step
};

// Where the operation was written.
Diagnostic told(const Session& session, const UnjustifiedStep& fault);

// Warns that the step was left out, and writes the reproducer.
void warn_of_a_step_left_out(const Session& session, const UnjustifiedStep& fault);

}  // namespace tap::driver
