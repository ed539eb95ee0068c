#include "ir/machine.h"

#include <fmt/format.h>

namespace tap::ir {

std::string print(const Machine& machine) {
  return fmt::format("[registers]\nbytes = {}\ncount = {}\n\n[caches]\nl1 = {}\nl2 = {}\nl3 = {}\n",
                     machine.vector_bytes, machine.vector_registers, machine.l1_bytes, machine.l2_bytes,
                     machine.l3_bytes);
}

}  // namespace tap::ir
