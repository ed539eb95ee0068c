// Loads of unrolled iterations that read the same cells: they are loaded once.
//
//   y[i, j] = x[i - 1, j] + x[i, j] + x[i + 1, j]      with 4 rows i unrolled 6 vectors, not 12
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "cost/work/line_crossings.h"

namespace tap::cost {

// Of each load of a statement, the fraction that is left. `unrolled`: the unrolled loops around it.
std::vector<double> fractions_of_loads(const std::vector<const backend::Load*>& loads,
                                       const std::vector<Progress>& unrolled);

}  // namespace tap::cost
