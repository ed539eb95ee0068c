// The signature of a compiled kernel, as the runtime calls it.
#pragma once

#include "runtime/kernel_abi.h"

namespace tap::backend {

using tap::KernelError;
using tap::KernelFailure;
using tap::KernelFunction;
using tap::max_index_dims;

}  // namespace tap::backend
