// A convolution as one equation, from its layout, window and groups as they are printed:
//
//   dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
//   y[b, p0, p1, o] = sum[u0, u1, c] x[b, 2*p0 + u0, 2*p1 + u1, c else 0] * w[u0, u1, c, o]
#pragma once

#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {

void write_convolution(const CaseOp& op, TapLines& lines);

}  // namespace tap::conformance
