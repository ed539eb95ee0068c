// The key of a kernel's code in the cache: the hash of everything that the code depends on.
#pragma once

#include <string_view>

#include "backend/llvm/digest.h"
#include "backend/llvm/target.h"
#include "backend/loops/loops.h"

namespace tap::backend {

struct KernelKey {
  Digest key = {};
  std::size_t bytes = 0;  // of the text that was hashed
};
// `checked`: what the code was tested against. Pre: build_id() is not empty, or the key is not used.
KernelKey key_of(const Kernel& kernel, const Target& target, std::string_view checked);

}  // namespace tap::backend
