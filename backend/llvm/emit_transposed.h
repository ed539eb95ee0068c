// Transposed stores: vectors whose lane 0 cells are contiguous in memory, in the order of an unrolled loop.
//
//   unroll a in a0 of 16 { lanes e in e0 of 16 { p[e, a] = t[a, e] } }     16 vectors are read, transposed and stored as 16
//   unroll a in 0 of 2 { lanes e in e0 of 16 { p[e, a] = t[a, e] } }        2 vectors are interleaved, if p's rows have 2 to 4 cells
#pragma once

#include <optional>
#include <vector>

#include "backend/llvm/emit_state.h"

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace tap::backend {

struct StoredAcross {
  const For* lanes = nullptr;
  const Store::Target* target = nullptr;
  std::optional<std::int64_t> step;  // between lanes, if it is a few cells
};
// The parts of such a loop; null if it has a different form.
StoredAcross stored_across(const EmitState& s, const For& unrolled);

// Transposes as many vectors as each has lanes, a power of two: cell k of vector l becomes cell l of vector k.
void transpose(llvm::IRBuilderBase& b, std::vector<llvm::Value*>& vectors);

}  // namespace tap::backend
