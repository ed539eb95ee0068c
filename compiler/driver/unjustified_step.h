// Reports a step that its certificate does not justify (pipeline/failures.h). The compiler made the step, so this is
// a bug in tapc: exit 70, with the source line and a reproducer. The earlier steps are certified, so `tapc run` may
// continue with their result.
//
//   a.tap:2:5: error[T1401]: step 3 (compose_maps), graph 0, operation 1 (y): the obligation `composition` does not hold: value 0 is another
//   tapc: internal error in checking the certificate: step 3 …; reproducer written to /tmp/tapc-reproducer-71-0.txt
#pragma once

#include "compiler/driver/session.h"
#include "compiler/pipeline/failures.h"

namespace tap::driver {

// Located at the operation.
Diagnostic diagnose(const Session& session, const pipeline::UnjustifiedStep& fault);

// Warns that the step was left out, and writes the reproducer.
void warn_step_left_out(const Session& session, const pipeline::UnjustifiedStep& fault);

}  // namespace tap::driver
