// Laws by symbolic execution with Z3. A law is evaluated on symbols; every condition forks the execution, and each
// path is followed separately, so the proof goal at the end of a path contains no `if`, only polynomials:
//
//   online:  a.m >= b.m, a.m >= c.m, …:  exp(x - y) is E_x / E_y with E_x, E_y > 0, and both sides are one fraction.
//
// Floats are reals, or the infinity of the monoid's identity, or NaN where a function is undefined: both sides of a
// law must be NaN together. Where IEEE arithmetic differs from the reals (an exponential that overflows or
// underflows, division by a signed zero), the proof is abandoned. Integers that are only added, subtracted and
// multiplied are mathematical integers (wrapping is a ring homomorphism), others bit vectors of their width.
//
// Sizes (laws_symbols_sizes.cpp). Equal real results are not enough if an intermediate overflows and the result does
// not: `a.v + (a.v * a.v * a.v - a.v * a.v * a.v)` is inf - inf. So a combination is evaluated a second time on
// symbols, and each intermediate must be, by construction, no larger than the states, or a term of a result, which
// overflows with it.
//
// The cost of a proof is limited in steps of Z3 and of our own, never in time, so verdicts are the same on every
// machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <z3++.h>

#include "compiler/frontend/proofs/laws_evaluate.h"

namespace tap {

// A bound on a finite float: a number, a multiple of the largest state, or the result that it is a term of.
struct Magnitude {
  enum class Kind : std::uint8_t { number, state, term };
  Kind kind = Kind::number;
  double log2 = 0;                                           // of the bound; not for a term
  std::optional<std::pair<z3::expr, z3::expr>> factor = {};  // for a term d * z: d, top and bottom
};

enum class IntegerModel : std::uint8_t { whole_numbers, bits };

// The model for checking the laws of a monoid (laws_proof.cpp).
IntegerModel integer_model(const ir::Monoid& monoid);

class SymbolAlgebra {
 public:
  enum class Kind : std::uint8_t { finite, minus_infinity, plus_infinity, nan };
  struct Rounded;
  // Over symbols whose exponential is known: atom, factor.
  using Linear = std::map<std::size_t, std::int64_t>;
  struct Value {
    ElementType type;
    Kind kind;
    z3::expr top, bottom;                         // a float is top / bottom; others are `top`
    std::optional<Linear> linear;                 // for a float that is a sum of atoms
    bool is_positive;                             // known from its form
    bool vanishes = false;                        // an exponential in it may have rounded it to 0
    bool has_exponential = false;                 // rounding may cancel it completely in a difference
    unsigned degree = 1;                          // an upper bound on the polynomials' degree
    Magnitude magnitude = {};                     // for a finite float, if sizes are measured
    std::shared_ptr<const Rounded> rounded = {};  // null: not a rounded sum, product or quotient
  };
  // What a float was computed from: its sign may differ from the real value's (laws_symbols_signs.cpp).
  struct Rounded {
    bool is_sum;  // else a product or a quotient
    Value a, b;
  };
  // Thrown if a proof is abandoned: too much work, or beyond what is modelled.
  struct GaveUp {
    std::string why;
  };

  // `steps` is the remaining work; it is decreased.
  SymbolAlgebra(IntegerModel integers, std::uint64_t& steps);

  // From now on, gives up if an intermediate may overflow although the states and the results do not.
  // The cells in `results` are components of a state.
  void measure_sizes(std::unordered_set<const ir::CellNode*> results) {
    measures_ = true;
    results_ = std::move(results);
  }

  // Paths. Runs `claim` on every path; true if it holds on all of them.
  template <class Claim>
  bool on_all_paths(Claim claim) {
    do {
      begin_path();
      if (!claim()) return false;
    } while (next_path());
    return true;
  }

  // A symbol; a float with an infinity may be that infinity.
  Value variable(ElementType type, const std::string& name, int infinity);

  // After a claim that was not proved: the symbol's value in Z3's counterexample. Empty if there is none.
  std::optional<ir::Scalar> refuting_value(const Value& symbol);

  Value constant(const ir::Scalar& s);
  Value apply(const ir::CellNode& node, const std::vector<Value>& args);
  bool truth(const Value& v) { return decide(v.top); }
  Answer agree(const Value& a, const Value& b, int) { return are_equal(a, b) ? Answer::holds : Answer::fails; }
  bool is_nan(const Value& v) const { return v.kind == Kind::nan; }
  int infinity(const Value& v) const {
    return v.kind == Kind::plus_infinity ? 1 : v.kind == Kind::minus_infinity ? -1 : 0;
  }

 private:
  struct Decision {
    bool value;
    bool other_branch_feasible;
  };
  struct Atom {
    z3::expr value;        // a real symbol, or a logarithm
    z3::expr top, bottom;  // its exponential
    bool is_logarithm;
  };

