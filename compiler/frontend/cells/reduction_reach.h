// Warns about sums of loop-invariant terms: a reduction extends as far to the right as possible.
//
//   y[i, j] = sum[k] a[i, k] * b[k, j] + c[j]       adds c[j] once for each k; probably (sum[k] …) + c[j] is intended
#pragma once

#include "compiler/frontend/syntax/ast.h"
#include "support/diagnostic.h"

namespace tap {

// Warns of the last terms of a sum's body that do not depend on what it runs over, where others before them do. A body in
// parentheses is meant as it stands.
void warn_of_far_reductions(const SourceMap& sources, const ast::Module& module, Diagnostics& diagnostics);

}  // namespace tap
