// Internal to monoid_fold: which cells of a fold become operations, and the index dims of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

using DimSet = std::uint64_t;
inline bool has(DimSet set, std::size_t dim) { return (set >> dim & 1) != 0; }

// A reduction's index space with `dim` in blocks: `dim` is the position in a block, and if there are several blocks,
// the last dim is the block's number.
struct FoldedSpace {
  std::uint32_t dim = 0;
  std::int64_t size = 1, count = 1;  // points of a block, and blocks
  std::vector<ir::IndexDim> dims;
  std::vector<ir::Constraint> constraints;  // over these dims; the last block may be shorter
  std::uint32_t block = 0;                  // the number of the block dim

  ir::AffineExpr placed(const ir::AffineExpr& e) const;  // maps an expression over the reduction's dims to these dims
};
FoldedSpace folded_space(const ir::Operator& op, std::uint32_t dim, std::int64_t size);

struct FoldFacts {
  std::vector<DimSet> dims;             // by cell of the fold, without reduced dims
  std::vector<DimSet> indexed;          // by cell: the dims of a reduction's operand, with reduced dims
  std::vector<bool> becomes_operation;  // by cell: whether it becomes an operation
  bool contracts = false;               // some of these are maps that reductions read
};
// Pre: a reduction by a monoid with a fold, of fewer than 64 dims.
FoldFacts fold_facts(const ir::Program& program, const ir::Operator& op, const FoldedSpace& space);

// The dim whose blocks may be folded independently; or why there is none.
std::uint32_t dim_to_fold(const ir::Operator& op);
std::string why_not_folded(const ir::Program& program, const ir::Operator& op, bool strict_fp);

}  // namespace tap::passes
