#include "backend/llvm/kernel_key.h"

#include <fmt/format.h>

#include "backend/llvm/build_id.h"
#include "backend/llvm/optimize.h"
#include "backend/loops/loops_text.h"

namespace tap::backend {

KernelKey key_of(const Kernel& kernel, const Target& target, std::string_view checked) {
  const std::string text = canonical(kernel);
  const std::string processor = fmt::format("{} {} {}", target.triple, target.cpu, target.features);
  static const std::string build = build_id();
  return {digest_of({text, optimize_options, processor, build, checked}), text.size()};
}

}  // namespace tap::backend
