// A reduction as an equation; of several tensors at once, with a monoid of as many components.
//
//   %0 = reduce(%arg0) dims [1] add      v0[i0] = sum[k1] arg0[i0, k1]
#pragma once

#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {

void write_reduce(const CaseOp& op, TapLines& lines);

}  // namespace tap::conformance
