// Which dims of an operator, or of a group's operations, pass through memory together (merged_dims.h).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "backend/tiles/register_tile.h"

namespace tap::backend {

struct Merging {
  // An operation of the group, or the operator alone.
  struct Member {
    const ir::Operator* op = nullptr;
    std::vector<std::size_t> operands, results;  // numbers of tensors
    std::vector<bool> is_point = {};             // by dim: it has one point, and is left out
    // By dim: the dim that is merged with it from the inside, or from the outside.
    std::vector<std::optional<std::uint32_t>> inner = {}, outer = {};
  };
  std::vector<Member> members;
  std::vector<ir::TensorType> types;                       // by tensor
  std::vector<std::map<std::size_t, std::size_t>> joined;  // by tensor: from an axis to the next outer one
  std::vector<std::optional<std::size_t>>
      last;  // by tensor: an axis that comes last, if only axes of one cell follow it
};
// Nothing if all dims and axes stay as they are.
std::optional<Merging> find_merging(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                    const std::vector<bool>& constant, bool through_windows);

// The group's dim that an operation's dim is.
std::optional<std::uint32_t> group_dim(const ir::Operator& group, std::size_t operation, std::uint32_t inner_dim);

}  // namespace tap::backend
