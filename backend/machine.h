// What schedules have to know of a machine: how much its registers and caches hold. Only speed depends on it, never what is
// computed: in which order a reduction is combined is decided without it (register_tile.h, group_tiles.h).
//
//   machine_of(*target_named("x86-64-v3"))     16 registers of 32 bytes, and caches as most such processors have them
//   machine_of(*target_named("native"))        registers of this processor, caches as hwloc finds them
#pragma once

#include <cstdint>
#include <string>

namespace tap::backend {

struct Target;

// One processor core's: of a cache that several share, its part.
struct Machine {
  std::int64_t vector_bytes = 64;  // of one register
  std::int64_t vector_registers = 32;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;
  bool operator==(const Machine&) const = default;
};

// Only for `native` is this machine looked at.
Machine machine_of(const Target& target);

// As a machine file has it.
std::string print(const Machine& machine);

}  // namespace tap::backend
