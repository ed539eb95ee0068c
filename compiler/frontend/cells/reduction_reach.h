// Warns about sums of loop-invariant terms: a reduction extends as far to the right as possible.
//
//   y[i, j] = sum[k] a[i, k] * b[k, j] + c[j]       adds c[j] once for each k; probably (sum[k] …) + c[j] is intended
#pragma once

#include "compiler/frontend/syntax/ast.h"
#include "support/diagnostic.h"

namespace tap {

// Warns about the last terms of a sum's body if they do not depend on the sum's variables and earlier terms do.
// Parentheses around the body show that it is intended.
void warn_of_far_reductions(const SourceMap& sources, const ast::Module& module, Diagnostics& diagnostics);

}  // namespace tap
