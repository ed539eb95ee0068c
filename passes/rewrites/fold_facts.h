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

// A reduction's index space with `dim` in blocks: its dims, `dim` being the place in a block, and last the number of the
// block, where there are several.
struct FoldedSpace {
  std::uint32_t dim = 0;
  std::int64_t size = 1, count = 1;  // points of a block, and blocks
  std::vector<ir::IndexDim> dims;
  std::vector<ir::Constraint> constraints;  // over them: also that the last block may be shorter
  std::uint32_t block = 0;                  // the number of that last dim

  ir::AffineExpr placed(const ir::AffineExpr& e) const;  // of the reduction's dims, over these
};
FoldedSpace folded_space(const ir::Operator& op, std::uint32_t dim, std::int64_t size);

struct FoldFacts {
  std::vector<DimSet> dims;     // by cell of the fold, without those that are reduced
  std::vector<DimSet> indexed;  // by cell: of a reduction's operand, with them
  std::vector<bool> apart;      // by cell: whether it is an operation
  bool contracts = false;       // whether some of these are no reductions, but read by them
};
// Pre: a reduction by a monoid with a fold, of fewer than 64 dims.
FoldFacts fold_facts(const ir::Program& program, const ir::Operator& op, const FoldedSpace& space);

// The dim whose blocks may be folded each for itself, and why there is none.
std::uint32_t dim_to_fold(const ir::Operator& op);
std::string why_not_folded(const ir::Program& program, const ir::Operator& op, bool strict_fp);

}  // namespace tap::passes
