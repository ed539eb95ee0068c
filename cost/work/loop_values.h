// The ranges of a kernel's variables during the traversal of its loops: each is an interval, either the middle of its
// loop's range or all of it, together with the loops that it increases with.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::cost {

struct Interval {
  double lo = 0, hi = 0;  // both are attained
  double middle() const { return (lo + hi) / 2; }
};
// An expression of the few variables that it has: those of a kernel are hundreds.
struct Terms {
  struct Term {
    std::uint32_t variable = 0;
    double factor = 0;
  };
  double offset = 0;
  std::vector<Term> terms;
};
Terms terms_of(const ir::AffineExpr& expr);

using LoopSet = std::uint64_t;  // of the loops around a statement, outermost first

class LoopValues {
 public:
  LoopValues(const backend::Kernel& kernel, const ir::Box& box);

  Interval of(const ir::AffineExpr& expr) const;
  Interval of(const Terms& expr) const;
  LoopSet loops_of(const ir::AffineExpr& expr) const;
  LoopSet loops_of(std::uint32_t variable) const { return loops_[variable]; }
  void set(std::uint32_t variable, Interval value, LoopSet loops);
  void define(const backend::Define& define);
  // The known bound: the greatest lower or the least upper one.
  Interval bound(const std::vector<backend::Bound>& bounds, bool lower) const;
  // The expression's increase per unit of the variable.
  static std::int64_t step_of(const ir::AffineExpr& expr, std::uint32_t variable) {
    return variable < expr.coefficients.size() ? expr.coefficients[variable] : 0;
  }

 private:
  void add(Interval& sum, std::size_t variable, double factor) const;

  std::vector<Interval> values_;
  std::vector<LoopSet> loops_;
};

// The iterations of a loop, the first and last value of its variable, and how many of its lanes are used.
struct Rounds {
  double count = 0;
  double first = 0, last = 0;
  double lanes = 1, used = 1;
};
Rounds rounds_of(const backend::For& loop, const LoopValues& values);

}  // namespace tap::cost
