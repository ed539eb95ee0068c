#include "tests/random/guarded_memory.h"

#include <cstdlib>
#include <cstring>

namespace {
constexpr std::size_t line = 64;
constexpr int pattern = 0xA5;
}  // namespace

extern "C" void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
// One more line than is requested; a tensor zeroes its own cells, so what is behind them keeps the pattern.
extern "C" void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  const std::size_t more = alignment > line ? alignment : line;
  void* memory = __real_aligned_alloc(alignment, size + more);
  if (memory) std::memset(memory, pattern, size + more);
  return memory;
}

namespace tap::random {

bool guard_is_intact(const Tensor& tensor) {
  const std::size_t size = tensor.byte_size(), end = (size == 0 ? 1 : (size + line - 1) / line) * line + line;
  for (std::size_t at = size; at < end; ++at)
    if (tensor.data()[at] != std::byte{pattern}) return false;
  return true;
}

}  // namespace tap::random
