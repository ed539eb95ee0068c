// Describes what splitting each index dim of an operator means, from its projections alone: whether it is possible,
// and how many bytes of operands two shards share.
//
//   y[i] = x[i-1] + x[i] + x[i+1]        i: yes; two shards share 8 bytes of x
//   y[i, o] = sum[k] x[i, k] * w[k, o]   k: yes, as partials combined by sum
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::driver {

struct SharedBytes {
  std::uint32_t operand = 0;
  std::int64_t bytes = 0;
  bool whole = false;  // each shard needs the whole operand
};
struct DimFacts {
  std::uint32_t dim = 0;
  bool splittable = false;
  std::string why_not;              // if it is not possible
  std::string combined_by;          // the monoid's name, if its shards give partials
  std::int64_t partial_bytes = 0;   // of one shard's partial
  std::vector<SharedBytes> shared;  // operands with cells that two shards need
};

std::vector<DimFacts> sharding_facts(const ir::Program& program, const ir::Operator& op);
std::string describe(const ir::Operator& op, const DimFacts& facts);

}  // namespace tap::driver
