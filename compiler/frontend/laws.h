// Laws of user monoids: associativity, identity, commutativity, and that `fold` is a homomorphism. Decided by Z3 over
// integers and reals where that ends in time, else sampled; a broken law comes with the values that break it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tap {

struct LawCounterexample {
  std::string law;                                                      // associative, identity, commutative, fold
  std::vector<std::pair<std::string, std::vector<ir::Scalar>>> values;  // a, b, c: one scalar per component
  std::vector<ir::Scalar> left, right;                                  // what the two sides give
};
struct LawVerdict {
  ir::MonoidLaws laws;
  std::vector<LawCounterexample> broken;  // commutativity is never listed here: it may fail
  std::vector<std::string> remarks;       // how each was decided, for --remarks
};
struct LawOptions {
  unsigned solver_milliseconds = 5000;
  unsigned samples = 20000;
};
// Floats are taken for reals, with the infinity that a component's identity has; samples allow for rounding. A law is not
// asked where NaN comes up, nor of states that the monoid itself takes for its identity (see laws_evaluate.h). A proof of
// `fold` is one for blocks of one and of two elements.
LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options = {});

// A monoid of one float that is `max` or `min` for all numbers and not for NaN or the sign of zero: `if a.v > b.v then …`.
// Gives the name of the built-in one; empty optional if it is none, or is the same for NaN, too.
std::optional<std::string> differs_from_builtin_only_on_nan(const ir::Program& program, const ir::Monoid& monoid);

}  // namespace tap
