// Combines terms by a monoid, one at a time, at the right or at the left end.
//
//   Combiner sum(monoid, with_bounds);
//   std::vector<ComponentState> state(sum.arity());
//   sum.reset(state.data());  sum.append(state.data(), &term);  …  sum.result(state.data(), 0).value
#pragma once

#include <vector>

#include "ir/interpret/interpret_cell.h"

namespace tap::ir::oracle {

// The running value of one component and, for its bound, sums over the terms so far.
struct ComponentState {
  Cell cell;
  std::int64_t terms = 0;
  double errors = 0;        // sum: Σ e;  extremum: max e;  product: 1 if a term's sign is unknown, or it is infinite
  double magnitude = 0;     // sum: Σ |t|;  product: Π |t|
  double greatest = 1;      // product: Π (|t| + e)
  double growth = 1;        // product: Π max(1, |t| + e), how far a partial product can grow …
  double shrinkage = 1;     // … and Π min(1, |t|), how far it can shrink
  bool non_finite = false;  // some term was infinite or NaN
};

class Combiner {
 public:
  Combiner(const Monoid& monoid, bool with_bounds);

  std::size_t arity() const { return components_.size(); }
  void reset(ComponentState* state) const;
  void append(ComponentState* state, const Cell* later);     // state = combine(state, later)
  void prepend(ComponentState* state, const Cell* earlier);  // state = combine(earlier, state)
  Cell result(const ComponentState* state, std::size_t component) const;

 private:
  // Forms of combination with a known order-independent bound. All others are `general`.
  enum class Kind { sum, product, extremum, general };
  struct Component {
    ElementType type;
    Kind kind = Kind::general;
    CellOp op = CellOp::add;
    CellId combine;
    Cell identity;
  };

  void combine(ComponentState* state, const Cell* earlier, const Cell* later);
  void account(ComponentState& state, const Component& component, const Cell& term) const;

  bool with_bounds_;
  bool general_ = false;  // some component is
  std::vector<Component> components_;
  CellEvaluator cells_;
  BlockId block_;
  std::vector<Cell> scratch_;
};

}  // namespace tap::ir::oracle
