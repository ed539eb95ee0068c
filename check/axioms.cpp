#include "check/axioms.h"

#include <fmt/format.h>

#include "check/verdict.h"

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

struct Infix {
  std::string_view text;
  CellOp op;
  int binds;
};
constexpr Infix infixes[] = {{"or ", CellOp::logical_or, 1}, {"and ", CellOp::logical_and, 2},
                             {"== ", CellOp::equal, 3},      {"!= ", CellOp::not_equal, 3},
                             {"<= ", CellOp::less_equal, 3}, {"< ", CellOp::less, 3},
                             {"+ ", CellOp::add, 4},         {"- ", CellOp::sub, 4},
                             {"* ", CellOp::mul, 5},         {"/ ", CellOp::div, 5},
                             {"% ", CellOp::mod, 5}};

// Makes terms of both sides of a line, its variables being those terms. Its numbers are of the type of the first of them.
class Line {
 public:
  Line(Terms& terms, const std::string& text, const std::vector<Term>& variables)
      : terms_(terms), text_(text), variables_(variables), rest_(text) {}

  void declare() {
    Term left = side(1);
    eat("= ");
    Term right = side(1);
    if (names_.size() != variables_.size())
      refuse(text_, fmt::format("has {} variables, not {}", names_.size(), variables_.size()));
    terms_.merge(left, right);
  }

 private:
  bool eat(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return true;
  }
  Term side(int least) {
    Term left = operand();
    for (const Infix* infix = std::begin(infixes); infix != std::end(infixes);) {
      bool here = infix->binds >= least && eat(infix->text);
      if (here) left = apply(infix->op, {left, side(infix->binds + 1)});
      infix = here ? std::begin(infixes) : infix + 1;
    }
    return left;
  }
  Term operand() {
    for (std::string_view number : {"-1", "-0", "0", "1", "T.min", "T.max"})
      if (eat(number)) return terms_.constant(literal(number, terms_[variable(0)].type));
    for (bool truth : {false, true})
      if (eat(truth ? "true" : "false")) return terms_.constant(Scalar::boolean(truth));
    if (eat("not ")) return apply(CellOp::logical_not, {operand()});
    if (eat("-")) return apply(CellOp::neg, {operand()});
    if (eat("(")) {
      Term inner = side(1);
      eat(")");
      return inner;
    }
    std::string_view name = rest_.substr(0, rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    rest_.remove_prefix(name.size());
    if (!eat("(")) {
      eat(" ");
      if (names_.find(name[0]) == std::string::npos) names_ += name[0];
      return variable(names_.find(name[0]));
    }
    std::vector<Term> args;
    do args.push_back(side(1));
    while (eat(", "));
    eat(")");
    std::size_t op = 0;
    while (ir::info(CellOp(op)).name != name && ir::info(CellOp(op)).spelling != name) ++op;
    return apply(CellOp(op), std::move(args));
  }

  Term variable(std::size_t number) const {
    if (number >= variables_.size()) refuse(text_, "has more variables");
    return variables_[number];
  }
  Term apply(CellOp op, std::vector<Term> args) {
    ElementType of = terms_[args.back()].type;
    bool logical = ir::info(op).arguments == ir::CellArguments::bools;
    for (std::size_t k = 0; k < args.size(); ++k)
      if (terms_[args[k]].type != (logical || (op == CellOp::select && k == 0) ? ElementType::boolean : of))
        refuse(text_, "is used with terms of different types");
    std::string_view types = std::string_view(text_).substr(std::min(text_.find('['), text_.size()));
    bool fits = types.find(is_bool(of) ? "bool" : is_float(of) ? "floats" : "integers") != types.npos;
    if (!logical && !types.empty() && !fits) refuse(text_, fmt::format("does not hold of {}", tap::name_of(of)));
    bool truth = ir::info(op).result == ir::CellResult::boolean;
    return terms_.apply(op, truth ? ElementType::boolean : of, std::move(args));
  }
  Scalar literal(std::string_view number, ElementType type) const {
    if (number == "T.min") return Scalar::least(type);
    if (number == "T.max") return Scalar::greatest(type);
    double value = number.ends_with('0') ? 0 : 1;
    if (is_float(type)) return Scalar::floating(type, number[0] == '-' ? -value : value);
    bool negative_unsigned = number[0] == '-' && !info(type).is_signed;
    if (is_bool(type) || negative_unsigned) refuse(text_, fmt::format("has no {} of {}", number, tap::name_of(type)));
    return Scalar::integer(type, static_cast<std::int64_t>(number[0] == '-' ? -value : value));
  }

  Terms& terms_;
  const std::string& text_;
  const std::vector<Term>& variables_;
  std::string_view rest_;
  std::string names_ = {};  // of the variables, in the order of their first occurrence
};

// Whether every value of `from` is one of `to`, and comes back as it was.
bool has_all_values_of(ElementType to, ElementType from) {
  if (is_bool(from) || is_bool(to)) return is_bool(from);
  if (is_float(from))
    return is_float(to) && (to == from || to == ElementType::f64 || (to == ElementType::f32 && size_of(from) == 2));
  if (is_float(to)) return static_cast<int>(8 * size_of(from)) - info(from).is_signed <= info(to).mantissa_bits;
  return least_integer(to) <= least_integer(from) && greatest_integer(from) <= greatest_integer(to);
}

// What holds at every point of an index space.
class Everywhere {
 public:
  Everywhere(const Terms& terms, const Space& domain) : terms_(terms), domain_(domain) {}

