// Options that restrict every rewrite: keep the written order of float operations (--strict-fp), and use no law that
// is assumed, not proved (--require-proof). And one that permits: --fast-reduce.
#pragma once

#include <initializer_list>
#include <string>

#include "passes/pass.h"

namespace tap::passes {

struct Caution {
  bool strict_fp = false;
  bool require_proof = false;
  bool fast_reduce = false;  // the opposite: devices may combine partials in groups, which rounds otherwise
};
inline Caution caution_of(const PassContext& context) {
  return {context.strict_fp, context.require_proof, context.fast_reduce};
}

// Why the operands of a reduction must not be combined in parts, in a sentence; empty if they may. With strict_fp a sum
// of floats must not, since it rounds; a maximum may.
std::string why_not_reassociated(const ir::Program& program, const ir::Operator& reduction, const Caution& caution);

// The suffix of an alternative's name that lists its assumptions, in the form that the checker expects. Empty if there
// are none.
//   , assuming that the laws of `online` hold and values are finite and the sign of a zero does not matter
std::string assumptions(const std::string& monoid, std::initializer_list<ir::Law> laws, bool finite);

}  // namespace tap::passes
