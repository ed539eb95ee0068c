#include "runtime/processor.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace tap::processor {
namespace {

enum Register { eax, ebx, ecx, edx };
enum State : uint64_t { none = 0, ymm = 0x6, zmm = 0xe6 };  // bits of XCR0

struct Feature {
  const char* name;
  uint32_t leaf, subleaf;
  Register in;
  uint32_t bit;
  State state;
};
constexpr Feature features[] = {
#define TAP_FEATURE(name, leaf, subleaf, in, bit, state) {name, leaf, subleaf, in, bit, state},
#include "runtime/processor.def"
#undef TAP_FEATURE
};

const Feature* find(const char* name, size_t length) {
  for (const Feature& feature : features)
    if (strlen(feature.name) == length && memcmp(feature.name, name, length) == 0) return &feature;
  return nullptr;
}

#ifdef __x86_64__
// Register state that the system saves on context switches.
uint64_t saved_states() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return static_cast<uint64_t>(d) << 32 | a;
}

bool is_here(const Feature& feature) {
  uint32_t found[4] = {};
  if (__get_cpuid_count(feature.leaf, feature.subleaf, &found[eax], &found[ebx], &found[ecx], &found[edx]) == 0)
    return false;
  if ((found[feature.in] >> feature.bit & 1) == 0) return false;
  return feature.state == none || (saved_states() & feature.state) == feature.state;
}
#else
bool is_here(const Feature&) { return false; }
#endif

}  // namespace

bool is_known(const char* feature, size_t length) { return find(feature, length) != nullptr; }

bool has(const char* feature, size_t length) {
  const Feature* known = find(feature, length);
  return !known || is_here(*known);
}

}  // namespace tap::processor