  bool decided(Term t, bool wanted) const {
    const Terms::Node& node = terms_[t];
    if (auto constant = terms_.as_constant(t)) return (constant->i != 0) == wanted;
    if (node.kind != Terms::Kind::apply) return false;
    if (node.op == CellOp::logical_not) return decided(node.args[0], !wanted);
    if (node.op != CellOp::logical_and && node.op != CellOp::logical_or) return compared(node, wanted);
    bool a = decided(node.args[0], wanted), b = decided(node.args[1], wanted);
    return (node.op == CellOp::logical_and) == wanted ? a && b : a || b;
  }

  // e / n and e % n within one multiple of n:  e / n = k,  e % n = e - k·n
  bool is_quotient_or_rest(Term t, Term value) const {
    const Terms::Node& node = terms_[t];
    auto e = linear(node.args[0]), v = linear(value);
    auto n = terms_.as_constant(node.args[1]);
    if (!e || !v || !n || n->i <= 0 || no_points(domain_.box)) return false;
    std::int64_t k = checked::floor_div(least(*e, domain_.box), n->i);
    if (checked::floor_div(greatest(*e, domain_.box), n->i) != k) return false;
    AffineExpr whole = number(terms_.dims(), k);
    return *v == (node.op == CellOp::div ? whole : minus(*e, times(whole, n->i)));
  }

 private:
  bool compared(const Terms::Node& node, bool wanted) const {
    auto a = node.args.size() == 2 ? linear(node.args[0]) : std::nullopt;
    auto b = a ? linear(node.args[1]) : std::nullopt;
    if (!b) return false;
    AffineExpr up = minus(*b, *a), down = minus(*a, *b), one = number(terms_.dims(), 1);
    auto above = [&](const AffineExpr& e) { return never_negative(minus(e, one), domain_); };
    auto same = [&] { return never_negative(up, domain_) && never_negative(down, domain_); };
    switch (node.op) {
      case CellOp::less: return wanted ? above(up) : never_negative(down, domain_);
      case CellOp::less_equal: return wanted ? never_negative(up, domain_) : above(down);
      case CellOp::equal: return wanted ? same() : above(up) || above(down);
      case CellOp::not_equal: return wanted ? above(up) || above(down) : same();
      default: return false;
    }
  }
  // Cells wrap: a linear form is the cell's value only where it fits everywhere.
  std::optional<AffineExpr> linear(Term t) const {
    const auto* form = terms_.linear_form(t);
    if (!form) return std::nullopt;
    AffineExpr e{{form->begin(), form->end() - 1}, form->back()};
    if (!no_points(domain_.box)) least(e, domain_.box), greatest(e, domain_.box);  // or Overflow
    return e;
  }

  const Terms& terms_;
  const Space& domain_;
};

void exact_casts(Terms& terms, const std::string& axiom, Term a) {
  ElementType type = terms[a].type;
  if (!terms.is_rounded(a)) refuse(axiom, "is used of a value that is still to be rounded");
  // Written out, since what is found to be equal to `a` may be cast, too.
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
    Everywhere everywhere(terms, domain);
    auto truth = terms.as_constant(b);
    if (is_bool(node.type)) holds = holds || (truth && everywhere.decided(a, truth->i != 0));
    else if (node.op == CellOp::div || node.op == CellOp::mod)
      holds = holds || (node.type == ElementType::i64 && everywhere.is_quotient_or_rest(a, b));
  }
  if (!holds) refuse(axiom, "does not hold of the terms that it is used with");
  terms.merge(a, b);
}

}  // namespace

void use_axiom(Terms& terms, const std::string& axiom, const std::vector<Term>& variables, const Space& domain) {
  if (std::find(std::begin(lines), std::end(lines), axiom) != std::end(lines))
    return Line(terms, axiom, variables).declare();
  bool cast = axiom == "T(a) = a [exact]" || axiom == "T(U(a)) = a [exact]";
  bool computed = axiom == "a = b [arithmetic]" || axiom == "a = b [affine]" || axiom == "a = b [domain]";
  if (!cast && !computed) refuse(axiom, "is no axiom");
  if (variables.size() != (cast ? 1 : 2)) refuse(axiom, fmt::format("has not {} variables", variables.size()));
  if (cast) exact_casts(terms, axiom, variables[0]);
  else by_computation(terms, axiom, variables[0], variables[1], domain);
}

std::span<const std::string_view> axiom_lines() { return lines; }

}  // namespace tap::check
