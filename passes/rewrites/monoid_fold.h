// A reduction by a monoid with a `fold`, as plain operations: in blocks of one reduction dim, each block computed as
// the fold defines, and the blocks combined in order.
//
//   y[i, c] = online[j] (t[i, j], 1, v[j, c])      m[r, i]    = max[j] t[i, 64 r + j]
//                                                  e[r, i, j] = exp(t[i, 64 r + j] - m[r, i])
//                                                  s[r, i]    = sum[j] e[r, i, j]
//                                                  o[r, i, c] = sum[j] e[r, i, j] * v[64 r + j, c]
//                                                  y[i, c]    = online[r] (m[r, i], s[r, i], o[r, i, c])
//
// A cell of the fold that has fewer indices than the reduction that reads it (e has no c) is computed once, and the
// reduction becomes a contraction. With one block there is no r, and only that block is combined with the identity.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/certificate.h"

namespace tap::passes {

struct FoldedReduction {
  std::shared_ptr<const ir::Program> program;  // main maps the operator's operands to its results
  std::uint32_t dim = 0;                       // the dim in blocks
  std::int64_t size = 1;                       // points of a block
  std::string rule;                            // the alternative's rule
};
struct FoldOffers {
  std::vector<FoldedReduction> offers;  // one block first, then smaller and smaller blocks
  std::string remark;                   // why there are none
};

// Remarks only on reductions by a monoid with a fold. With `strict_fp`, floats stay as written.
FoldOffers fold_offers(const ir::Program& program, const ir::Operator& op, bool strict_fp = false);

// Whether the rule of an alternative is a fold; and whether it is the default without a line in the plan: one block,
// with a contraction among the resulting operations.
bool is_fold(std::string_view rule);
bool is_contracting_fold(std::string_view rule);

}  // namespace tap::passes
