// Options that restrict every rewrite: keep the written order of float operations (--strict-fp), and use no law that
// is assumed, not proved (--require-proof).
#pragma once

#include <initializer_list>
#include <string>

#include "passes/pass.h"

namespace tap::passes {

struct Caution {
  bool strict_fp = false;
  bool require_proof = false;
};
inline Caution caution_of(const PassContext& context) { return {context.strict_fp, context.require_proof}; }

// Why what a reduction combines must not be combined in parts, in a sentence; empty if it may be. With strict_fp a sum of
// floats must not, since it rounds; the greatest of them may.
std::string why_not_reassociated(const ir::Program& program, const ir::Operator& reduction, const Caution& caution);

// What stands at the end of an alternative's name: what it rests on, as the checker wants it said. Empty if on nothing.
//   , assuming that the laws of `online` hold and values are finite and the sign of a zero does not matter
std::string assumptions(const std::string& monoid, std::initializer_list<ir::Law> laws, bool finite);

}  // namespace tap::passes
