// The key of a module's code in the cache: the hash of everything that the code depends on.
#pragma once

#include <string>
#include <string_view>

#include "backend/llvm/digest.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

struct ModuleKey {
  Digest key = {};
  std::size_t bytes = 0;  // of the module that was hashed
};
// `checked`: what the code was tested against. Pre: build_id() is not empty, or the key is not used.
ModuleKey key_of(const llvm::Module& module, const llvm::TargetMachine& machine, std::string_view checked);

}  // namespace tap::backend
