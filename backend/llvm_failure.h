// What LLVM could not do although nothing that a user wrote can be the reason: a bug of ours, with LLVM's words.
//
//   auto jit = checked(llvm::orc::LLJITBuilder().create(), "the JIT does not start");
#pragma once

#include <llvm/Support/Error.h>

#include <string>
#include <utility>

#include "support/check.h"

namespace tap::backend {

template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) TAP_UNREACHABLE(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

}  // namespace tap::backend
