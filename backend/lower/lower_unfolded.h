// The kernel of a reduction whose windows are unfolded (unfolded_windows.h).
#pragma once

#include "backend/lower/unfolded_windows.h"

namespace tap::backend {

Kernel lower_unfolded(const UnfoldedWindows& unfolded, const ir::Operator& op, const Extents& extents,
                      const LowerOptions& options);

}  // namespace tap::backend
