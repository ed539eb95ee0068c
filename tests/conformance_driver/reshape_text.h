// A reshape as equations. Where both shapes have a common refinement it is one map; else what is between is merged into one
// axis first, and cut anew by a second map.
//
//   [8, 4] → [2, 16]     y[i, 4*j + k] = x[4*i + j, k]
//   [3, 2] → [2, 3]      f[2*i + j] = x[i, j]     y[k, l] = f[3*k + l]
#pragma once

#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {

void write_reshape(const CaseOp& op, TapLines& lines);

}  // namespace tap::conformance
