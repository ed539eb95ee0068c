#include "runtime/guarded_results.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/alignment.h"
#include "support/check.h"

namespace tap {
namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::byte guard{0xa7};

}  // namespace

bool tests_are_thorough() {
  static const bool thorough = [] {  // every run asks
    const char* mode = std::getenv("TAPC_SELF_CHECK");
    return mode && std::strcmp(mode, "thorough") == 0;
  }();
  return thorough;
}

void* GuardedResults::add(Tensor& result) {
  Memory memory{&result, std::vector<std::byte>(result.byte_size() + 2 * guard_bytes + buffer_alignment, guard), 0};
  auto address = reinterpret_cast<std::uintptr_t>(memory.bytes.data()) + guard_bytes;
  memory.begin = guard_bytes + (buffer_alignment - address % buffer_alignment) % buffer_alignment;
  void* data = memory.bytes.data() + memory.begin;  // stays valid when the vector reallocates
  results_.push_back(std::move(memory));
  return data;
}

void GuardedResults::take() {
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const Memory& memory = results_[k];
    const std::size_t size = memory.result->byte_size(), end = memory.begin + size;
    for (std::size_t at = 0; at < memory.bytes.size(); ++at)
      TAP_CHECK((at >= memory.begin && at < end) || memory.bytes[at] == guard,
                "native code wrote outside result " + std::to_string(k) + ": " +
                    (at < memory.begin ? std::to_string(memory.begin - at) + " bytes before its start"
                                       : std::to_string(at - end) + " bytes past its end"));
    if (size > 0) std::memcpy(memory.result->mutable_data(), memory.bytes.data() + memory.begin, size);
  }
}

}  // namespace tap
