// The devices that run an operation, and the box of its index space that each of them runs: by its position in a
// mesh, or by lists of devices.
//
//   i over pod.data, pod = [data: 2, model: 4]     device 5 runs block 1
//   i over devices {0, 3}, {7}                     device 7 runs block 1; device 5 runs nothing
//   all over devices {3}                           device 3 runs all of it
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/placement.h"

namespace tap::ir {

class DeviceAssignment {
 public:
  DeviceAssignment(const Program& program, const Operation& operation);

  bool is_replicated() const { return !mesh_ && !listed_; }  // not placed: all devices compute the same
  std::int64_t count() const;
  std::int64_t device(std::int64_t index) const;
  // Nothing if the device at this position does not run the operation.
  std::optional<Box> box(const Operator& op, std::int64_t index) const;

 private:
  std::optional<std::int64_t> block(const BlockPlacement& p, std::int64_t index,
                                    const std::vector<std::int64_t>& position) const;

  const Operation& operation_;
  const Mesh* mesh_ = nullptr;
  bool listed_ = false;
  std::vector<std::int64_t> devices_;  // the listed devices, in ascending order
};

// The mesh on whose axes an operation's blocks are placed; null if there is none.
const Mesh* mesh_of(const Program& program, const Operation& operation);

// The placement without its block dim.
BlockPlacement without_dim(BlockPlacement p);

std::string to_string(const DeviceSets& devices);  // {0, 1}, {2}

}  // namespace tap::ir
