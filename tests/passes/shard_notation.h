// A block graph as equations between shards, in the notation of the Tapestry text: for reading, not for parsing.
//
//   X₁ = X[..4, ...]
//   X₂ = X[4.., ...]
//   Z₁ = linear(X₁, W, b)
//   Z₂ = linear(X₂, W, b)
//   Z = (Z₁; Z₂)
#pragma once

#include <set>

#include "ir/author_names.h"
#include "ir/block_graph.h"

namespace tap::ir {

struct ShardNotation {
  std::set<ValueId> unnamed = {};  // their shards stand where they are made or read: Z = (linear(X[..4, ...], W, b); …)
  bool open_groups = false;        // relu(linear(X₁, W, b)), not (linear ⇒ relu)(X₁, W, b)
};
std::string shards_as_text(const Program& program, const BlockGraph& blocks, const ShardNotation& notation = {});

// What each index point reads and writes, a line for each access that differs:
//
//   P_X(i) = ZRange{ start: [i_batch, 0], shape: [1, 4] }
std::string projections_as_text(const Operator& op, const std::optional<OperationNames>& names = {});

// linear; of a group what it runs in turn: (linear ⇒ relu).
std::string function_name(const Program& program, const Operation& operation);

}  // namespace tap::ir
