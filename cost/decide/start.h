// A plan of an earlier version of a program, for this one: lines about operations and dims that an edit removed, or
// that no longer apply, are left out.
//
//   fuse m, s, y over i        kept
//   choose Z 2                 left out: `Z` was renamed
#pragma once

#include "cost/decide/decide.h"

namespace tap::cost {

// The context's plan, followed by the lines of options.start that still apply.
ir::Plan with_start(const ir::Program& program, const DecideOptions& options);

}  // namespace tap::cost