  void begin_path();
  bool next_path();
  bool decide(const z3::expr& condition);
  bool may_be(const z3::expr& condition);
  void assert_linear_facts();
  z3::solver solver_for(const z3::expr& condition);
  bool may_be_with_polynomials(const z3::expr& condition, unsigned work, bool keep_model = false);
  void assume(const z3::expr& fact);
  bool is_proved(const z3::expr& claim);
  void spend(std::uint64_t steps);
  void charge(const z3::solver& solver);
  bool are_equal(const Value& a, const Value& b);

  Value real(ElementType type, z3::expr top, z3::expr bottom, std::optional<Linear> linear = std::nullopt);
  Value real(ElementType type, std::int64_t value) {
    Value result = real(type, z3_.real_val(value), one());
    result.degree = 0;
    return value > 0 ? positive(result) : result;
  }
  Value infinite(ElementType type, int sign);
  static Value positive(Value v);
  Value nan(ElementType type) { return {type, Kind::nan, z3_.real_val(0), one(), std::nullopt, false}; }
  Value boolean(z3::expr condition) {
    return {ElementType::boolean, Kind::finite, std::move(condition), one(), std::nullopt, false};
  }
  Value integer(ElementType type, const z3::expr& value) {
    return {type, Kind::finite, value.simplify(), one(), std::nullopt, false};
  }
  z3::expr one() { return z3_.real_val(1); }
  z3::expr expand(const z3::expr& e);
  z3::expr ratio(const Value& v);
  int sign_of(const Value& v);  // forks the path
  int sign_in_domain(const Value& v);
  bool has_exact_sign(const Value& v);
  void must_have_exact_sign(const Value& v);
  void note_tested(const Value& a, const Value& b);
  void may_not_vanish(const Value& v) const;
  void must_stay_below(const Value& v, std::int64_t bound);

  Value strict(const ir::CellNode& node, const std::vector<Value>& args);
  Magnitude magnitude_of(const ir::CellNode& node, const std::vector<Value>& args, const Value& result);
  Magnitude magnitude_of_sum(const Value& a, const Value& b, const Value& result);
  Magnitude magnitude_of_product(const Value& a, const Value& b);
  Magnitude magnitude_of_quotient(const Value& a, const Value& b);
  std::optional<double> constant_of(const Value& v);
  bool is_no_larger(const Value& a, const Value& b);
  bool cancels(const Value& a, const Value& b, const Value& sum);
  std::map<std::vector<unsigned>, double> monomials_of(const z3::expr& polynomial);
  Value compare(ir::CellOp op, const Value& a, const Value& b);
  Value compare_kinds(ir::CellOp op, const Value& a, const Value& b);
  Value float_apply(const ir::CellNode& node, const std::vector<Value>& args);
  Value negated(const Value& a);
  Value sum(const Value& a, const Value& b);
  Value product(const Value& a, const Value& b);
  Value quotient(const Value& a, const Value& b);
  Value exponential(const Value& a);
  Value overflowing_exponential(const Value& a);
  Value logistic(const Value& a);
  Value with_domain(const ir::CellNode& node, const std::vector<Value>& args);
  Value power(const ir::CellNode& node, const Value& a, const Value& b);
  Value logarithm(const Value& a);
  Value square_root(const Value& a);
  Value opaque(const ir::CellNode& node, const std::vector<Value>& args);
  Value exponential_of(ElementType type, const Linear& linear);
  Value integer_apply(const ir::CellNode& node, const std::vector<Value>& args);
  Value shift(ir::CellOp op, const Value& a, const Value& by);
  Value cast(ElementType type, const Value& a);
  z3::expr integer_constant(ElementType type, std::int64_t value);
  z3::expr integer_less(const Value& a, const Value& b);
  std::size_t atom_of(const Atom& atom);
  bool names_logarithm(const Linear& linear) const;
  void assume_equal_powers();

  z3::context z3_;
  IntegerModel integers_;
  std::uint64_t& steps_;
  std::uint64_t z3_steps_ = 0;  // already subtracted
  z3::params sums_of_monomials_;
  std::unordered_map<unsigned, std::pair<z3::expr, z3::expr>> expanded_;  // by Z3's id of the first of the pair
  std::vector<Decision> path_;
  std::size_t at_ = 0;           // the next decision
  std::vector<z3::expr> facts_;  // of the path so far
  std::vector<z3::expr> linear_facts_;
  std::vector<z3::expr> tested_;    // on the path: values whose sign a condition tests
  z3::solver feasible_;             // knows the linear facts of the last path that it was queried about …
  std::vector<z3::expr> asserted_;  // … which are these, each on its own level
  std::vector<Atom> atoms_;
  std::map<std::string, std::size_t> atom_by_text_;
  std::optional<z3::model> refutation_;
  bool measures_ = false;
  std::unordered_set<const ir::CellNode*> results_;
  bool uses_powers_ = false;  // whether any exponential was taken
};

}  // namespace tap
