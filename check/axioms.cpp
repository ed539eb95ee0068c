#include "check/axioms.h"

#include <fmt/format.h>

#include "check/verdict.h"
#include "ir/cell_rule.h"

namespace tap::check {

using ir::CellOp, ir::Scalar;

namespace {

constexpr std::string_view lines[] = {
#define TAP_AXIOM(text) text,
#include "check/axioms.def"
#undef TAP_AXIOM
};

[[noreturn]] void refuse(const std::string& axiom, const std::string& why) {
  throw Refusal{Obligation::axioms, fmt::format("`{}` {}", axiom, why)};
}

// Parses a line into terms of both sides, with the given variables. Its numbers have the type of the first variable.
class Line {
 public:
  Line(Terms& terms, const ir::CellRule& rule, const std::vector<Term>& variables)
      : terms_(terms), rule_(rule), text_(rule.text), variables_(variables) {
    if (rule.variables.size() != variables.size())
      refuse(text_, fmt::format("has {} variables, not {}", rule.variables.size(), variables.size()));
    terms_.merge(made(rule.left), made(rule.right));
  }

 private:
  Term made(const ir::RuleTerm& term) {
    if (term.kind == ir::RuleTerm::variable) return variables_[static_cast<std::size_t>(term.value)];
    if (term.kind != ir::RuleTerm::operation) return terms_.constant(literal(term, terms_[variables_.at(0)].type));
    std::vector<Term> args;
    for (const ir::RuleTerm& arg : term.args) args.push_back(made(arg));
    ElementType of = terms_[args.back()].type;
    bool logical = ir::info(term.op).arguments == ir::CellArguments::bools;
    for (std::size_t k = 0; k < args.size(); ++k)
      if (terms_[args[k]].type != (logical || (term.op == CellOp::select && k == 0) ? ElementType::boolean : of))
        refuse(text_, "is applied to terms of different types");
    if (!logical && !rule_.fits(of)) refuse(text_, fmt::format("does not hold for {}", tap::name_of(of)));
    bool truth = ir::info(term.op).result == ir::CellResult::boolean;
    return terms_.apply(term.op, truth ? ElementType::boolean : of, std::move(args));
  }
  Scalar literal(const ir::RuleTerm& term, ElementType type) const {
    if (term.kind == ir::RuleTerm::truth) return Scalar::boolean(term.value != 0);
    if (term.kind == ir::RuleTerm::least) return Scalar::least(type);
    if (term.kind == ir::RuleTerm::greatest) return Scalar::greatest(type);
    bool minus_zero = term.kind == ir::RuleTerm::minus_zero, negative = term.value < 0;
    if (is_float(type)) return Scalar::floating(type, minus_zero ? -0.0 : static_cast<double>(term.value));
    if (is_bool(type) || minus_zero || (negative && !info(type).is_signed))
      refuse(text_, fmt::format("has no {} of {}", term.value, tap::name_of(type)));
    return Scalar::integer(type, term.value);
  }

  Terms& terms_;
  const ir::CellRule& rule_;
  const std::string text_;
  const std::vector<Term>& variables_;
};

// Whether `to` contains every value of `from`, so that converting back is exact.
bool has_all_values_of(ElementType to, ElementType from) {
  if (is_bool(from) || is_bool(to)) return is_bool(from);
  if (is_float(from))
    return is_float(to) && (to == from || to == ElementType::f64 || (to == ElementType::f32 && size_of(from) == 2));
  if (is_float(to)) return static_cast<int>(8 * size_of(from)) - info(from).is_signed <= info(to).mantissa_bits;
  return least_integer(to) <= least_integer(from) && greatest_integer(from) <= greatest_integer(to);
}

// Facts that hold at every point of an index space.
class DomainDecider {
 public:
  DomainDecider(const Terms& terms, const Space& domain) : terms_(terms), domain_(domain) {}

  bool decided(Term t, bool expected) const {
    const Terms::Node& node = terms_[t];
    if (auto constant = terms_.as_constant(t)) return (constant->i != 0) == expected;
    if (node.kind != Terms::Kind::apply) return false;
    if (node.op == CellOp::logical_not) return decided(node.args[0], !expected);
    if (node.op != CellOp::logical_and && node.op != CellOp::logical_or) return compared(node, expected);
    bool a = decided(node.args[0], expected), b = decided(node.args[1], expected);
    return (node.op == CellOp::logical_and) == expected ? a && b : a || b;
  }

