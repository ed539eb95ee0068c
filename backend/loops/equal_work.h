// Whether a kernel does the same work wherever its box lies: then threads can take large parts of it at first and still end
// at the same time (support/portions.h).
//
//   for k in lo_k..hi_k              the same for every i
//   for k in lo_k..min(hi_k, i + 1)  the more the greater i is
#pragma once

#include "backend/loops/loops.h"

namespace tap::backend {

// Along this dim of the box, apart from its edges: no number of iterations and no condition depends on where the box begins.
// False if it is not known, as with conditions on data.
bool has_equal_work(const Kernel& kernel, std::size_t dim);

}  // namespace tap::backend
