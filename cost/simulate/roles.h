// Which devices of a mesh are alike, so that one of each kind has to be simulated.
//
//   a stencil over x = 1000000:   roles 0 (the first device), 1 (all between), 2 (the last)
#pragma once

#include <cstdint>
#include <vector>

#include "cost/simulate/device_part.h"
#include "ir/shardings/sharding.h"

namespace tap::cost {

struct Roles {
  std::vector<std::int64_t> representatives;      // by role: a device that has it
  std::vector<std::int64_t> sizes;                // by role: how many have it
  ir::Mesh mesh;                                  // without a listed order; no axes: every device has a role of its own
  std::vector<std::vector<std::int64_t>> begins;  // by axis: where roles begin along it
  std::size_t of(std::int64_t device) const;
  std::int64_t devices() const;
};

Roles one_for_each(std::int64_t devices);
// Pre: the program runs on the devices of this mesh, which are in order.
Roles roles_of(const ir::Mesh& mesh, DeviceParts& parts);

}  // namespace tap::cost
