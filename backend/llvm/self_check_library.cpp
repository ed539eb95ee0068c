#include "backend/llvm/self_check_library.h"

#include <set>

#include "backend/compiled_program.h"
#include "backend/llvm/jit.h"

namespace tap::backend {

void check_library(const CompiledProgram& compiled, const LibraryCode& code, const SelfCheckOptions& options) {
  if (!options.on) return;
  const KernelTable& table = compiled.kernels;
  std::optional<Jit> jit;
  std::set<std::string_view> checked;
  for (std::size_t k = 0; k < table.kernels.size(); ++k) {
    const Object& object = code.kernels[k];
    if (object.cached || !checked.insert(object.symbol).second) continue;
    if (!jit) jit.emplace();
    check_kernel(compiled.blocks.program, table.sources[k], k, table.kernels[k], jit->load(object), options);
  }
}

std::vector<std::string> check_keys(const CompiledProgram& compiled, const SelfCheckOptions& options) {
  std::vector<std::string> keys;
  for (const KernelSource& source : compiled.kernels.sources)
    if (options.on) keys.push_back(self_check_key(compiled.blocks.program, source, options));
  return keys;
}

}  // namespace tap::backend
