// Bytes behind every tensor of this process that nobody may write: the program is linked with --wrap=aligned_alloc.
#pragma once

#include "support/tensor.h"

namespace tap::random {

bool guard_is_intact(const Tensor& tensor);

}  // namespace tap::random
