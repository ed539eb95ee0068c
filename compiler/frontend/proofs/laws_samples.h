// The sample states for laws: small numbers, halves, extreme integers, the constants in the monoid and their
// neighbours, and the infinity of its identity.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/monoid.h"

namespace tap {

using NumberState = std::vector<ir::Scalar>;

class LawSamples {
 public:
  // `exact`: nothing is rounded, so large constants are useful, too.
  LawSamples(const ir::Monoid& monoid, const NumberState& identity, bool exact);

  // All states, if there are at most `limit`; else nothing.
  std::vector<NumberState> all(std::size_t limit) const;
  // A state out of a fixed sequence of random ones.
  NumberState next();

 private:
  std::vector<std::vector<ir::Scalar>> values_;  // by component
  std::uint64_t seed_ = 1;
};

// Whether any cell of the combination or the fold satisfies the predicate.
template <class Predicate>
bool any_cell(const ir::Monoid& monoid, Predicate predicate) {
  auto any_in = [&](const ir::CellExprs& exprs) {
    for (std::size_t k = 0; k < exprs.size(); ++k) {
      if (predicate(exprs, exprs[ir::CellId(k)])) return true;
    }
    return false;
  };
  return any_in(monoid.exprs) || (monoid.fold && any_in(monoid.fold->exprs));
}

}  // namespace tap
