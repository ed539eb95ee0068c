// Laws by a normal form: an expression of +, -, max and min is a maximum of minima of linear terms, since +
// distributes over both. Two sides with the same form are equal; other cases are left to other methods.
//
//   max(max(a + b, c) + d, e)   is   max(a + b + d, c + d, e)
//
// Floats are reals, or the infinity of the monoid's identity, which absorbs a sum of such terms. Integers wrap, so
// only plain integer sums, and maxima and minima without sums, are supported.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "compiler/frontend/proofs/laws_evaluate.h"

namespace tap {

class LatticeAlgebra {
 public:
  struct Term {
    std::map<std::size_t, std::int64_t> factors;  // by variable; nonzero
    boost::multiprecision::cpp_rational constant;
    bool operator<(const Term& other) const {
      return factors != other.factors ? factors < other.factors : constant < other.constant;
    }
    bool operator==(const Term&) const = default;
  };
  using Meet = std::set<Term>;  // their minimum; if empty: +inf
  using Form = std::set<Meet>;  // their maximum; if empty: -inf
  struct Value {
    ElementType type;
    Form form = {};
    std::vector<Form> compared = {};  // for a bool: is the first less than the second, or equal?
  };
  // Thrown if there is no such form, or it is too large.
  struct NoForm {};

  Value variable(ElementType type, int infinity);
  Value constant(const ir::Scalar& s) const;
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const;
  Value choose(const Value& condition, const Value& a, const Value& b) const;
  Answer agree(const Value& a, const Value& b, int) const {
    return a.form == b.form ? Answer::holds : Answer::not_known;
  }

 private:
  Value sum(const Value& a, const Value& b) const;
  Value scaled(const Value& a, std::int64_t by) const;
  Value product(const Value& a, const Value& b) const;
  Value greatest(const Value& a, const Value& b) const;
  Value least(const Value& a, const Value& b) const;
  bool may_be(const Form& form, int infinity) const;
  Form ordered(const Value& v) const;

  std::vector<int> infinities_;  // by variable
};

}  // namespace tap
