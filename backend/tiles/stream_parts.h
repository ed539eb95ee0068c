// Streamed reductions in a group (ir/graphs/streamed_reduction.h): the partial result is kept in place, in one buffer
// that each step reads and writes. A component that another component's combination needs, and that has fewer
// indices, is updated after that one:
//
//   (m[i], o[i, c]) = both[j] (…)      combine: o[i, c] of m and o, over i and c; then m[i] of m, over i
#pragma once

#include "ir/graphs/streamed_reduction.h"

namespace tap::backend {

struct StreamParts {
  // The results have the types of the monoid's components. The operators are maps over the dims of the reduction; dims
  // that their results do not depend on have one point.
  ir::Operator partial;               // of one block
  std::vector<ir::Operator> begin;    // the identities
  std::vector<ir::Operator> combine;  // (accumulator, partial of the block) → new accumulator, in this order
  std::vector<ir::Operator> finish;   // rounds to the types of the results: one map for each result that needs it
  // The reduction itself can continue from the accumulator: there is one buffer per component, with all of its indices.
  bool accumulates_into_result = false;
};
// Pre: as for ir::streamed. `written`: by result, whether its final value is stored.
StreamParts stream_parts(const ir::Program& program, const ir::Operator& op, const std::vector<bool>& written);

}  // namespace tap::backend
