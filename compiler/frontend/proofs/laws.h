// Laws of user monoids: associativity, identity, commutativity, and that `fold` is a homomorphism. Decided by a
// normal form or by Z3 over integers and reals where a bounded number of steps suffices, otherwise sampled; a refuted
// law comes with a counterexample.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap {

struct LawCounterexample {
  std::string law;                                                      // associative, identity, commutative, fold
  std::vector<std::pair<std::string, std::vector<ir::Scalar>>> values;  // a, b, c: one scalar per component
  std::vector<ir::Scalar> left, right;  // the values of both sides; nothing if the program stops there
  bool operator==(const LawCounterexample&) const = default;
};
// Begins the reason of a law that is proved for values in the range of the floats.
inline constexpr std::string_view finite_values = "this assumes that values stay finite: ";
struct LawDoubt {
  std::string law, why;  // the reason it is not proved; may be empty
  bool operator==(const LawDoubt&) const = default;
};
struct LawVerdict {
  ir::MonoidLaws laws;
  std::vector<LawCounterexample> broken;  // without commutativity, which may fail
  std::vector<LawDoubt> assumed;
  bool operator==(const LawVerdict&) const = default;
};
// Both are counts, so that verdicts do not depend on the machine or its load.
struct LawOptions {
  std::uint64_t proof_steps = 30'000'000;  // of Z3, for each law
  unsigned samples = 20000;
};
// Floats are taken as reals, plus the infinity that a component's identity has. Both sides of a law must have the same
// value, or both must be undefined: NaN of a function outside its domain counts; rounding and overflow of sums and
// products do not.
LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options = {});

// Whether a monoid of one float is `max` or `min` except for NaN or the sign of zero: `if a.v > b.v then …`. Returns
// the name of the built-in one; empty if it is neither, or also agrees on NaN.
std::optional<std::string> differs_from_builtin_only_on_nan(const ir::Program& program, const ir::Monoid& monoid);

}  // namespace tap
