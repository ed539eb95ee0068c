// What schedules have to know of a machine. Only speed depends on it, never what is computed.
#pragma once

#include <cstdint>

namespace tap::backend {

struct Machine {
  std::uint32_t vector_bytes = 64;
  std::uint32_t vector_registers = 32;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;
  bool operator==(const Machine&) const = default;
};

}  // namespace tap::backend
