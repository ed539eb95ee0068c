#include "compiler/frontend/proofs/laws_lattice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tap {
namespace {

using ir::CellOp;
using Form = LatticeAlgebra::Form;
using Meet = LatticeAlgebra::Meet;
using Term = LatticeAlgebra::Term;
using LatticeValue = LatticeAlgebra::Value;
using Rational = boost::multiprecision::cpp_rational;

constexpr std::size_t most_terms = 512;
constexpr std::int64_t largest_factor = 1 << 20;

Form form_of(Term term) { return {Meet{std::move(term)}}; }

// The same variables, and a smaller or equal constant.
bool is_below(const Term& a, const Term& b) { return a.factors == b.factors && a.constant <= b.constant; }
// Every term of b has a term of a below it.
bool is_below(const Meet& a, const Meet& b) {
  return std::all_of(b.begin(), b.end(), [&](const Term& y) {
    return std::any_of(a.begin(), a.end(), [&](const Term& x) { return is_below(x, y); });
  });
}

// Removes redundant terms, min(x, x + 1) = x, and redundant minima.
template <class Set, class Superfluous>
Set without(const Set& all, Superfluous superfluous) {
  Set result;
  for (const auto& one : all) {
    bool needless = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return !(other == one) && superfluous(one, other) && !(superfluous(other, one) && one < other);
    });
    if (!needless) result.insert(one);
  }
  return result;
}
Form reduced_form(const Form& form) {
  Form shorter;
  std::size_t terms = 0;
  for (const Meet& meet : form) {
    shorter.insert(without(meet, [](const Term& one, const Term& other) { return is_below(other, one); }));
    terms += meet.size() + 1;
    if (terms > most_terms) throw LatticeAlgebra::NoForm{};
  }
  return without(shorter, [](const Meet& one, const Meet& other) { return is_below(one, other); });
}

Term term_sum(const Term& a, const Term& b) {
  Term result = a;
  result.constant += b.constant;
  for (auto [variable, factor] : b.factors) {
    std::int64_t& sum = result.factors[variable];
    sum += factor;
    if (std::abs(sum) > largest_factor) throw LatticeAlgebra::NoForm{};
    if (sum == 0) result.factors.erase(variable);
  }
  return result;
}
Meet meet_sum(const Meet& a, const Meet& b) {
  if (a.size() * b.size() > most_terms) throw LatticeAlgebra::NoForm{};
  Meet result;
  for (const Term& x : a)
    for (const Term& y : b) result.insert(term_sum(x, y));
  return result;
}

// a ∧ (b ∨ c) = (a ∧ b) ∨ (a ∧ c)
Form form_meet(const Form& a, const Form& b) {
  if (a.size() * b.size() > most_terms) throw LatticeAlgebra::NoForm{};
  Form result;
  for (const Meet& x : a)
    for (const Meet& y : b) {
      Meet both = x;
      both.insert(y.begin(), y.end());
      result.insert(std::move(both));
    }
  return reduced_form(result);
}

Term term_scaled(const Term& a, std::int64_t by) {
  Term result;
  result.constant = a.constant * by;
  for (auto [variable, factor] : a.factors) {
    if (std::abs(factor) > largest_factor / std::abs(by)) throw LatticeAlgebra::NoForm{};
    result.factors[variable] = factor * by;
  }
  return result;
}

bool is_term(const Form& form) { return form.size() == 1 && form.begin()->size() == 1; }

}  // namespace

// Whether a value can be this infinity, through one of its variables or by itself.
bool LatticeAlgebra::may_be(const Form& form, int infinity) const {
  if (form == (infinity < 0 ? Form{} : Form{Meet{}})) return true;
  for (const Meet& meet : form)
    for (const Term& term : meet)
      for (auto [variable, factor] : term.factors)
        if (infinities_[variable] * (factor < 0 ? -1 : 1) == infinity) return true;
  return false;
}

LatticeValue LatticeAlgebra::variable(ElementType type, int infinity) {
  if (is_bool(type)) throw NoForm{};
  infinities_.push_back(infinity);
  return {type, form_of({{{infinities_.size() - 1, 1}}, 0})};
}

LatticeValue LatticeAlgebra::constant(const ir::Scalar& s) const {
  if (is_bool(s.type) || std::isnan(s.f)) throw NoForm{};
  if (!is_float(s.type)) return {s.type, form_of({{}, s.i})};
  if (std::isinf(s.f)) return {s.type, s.f < 0 ? Form{} : Form{Meet{}}};
  return {s.type, form_of({{}, Rational(s.f)})};
}