  // e / n and e % n within one multiple of n:  e / n = k,  e % n = e - k·n
  bool is_quotient_or_rest(Term t, Term value) const {
    const Terms::Node& node = terms_[t];
    auto e = linear(node.args[0]), v = linear(value);
    auto n = terms_.as_constant(node.args[1]);
    if (!e || !v || !n || n->i <= 0 || domain_.box.empty()) return false;
    std::int64_t k = checked::floor_div(least(*e, domain_.box), n->i);
    if (checked::floor_div(greatest(*e, domain_.box), n->i) != k) return false;
    AffineExpr whole = number(terms_.dims(), k);
    return *v == (node.op == CellOp::div ? whole : *e - scale(whole, n->i));
  }

 private:
  bool compared(const Terms::Node& node, bool expected) const {
    auto a = node.args.size() == 2 ? linear(node.args[0]) : std::nullopt;
    auto b = a ? linear(node.args[1]) : std::nullopt;
    if (!b) return false;
    AffineExpr up = *b - *a, down = *a - *b, one = number(terms_.dims(), 1);
    auto above = [&](const AffineExpr& e) { return never_negative(e - one, domain_); };
    auto same = [&] { return never_negative(up, domain_) && never_negative(down, domain_); };
    switch (node.op) {
      case CellOp::less: return expected ? above(up) : never_negative(down, domain_);
      case CellOp::less_equal: return expected ? never_negative(up, domain_) : above(down);
      case CellOp::equal: return expected ? same() : above(up) || above(down);
      case CellOp::not_equal: return expected ? above(up) || above(down) : same();
      default: return false;
    }
  }
  // Cells wrap: a linear form is the cell's value only if it fits everywhere.
  std::optional<AffineExpr> linear(Term t) const {
    const auto* form = terms_.linear_form(t);
    if (!form) return std::nullopt;
    AffineExpr e{{form->begin(), form->end() - 1}, form->back()};
    if (!domain_.box.empty()) least(e, domain_.box), greatest(e, domain_.box);  // throws Overflow if they do not fit
    return e;
  }

  const Terms& terms_;
  const Space& domain_;
};

void exact_casts(Terms& terms, const std::string& axiom, Term a) {
  ElementType type = terms[a].type;
  if (!terms.is_rounded(a)) refuse(axiom, "is applied to a value before its rounding");
  // Special case, since terms that are equal to `a` may be casts, too.
  if (axiom == "T(a) = a [exact]") return terms.merge(terms.add({Terms::Kind::apply, CellOp::cast, type, {}, {a}}), a);
  for (std::size_t u = 0; u < element_type_count; ++u) {
    auto between = static_cast<ElementType>(u);
    if (!has_all_values_of(between, type)) continue;
    terms.merge(terms.apply(CellOp::cast, type, {terms.apply(CellOp::cast, between, {a})}), a);
  }
}

void by_computation(Terms& terms, const std::string& axiom, Term a, Term b, const Space& domain) {
  const Terms::Node node = terms[a];
  bool holds = a == b;
  if (axiom == "a = b [arithmetic]" && node.kind == Terms::Kind::apply) {
    std::vector<Scalar> args;
    for (Term arg : node.args)
      if (auto constant = terms.as_constant(arg)) args.push_back(*constant);
    auto value = args.size() == node.args.size() ? computed(node.op, node.type, args) : std::nullopt;
    holds = holds || (value && terms.constant(*value) == b);
  }
  if (axiom == "a = b [domain]" && node.kind == Terms::Kind::apply) {
    DomainDecider decider(terms, domain);
    auto truth = terms.as_constant(b);
    if (is_bool(node.type)) holds = holds || (truth && decider.decided(a, truth->i != 0));
    else if (node.op == CellOp::div || node.op == CellOp::mod)
      holds = holds || (node.type == ElementType::i64 && decider.is_quotient_or_rest(a, b));
  }
  if (!holds) refuse(axiom, "does not hold for these terms");
  terms.merge(a, b);
}

}  // namespace

void use_axiom(Terms& terms, const std::string& axiom, const std::vector<Term>& variables, const Space& domain) {
  if (std::find(std::begin(lines), std::end(lines), axiom) != std::end(lines))
    return void(Line(terms, ir::parse_cell_rule(axiom), variables));
  bool cast = axiom == "T(a) = a [exact]" || axiom == "T(U(a)) = a [exact]";
  bool computed = axiom == "a = b [arithmetic]" || axiom == "a = b [affine]" || axiom == "a = b [domain]";
  if (!cast && !computed) refuse(axiom, "is not an axiom");
  if (variables.size() != (cast ? 1 : 2)) refuse(axiom, fmt::format("does not have {} variables", variables.size()));
  if (cast) exact_casts(terms, axiom, variables[0]);
  else by_computation(terms, axiom, variables[0], variables[1], domain);
}

}  // namespace tap::check
