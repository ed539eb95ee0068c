// Suggestions for indices that are computed by an `if` or a function, where each branch alone is affine.
//
//   x[max(i - 1, 0)]      if i - 1 < 0 then x[0] else x[i - 1]
#pragma once

#include "compiler/frontend/cells/index_space.h"

namespace tap {

// The fault of an index that is not affine. `read`: the cell that is read with this index.
Diagnostic not_affine(Elaboration& elaboration, IndexSpace& space, const Env& env, ast::ExprId read, ast::ExprId index,
                      const NotAffine& why);

}  // namespace tap
