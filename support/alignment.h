// The alignment of tensors and buffers: a guarantee to generated code and its callers, on every processor.
//
// Also used by the executor, which is part of every compiled library, so it does not need the C++ library.
#pragma once

#include <stdint.h>

namespace tap {

inline constexpr int64_t buffer_alignment = 64;  // bytes

}  // namespace tap
