// A plan of an earlier version of a program, for this one: the lines of operations and dims that an edit took away, or that no
// longer apply, are left out.
//
//   fuse m, s, y over i        kept
//   choose Z 2                 left out: `Z` was renamed
#pragma once

#include "cost/decide/decide.h"

namespace tap::cost {

// The plan of the context, and after it what can be kept of options.start.
ir::Plan with_start(const ir::Program& program, const DecideOptions& options);

}  // namespace tap::cost
