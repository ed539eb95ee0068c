// Where tensors and buffers begin: a guarantee to generated code and to those who call it, whatever the processor.
//
// Used by the executor as well, which is part of every compiled library: so it needs nothing of the C++ library.
#pragma once

#include <stdint.h>

namespace tap {

inline constexpr int64_t buffer_alignment = 64;  // bytes

}  // namespace tap
