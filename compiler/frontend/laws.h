// Laws of user monoids: associativity, identity, commutativity, and that `fold` is a homomorphism. Decided by Z3 over
// integers and reals where that ends in time, else sampled; a broken law comes with the values that break it.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace tap {

struct LawCounterexample {
  std::string law;                                // associative, identity, commutative, fold
  std::vector<std::pair<std::string, std::vector<ir::Scalar>>> values;  // a, b, c: one scalar per component
  std::vector<ir::Scalar> left, right;            // what the two sides give
};
struct LawVerdict {
  ir::MonoidLaws laws;
  std::vector<LawCounterexample> broken;          // commutativity is never listed here: it may fail
  std::vector<std::string> remarks;               // how each was decided, for --remarks
};
struct LawOptions {
  unsigned solver_milliseconds = 5000;
  unsigned samples = 20000;
};
LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options = {});

// A user's monoid of one float that equals the built-in max or min except on NaN (and the sign of zero).
bool differs_from_builtin_only_on_nan(const ir::Monoid& monoid);

}  // namespace tap
