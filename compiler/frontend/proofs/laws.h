// Laws of user monoids: associativity, identity, commutativity, and that `fold` is a homomorphism. Decided by a
// normal form or by Z3 over integers and reals where a bounded number of steps suffices, otherwise sampled; a refuted
// law comes with a counterexample.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap {

struct LawCounterexample {
  std::string law;                                                      // associative, identity, commutative, fold
  std::vector<std::pair<std::string, std::vector<ir::Scalar>>> values;  // a, b, c: one scalar per component
  std::vector<ir::Scalar> left, right;  // what the two sides give; nothing where the program stops there
  bool operator==(const LawCounterexample&) const = default;
};
struct LawDoubt {
  std::string law, why;  // why it is not proved; may be empty
  bool operator==(const LawDoubt&) const = default;
};
struct LawVerdict {
  ir::MonoidLaws laws;
  std::vector<LawCounterexample> broken;  // commutativity is never listed here: it may fail
  std::vector<LawDoubt> assumed;
  bool operator==(const LawVerdict&) const = default;
};
// Both are counts, so that a verdict is the same on every machine, however busy.
struct LawOptions {
  std::uint64_t proof_steps = 30'000'000;  // of Z3, for each law
  unsigned samples = 20000;
};
// Floats are taken for reals, with the infinity that a component's identity has. The two sides of a law have the same value,
// or both are no number: NaN of a function outside its domain counts, what rounding does, or a sum or product beyond the
// range of floats, does not.
LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options = {});

// A monoid of one float that is `max` or `min` for all numbers and not for NaN or the sign of zero: `if a.v > b.v then …`.
// Gives the name of the built-in one; empty optional if it is none, or is the same for NaN, too.
std::optional<std::string> differs_from_builtin_only_on_nan(const ir::Program& program, const ir::Monoid& monoid);

}  // namespace tap
