// Streamed reductions in a group (ir/graphs/streamed_reduction.h): the partial result is kept in place, in one buffer
// that each step reads and writes. A component that another component's combination needs, and that has fewer
// indices, is updated after that one:
//
//   (m[i], o[i, c]) = both[j] (…)      combine: o[i, c] of m and o, over i and c; then m[i] of m, over i
#pragma once

#include "ir/graphs/streamed_reduction.h"

namespace tap::backend {

struct StreamParts {
  // The results have the types of the monoid's components. Maps, over the dims of the reduction; those that their results
  // do not follow have one point.
  ir::Operator partial;               // of one block
  std::vector<ir::Operator> begin;    // the identities
  std::vector<ir::Operator> combine;  // (what came before, the block's) → what there is then, in this order
  std::vector<ir::Operator> finish;   // rounds to the types of the results: one map for each that needs it
  // The reduction itself can go on from what came before: there is one memory per component, with all of its indices.
  bool accumulates_into_result = false;
};
// Pre: as of ir::streamed. `written`: by result, whether its last value is stored.
StreamParts stream_parts(const ir::Program& program, const ir::Operator& op, const std::vector<bool>& written);

}  // namespace tap::backend
