// The assumed parameters of a processor: the sizes of its registers and caches, and the latency of memory. They affect
// the speed of a program, never its results. No other file contains such numbers.
//
//   reference_machine                          decides what affects the bits of a result, on every target
//   backend::machine_of(target)                decides the rest (backend/machine_of.h); a --machine file overrides it
#pragma once

#include <cstdint>
#include <string>

namespace tap::ir {

// One processor core. For a shared cache, the core's share.
struct Machine {
  std::int64_t vector_bytes = 64;  // of one register
  std::int64_t vector_registers = 32;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;
  std::int64_t line_bytes = 64;      // of all caches
  std::int64_t l1_sets = 64;         // lines whose addresses differ by a multiple of this many lines share a set
  std::int64_t page_bytes = 2048;    // the hardware prefetcher stays within this many bytes
  std::int64_t line_cycles = 6;      // to load a line from the second cache
  std::int64_t memory_cycles = 250;  // … and from memory
  bool operator==(const Machine&) const = default;
};

inline constexpr Machine reference_machine{};

// In the format of a machine file.
std::string print(const Machine& machine);

}  // namespace tap::ir