// A wrapped integer is not ordered like its term: only variables, and numbers that fit their type, may be compared. For
// integers, the least and the greatest value of a type take the place of -inf and +inf.
Form LatticeAlgebra::ordered(const LatticeValue& v) const {
  if (is_float(v.type)) return v.form;
  Form result;
  for (const Meet& meet : v.form) {
    Meet shorter;
    bool is_least = false;
    for (const Term& term : meet) {
      bool is_variable = term.factors.size() == 1 && term.factors.begin()->second == 1 && term.constant == 0;
      bool fits = term.constant >= least_integer(v.type) && term.constant <= greatest_integer(v.type);
      if (!is_variable && !(term.factors.empty() && fits)) throw NoForm{};
      is_least = is_least || (!is_variable && term.constant == least_integer(v.type));
      if (is_variable || term.constant < greatest_integer(v.type)) shorter.insert(term);
    }
    if (!is_least) result.insert(std::move(shorter));
  }
  return result;
}

LatticeValue LatticeAlgebra::sum(const LatticeValue& a, const LatticeValue& b) const {
  if (!is_float(a.type) && (!is_term(a.form) || !is_term(b.form))) throw NoForm{};
  for (int sign : {-1, 1})
    if (may_be(a.form, sign) && may_be(b.form, -sign)) throw NoForm{};  // would be NaN
  if (a.form.size() * b.form.size() > most_terms) throw NoForm{};
  Form result;
  for (const Meet& x : a.form)
    for (const Meet& y : b.form) result.insert(meet_sum(x, y));
  return {a.type, reduced_form(result)};
}

LatticeValue LatticeAlgebra::scaled(const LatticeValue& a, std::int64_t by) const {
  bool infinite = may_be(a.form, -1) || may_be(a.form, 1);
  if ((infinite && by <= 0) || (!is_float(a.type) && !is_term(a.form))) throw NoForm{};
  if (by == 0) return {a.type, form_of({{}, 0})};
  Form result;
  if (by > 0) {
    for (const Meet& meet : a.form) {
      Meet scaled_meet;
      for (const Term& term : meet) scaled_meet.insert(term_scaled(term, by));
      result.insert(std::move(scaled_meet));
    }
    return {a.type, reduced_form(result)};
  }
  // -(x ∨ y) = -x ∧ -y, and -(x ∧ y) = -x ∨ -y
  result = {Meet{}};
  for (const Meet& meet : a.form) {
    Form turned;
    for (const Term& term : meet) turned.insert(Meet{term_scaled(term, by)});
    result = form_meet(result, turned);
  }
  return {a.type, reduced_form(result)};
}

LatticeValue LatticeAlgebra::product(const LatticeValue& a, const LatticeValue& b) const {
  for (const auto& [number, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!is_term(number->form) || !number->form.begin()->begin()->factors.empty()) continue;
    const Rational& factor = number->form.begin()->begin()->constant;
    if (denominator(factor) != 1 || abs(factor) > largest_factor) throw NoForm{};
    return scaled(*other, static_cast<std::int64_t>(numerator(factor)));
  }
  throw NoForm{};
}

LatticeValue LatticeAlgebra::greatest(const LatticeValue& a, const LatticeValue& b) const {
  Form result = ordered(a);
  result.merge(ordered(b));
  return {a.type, reduced_form(result)};
}
LatticeValue LatticeAlgebra::least(const LatticeValue& a, const LatticeValue& b) const {
  return {a.type, form_meet(ordered(a), ordered(b))};
}

// `if x < y then y else x` is the maximum; it does not matter which is taken if they are equal.
LatticeValue LatticeAlgebra::choose(const LatticeValue& condition, const LatticeValue& a, const LatticeValue& b) const {
  if (a.compared.empty() && a.form == b.form) return a;
  if (condition.compared.size() != 2 || !a.compared.empty()) throw NoForm{};
  const Form &x = condition.compared[0], &y = condition.compared[1];
  if (a.form == y && b.form == x) return greatest(a, b);
  if (a.form == x && b.form == y) return least(a, b);
  throw NoForm{};
}

LatticeValue LatticeAlgebra::apply(const ir::CellNode& node, const std::vector<Value>& args) const {
  const LatticeValue &a = args[0], &b = args.back();
  if (!a.compared.empty() || !b.compared.empty()) throw NoForm{};
  switch (node.op) {
    case CellOp::neg: return scaled(a, -1);
    case CellOp::add: return sum(a, b);
    case CellOp::sub: return sum(a, scaled(b, -1));
    case CellOp::mul: return product(a, b);
    case CellOp::max: return greatest(a, b);
    case CellOp::min: return least(a, b);
    case CellOp::less:
    case CellOp::less_equal:
      ordered(a), ordered(b);  // both must be ordered
      return {ElementType::boolean, {}, {a.form, b.form}};
    case CellOp::cast:
      if (is_float(node.type) && is_float(a.type) && widens(a.type, node.type)) return {node.type, a.form};
      throw NoForm{};
    default: throw NoForm{};
  }
}

}  // namespace tap
