// Writes output files, none of which may be a file that the command has read: the source, a used module, the plan.
//
//   $ tapc opt a.tap -o a.tap
//   error[T1106]: `a.tap`, named as an output, is the same file as `a.tap`, which was read
#pragma once

#include <vector>

#include "compiler/driver/session.h"
#include "runtime/write_file.h"

namespace tap::driver {

// Throws Failure; then nothing has changed.
void write_outputs(const Session& session, const std::vector<OutputFile>& files);

}  // namespace tap::driver
